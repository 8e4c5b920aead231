"""The extractive engine: the embedded default, deterministic, and honest about what it cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflect.configuration import Format
from reflect.model import (
    Action,
    Commit,
    EvidenceMode,
    Finding,
    PageContent,
    PageSummary,
    Plan,
    Session,
    digest,
)
from reflect.triage.extractive.hearing import Listener
from reflect.triage.extractive.history import reflect_on_history
from reflect.triage.extractive.planning import make_plan
from reflect.triage.extractive.sessions import reflect_on_session
from reflect.triage.extractive.weights import load_weights, weights_text
from reflect.triage.extractive.writing import Writer

_RULES = "4"
"""Raised with every change of the code that changes what is found; the weights count into the version by themselves."""


class ExtractiveEngine:
    """Quotes what was said, never paraphrases. `weights` are a repository's own numbers over the product's."""

    name = "extractive"

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self._weights = load_weights(weights)
        self._listener = Listener(self._weights)
        self._writer = Writer(self._weights)
        self.version = f"{_RULES}-{digest(weights_text(), *sorted((weights or {}).items()))[:8]}"

    def reflect(self, session: Session, mode: EvidenceMode) -> tuple[Finding, ...]:
        return reflect_on_session(self._listener, session, mode)

    def commit_groups(self, commits: Sequence[Commit]) -> tuple[Sequence[Commit], ...]:
        """All in one group: what a commit reverts is looked for among the others."""
        return (commits,) if commits else ()

    def reflect_on_commits(self, commits: Sequence[Commit]) -> tuple[Finding, ...]:
        return reflect_on_history(self._listener, commits)

    def plan(
        self, findings: Sequence[Finding], pages: Sequence[PageSummary], format: Format, max_new_pages: int
    ) -> Plan:
        return make_plan(self._weights, findings, pages, format, max_new_pages)

    def write(self, action: Action, page: PageSummary | None) -> PageContent:
        return self._writer.write(action, page)
