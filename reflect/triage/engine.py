"""What every engine can do. The stages around it own layout, links, citations, scope and the order of landing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from reflect.configuration import Format
from reflect.errors import EngineError
from reflect.model import Action, Commit, EvidenceMode, Finding, PageContent, PageSummary, Plan, Session


class NoChanges(EngineError):
    """The page says all of it already; nothing is wrong, and there is nothing to write."""


class Later(EngineError):
    """There is no answer in this run, and nothing is wrong: what it is about waits for a later one."""


class Unusable(EngineError):
    """What an engine answered did not stand its checks: what it is about is set aside, and nothing waits for it."""


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

    def commit_groups(self, commits: Sequence[Commit]) -> Sequence[Sequence[Commit]]:
        """`commits` in groups that are reflected on by themselves: one that fails takes no other down."""

    def reflect_on_commits(self, commits: Sequence[Commit]) -> tuple[Finding, ...]:
        """The findings of all commits of a run."""

    def plan(
        self, findings: Sequence[Finding], pages: Sequence[PageSummary], format: Format, max_new_pages: int
    ) -> Plan:
        """What to do with every finding: each ends in exactly one action or has a fate."""

    def write(self, action: Action, page: PageSummary | None) -> PageContent:
        """What `action` adds to `page`, or the whole of a new page where there is none."""
