"""What every engine can do. The stages around it own layout, links, citations, scope and the order of landing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from reflect.configuration import Format
from reflect.model import Action, Commit, EvidenceMode, Finding, PageContent, PageSummary, Plan, Session


class Engine(Protocol):
    """Turns evidence into findings, findings into a plan, and one action into what stands on a page.

    `name` and `version` are part of every cache key: an engine whose answers change gets a new version.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def reflect(self, session: Session, mode: EvidenceMode) -> tuple[Finding, ...]:
        """The findings of one session, seen as `mode` allows (`views.visible_turns`)."""

    def reflect_on_commits(self, commits: Sequence[Commit]) -> tuple[Finding, ...]:
        """The findings of all commits of a run."""

    def plan(
        self, findings: Sequence[Finding], pages: Sequence[PageSummary], format: Format, max_new_pages: int
    ) -> Plan:
        """What to do with every finding: each ends in exactly one action or has a fate."""

    def write(self, action: Action, page: PageSummary | None) -> PageContent:
        """What `action` adds to `page`, or the whole of a new page where there is none."""
