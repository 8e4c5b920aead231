"""What the binder judges: a claim, the evidence it names, and where that evidence comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from reflect.model import EvidenceMode, Origin
from reflect.scope.numbers import is_probability
from reflect.scope.stored import ResolvedMemoryScope
from reflect.scope.vocabulary import Scope, reflection_kind


@dataclass(frozen=True, slots=True)
class Recorded:
    """The directories a session ran in, as its machine recorded them.

    `start` is where it was started and stands for `repository`, the top of the repository here that its checkpoint was
    read from. No `start` and no `directories`: the session recorded none.
    """

    repository: str
    start: str | None = None
    directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceScope:
    """One piece of evidence as far as scope is concerned.

    `recorded` is None for what has no working directory by nature: commits and facts.
    """

    id: str
    scope: ResolvedMemoryScope
    recorded: Recorded | None = None

    @property
    def project_id(self) -> str | None:
        """The project that the evidence is local to; None for global and unsettled evidence."""
        return self.scope.project_id if self.scope.is_settled else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a separate scope reasoner said. It can confirm the computed scope or stop it, never choose one."""

    scope: str
    project_id: str | None = None
    confidence: float | None = None
    reason: str = ""

    @property
    def is_wellformed(self) -> bool:
        if self.scope not in (Scope.GLOBAL, Scope.PROJECT):
            return False
        named = isinstance(self.project_id, str) and bool(self.project_id)
        return (named or self.scope == Scope.GLOBAL) and _is_optional_probability(self.confidence)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A lesson that asks to be written. Holds no scope: scope is what the binder computes.

    Episodes (sessions, commits) and facts (accepted pages) are named by id. `model_scope_hint` is kept for the record
    and never read. Values are checked when bound, so that a malformed proposal can be refused with a reason.
    """

    id: str
    claim: str
    reflection_kind: str
    episodes: tuple[str, ...]
    facts: tuple[str, ...]
    active_workspace: str | PurePath | None
    synthesized_at: datetime
    domain: str
    trigger: str = ""
    origin: Origin = Origin.UNTRUSTED
    evidence: EvidenceMode = EvidenceMode.FULL
    session_tainted: bool = False
    always_on: bool = False
    reasoner_confidence: float | None = None
    verdict: Verdict | None = None
    model_scope_hint: str | None = None

    @property
    def cited(self) -> tuple[str, ...]:
        """Every id once, sorted; blank ones name nothing."""
        return tuple(sorted({name.strip() for name in (*self.episodes, *self.facts) if name.strip()}))

    @property
    def is_wellformed(self) -> bool:
        texts = (self.id, self.claim, self.domain, self.trigger)
        return (
            all(isinstance(text, str) for text in texts)
            and bool(self.claim.strip())
            and reflection_kind(self.reflection_kind) is not None
            and _are_texts(self.episodes)
            and _are_texts(self.facts)
            and isinstance(self.active_workspace, str | PurePath | None)
            and isinstance(self.synthesized_at, datetime)
            and isinstance(self.origin, Origin)
            and isinstance(self.evidence, EvidenceMode)
            and isinstance(self.always_on, bool)
            and _is_optional_probability(self.reasoner_confidence)
            and (self.verdict is None or (isinstance(self.verdict, Verdict) and self.verdict.is_wellformed))
        )


def _are_texts(ids: object) -> bool:
    return isinstance(ids, tuple | list) and all(isinstance(name, str) for name in ids)


def _is_optional_probability(value: object) -> bool:
    return value is None or is_probability(value)
