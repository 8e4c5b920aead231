"""What the asking project may see of its wiki, its sessions and its commits.

Everything that the daily commands print goes through here: out of the index, where the one scope filter has judged
every row, and where secrets have been removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from reflect.evidence.redaction import Redactor
from reflect.model import Origin, Source
from reflect.scope.projects import Project
from reflect.scope.visibility import Candidate, exclusion
from reflect.search.answer import COMMIT, OWN_WIKI, PAGE, SESSION
from reflect.search.find import up_to_date
from reflect.search.refresh import wikis_of
from reflect.search.sources import page_key
from reflect.wiki.page import Page
from reflect.wiki.store import Wiki
from reflect.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SeenPage:
    """One page that may be seen. `path` is relative to its wiki, `place` says which one that is.

    `may_guide` says that it may be followed as a rule; `is_clean` that no stranger's and no model's words are on it.
    Title and lead are redacted.
    """

    place: str
    path: str
    category: str
    title: str
    lead: str
    status: str
    is_active: bool
    always_on: bool
    may_guide: bool
    is_clean: bool
    is_digest: bool
    updated: date | None
    sources: tuple[Source, ...]
    lines: int

    @property
    def is_own(self) -> bool:
        return self.place == OWN_WIKI


@dataclass(frozen=True, slots=True)
class Visible:
    """What the project may see: pages, and the titles of sessions and commits by evidence id.

    `withheld_pages` and `withheld_sessions` are there and may not be seen; only their number leaves this room.
    """

    pages: tuple[SeenPage, ...]
    sessions: Mapping[str, str]
    commits: Mapping[str, str]
    withheld_pages: int
    withheld_sessions: frozenset[str]

    @classmethod
    def of(cls, workspace: Workspace) -> Visible:
        """As the repository stands now. Raises SearchError where the index cannot be made."""
        asking = workspace.project.project_id
        with up_to_date(workspace) as index:
            rows = index.allowed(PAGE, asking)
            sessions, commits = index.allowed(SESSION, asking), index.allowed(COMMIT, asking)
            hidden, hidden_sessions = index.withheld(PAGE, asking), index.withheld(SESSION, asking)
        return cls(
            pages=tuple(_pages(workspace, rows)),
            sessions={name: title for (_, name), (title, _) in sessions.items()},
            commits={name: title for (_, name), (title, _) in commits.items()},
            withheld_pages=len(hidden),
            withheld_sessions=frozenset(name for _, name in hidden_sessions),
        )

    @property
    def own_paths(self) -> frozenset[str]:
        return frozenset(page.path for page in self.pages if page.is_own)


def newest(pages: Iterable[SeenPage]) -> date | None:
    """The day on which anything was said last: ages are counted from it, so that a project that rests forgets nothing
    and the same wiki reads the same on any day."""
    return max((page.updated for page in pages if page.updated is not None), default=None)


def _pages(workspace: Workspace, rows: Mapping[tuple[str, str], tuple[str, dict[str, Any]]]) -> list[SeenPage]:
    redactor = Redactor(workspace.config.redact)
    found: list[SeenPage] = []
    for place, folder in wikis_of(workspace).items():
        _, pages = Wiki(folder.parent).read_pages()
        for path, page in pages.items():
            row = rows.get((place, page_key(path, redactor)))
            if row is not None:
                found.append(_seen(workspace.project, place, page, row, redactor))
    return found


def _seen(asking: Project, place: str, page: Page, row: tuple[str, dict[str, Any]], redactor: Redactor) -> SeenPage:
    summary = page.summary()
    title, keys = row
    return SeenPage(
        place=place,
        path=page_key(page.path, redactor),
        category=summary.category,
        title=title,
        lead=redactor.redact(page.lead),
        status=page.status,
        is_active=page.is_active,
        always_on=summary.scope_keys.get("always_on") is True,
        may_guide=exclusion(Candidate(**keys), asking, as_rule=True) is None,
        is_clean=summary.scope_keys.get("origin") == Origin.CLEAN,
        is_digest=summary.digest,
        updated=page.updated,
        sources=page.sources,
        lines=page.text.count("\n"),
    )
