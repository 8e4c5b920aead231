"""Every project's rows in one index: what a search without scope would have to choose from.

Only an evaluation makes one, in memory. It shows that a row would have been found were it not for the scope, and that
the scope alone keeps it out; what people are shown is asked of the real search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reflect.scope.projects import Project
from reflect.scope.visibility import Candidate, exclusion
from reflect.search.answer import ORGANISATION_WIKI, Hit
from reflect.search.index import Index
from reflect.search.refresh import opened, refresh_index
from reflect.search.words import terms_of
from reflect.workspace import Workspace

NOBODY = ""
"""Asks without scope."""


@dataclass
class Pool:
    """The rows of `workspaces`, by project id."""

    workspaces: Mapping[str, Workspace]
    index: Index = field(default_factory=Index.in_memory)
    _excluded: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, workspaces: Mapping[str, Workspace]) -> Pool:
        """Refresh every project's index and take its rows."""
        pool = cls(workspaces)
        for project, workspace in sorted(workspaces.items()):
            with opened(workspace) as index:
                refresh_index(index, workspace)
                for row in index.rows():
                    place = row["place"] if row["place"] == ORGANISATION_WIKI else f"{project}/{row['place']}"
                    pool.index.put(**{**row, "place": place})
        return pool

    def resolve(self, identity: str) -> tuple[str, str] | None:
        """Project and id of the one row that `identity` names; None where there is none, or more than one."""
        owner, _, name = identity.rpartition(":")
        rows = {
            (row["project"], row["name"])
            for row in self.index.rows()
            if (not owner or row["project"] == owner)
            and (row["name"] == name or (len(name) >= 7 and row["kind"] == "commit" and row["name"].startswith(name)))
        }
        return next(iter(rows)) if len(rows) == 1 else None

    def unscoped(self, question: str, limit: int) -> tuple[Hit, ...]:
        """What would be found if everybody could see everything."""
        return self.index.search(terms_of(question), NOBODY, wiki_only=False, limit=limit)

    def scoped(self, question: str, asking: Project, limit: int) -> tuple[Hit, ...]:
        """What `asking` finds among the rows of all projects."""
        self._decide(asking)
        return self.index.search(terms_of(question), asking.project_id, wiki_only=False, limit=limit)

    def reason(self, row: tuple[str, str], asking: Project) -> str:
        """Why `asking` may not see `row`; empty where it may."""
        self._decide(asking)
        return self._excluded[asking.project_id].get("\0".join(row), "")

    def _decide(self, asking: Project) -> None:
        if asking.project_id in self._excluded:
            return
        by_number: dict[int, str] = {}
        by_row: dict[str, str] = {}
        for row, (number, keys) in zip(self.index.rows(), self.index.candidates(), strict=True):
            if (why := exclusion(Candidate(**keys), asking)) is not None:
                by_number[number] = why.value
                by_row["\0".join((row["project"], row["name"]))] = why.value
        self.index.exclude(asking.project_id, by_number)
        self._excluded[asking.project_id] = by_row
