"""The binder: from a proposal and its evidence to one decision. Pure, and in one order.

Rule 1: evidence of one project, worked on in that project, binds to that project. Rule 2: anything wider, or anything
that cannot be told, is an operator's to decide. There is no path here that writes a global row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from reflect.errors import ScopeError
from reflect.model import ReflectionKind, Value
from reflect.scope.metadata import ScopeKeys, build_scope_metadata
from reflect.scope.places import located
from reflect.scope.projects import Detected, Registry
from reflect.scope.proposal import EvidenceScope, Proposal
from reflect.scope.vocabulary import Decision, MemoryType, Reason, Rule, Scope, ScopeSource, reflection_kind
from reflect.scope.workspaces import Placement, place

MACHINE_CONFIDENCE = 0.9
"""The most a machine is ever sure of a scope."""

UNSURE_CONFIDENCE = 0.6
"""For a scope that was defaulted, inferred or only proposed: below the 0.8 at which a repair tool would act."""

_ASKS_FOR_GLOBAL = frozenset(
    {
        Reason.CROSS_PROJECT_EVIDENCE,
        Reason.GLOBAL_ONLY_EVIDENCE,
        Reason.NON_PROJECT_EPISODE,
        Reason.NO_ACTIVE_WORKSPACE,
        Reason.WORKSPACE_UNRESOLVABLE,
    }
)
_UNRESOLVED = frozenset({Reason.EVIDENCE_MISSING, Reason.EVIDENCE_SCOPE_UNRESOLVED})


class ProposedScope(Value):
    """What a binding gives or, in the queue, what it would give if an operator agreed. No scope: none was chosen."""

    scope: Scope | None
    project_id: str | None
    workspace_root: str | None
    memory_type: MemoryType
    scope_source: ScopeSource
    scope_confidence: float
    reflection_kind: ReflectionKind | None


@dataclass(frozen=True, slots=True)
class Binding:
    """What became of a proposal.

    `reasons` lists why it was not written, the deciding one first; empty for a write. `keys` are there for a write
    alone. `narrowest_scope` is the one project that all settled evidence belongs to, None where there is none.
    """

    decision: Decision
    reasons: tuple[Reason, ...]
    rule: Rule | None
    keys: ScopeKeys | None
    proposed: ProposedScope
    narrowest_scope: str | None = None
    workspace_inferred: bool = False
    always_on: bool = False

    @property
    def reason(self) -> Reason | None:
        return self.reasons[0] if self.reasons else None

    @property
    def widens(self) -> bool:
        """Whether the proposed scope is broader than the evidence."""
        return self.proposed.scope is Scope.GLOBAL and self.narrowest_scope is not None


def bind(
    proposal: Proposal, evidence: Mapping[str, EvidenceScope], registry: Registry, *, strict_workspace: bool = False
) -> Binding:
    """Decide who may see `proposal`.

    `evidence` holds what the proposal's ids resolve to; an id it does not hold is missing. With `strict_workspace` a
    session whose directory is known only by inference goes to the queue instead of being written with low confidence.
    """
    if not proposal.is_wellformed:
        return _rejected(Reason.MALFORMED_PROPOSAL)
    if not proposal.cited:
        return _rejected(Reason.EMPTY_EVIDENCE, reflection_kind(proposal.reflection_kind))
    case = _Case(proposal, evidence, registry, strict_workspace)
    reasons = tuple(reason for check in _CHECKS if (reason := check(case)) is not None)
    return _queued(case, reasons) if reasons else _written(case)


@dataclass(frozen=True)
class _Case:
    proposal: Proposal
    evidence: Mapping[str, EvidenceScope]
    registry: Registry
    strict_workspace: bool

    @cached_property
    def items(self) -> tuple[EvidenceScope, ...]:
        return tuple(self.evidence[name] for name in self.proposal.cited if name in self.evidence)

    @cached_property
    def projects(self) -> frozenset[str]:
        return frozenset(item.project_id for item in self.items if item.project_id is not None)

    @property
    def project_id(self) -> str | None:
        """The one project of the evidence; None where there are several or none."""
        return next(iter(self.projects)) if len(self.projects) == 1 else None

    @property
    def is_resolved(self) -> bool:
        return len(self.items) == len(self.proposal.cited) and all(item.scope.is_settled for item in self.items)

    @cached_property
    def active(self) -> Detected | None:
        return self.registry.detect(self.proposal.active_workspace)

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        sessions = dict.fromkeys(item.recorded for item in self.items if item.recorded is not None)
        return tuple(place(session, self.registry) for session in sessions)

    @property
    def workspace_inferred(self) -> bool:
        return any(placement.inferred for placement in self.placements)


def _missing(case: _Case) -> Reason | None:
    return Reason.EVIDENCE_MISSING if len(case.items) < len(case.proposal.cited) else None


def _unresolved(case: _Case) -> Reason | None:
    settled = all(item.scope.is_settled for item in case.items)
    return None if settled else Reason.EVIDENCE_SCOPE_UNRESOLVED


def _cross_project(case: _Case) -> Reason | None:
    return Reason.CROSS_PROJECT_EVIDENCE if len(case.projects) > 1 else None


def _global_only(case: _Case) -> Reason | None:
    return Reason.GLOBAL_ONLY_EVIDENCE if not case.projects and case.is_resolved else None


def _global_episode(case: _Case) -> Reason | None:
    """Global facts inform a project's lesson; an episode that belongs to no project makes it wider."""
    if case.project_id is None:
        return None
    episodes = {name.strip() for name in case.proposal.episodes}
    wide = any(item.id in episodes and item.scope.is_settled and item.project_id is None for item in case.items)
    return Reason.NON_PROJECT_EPISODE if wide else None


def _project_unusable(case: _Case) -> Reason | None:
    if case.project_id is None:
        return None
    project = case.registry.project(case.project_id)
    if project is None:
        return Reason.PROJECT_UNREGISTERED
    return None if project.memory_enabled else Reason.PROJECT_MEMORY_DISABLED


def _no_workspace(case: _Case) -> Reason | None:
    workspace = case.proposal.active_workspace
    if workspace is None:
        return Reason.NO_ACTIVE_WORKSPACE
    return Reason.WORKSPACE_UNRESOLVABLE if located(workspace) is None else None


def _outside(case: _Case) -> Reason | None:
    """The run's directory and every directory of every cited session must lie in the evidence's one project."""
    if case.project_id is None:
        return None
    here = _no_workspace(case) is not None or (
        case.active is not None and case.active.project.project_id == case.project_id
    )
    there = all(placement.projects == {case.project_id} for placement in case.placements)
    return None if here and there else Reason.WORKSPACE_OUTSIDE_PROJECT


def _verdict_conflict(case: _Case) -> Reason | None:
    verdict = case.proposal.verdict
    if verdict is None:
        return None
    if case.project_id is not None:
        agrees = verdict.scope == Scope.PROJECT and verdict.project_id == case.project_id
    else:
        agrees = verdict.scope == Scope.GLOBAL
    return None if agrees else Reason.SCOPE_VERDICT_CONFLICT


def _too_little_known(case: _Case) -> Reason | None:
    return Reason.WORKSPACE_INFERRED if case.strict_workspace and case.workspace_inferred else None


_CHECKS: tuple[Callable[[_Case], Reason | None], ...] = (
    _missing,
    _unresolved,
    _cross_project,
    _global_only,
    _global_episode,
    _project_unusable,
    _no_workspace,
    _outside,
    _verdict_conflict,
    _too_little_known,
)
"""In the order of the binding rules: the first that objects gives the deciding reason."""


def _written(case: _Case) -> Binding:
    if case.active is None:
        raise ScopeError(f"`{case.proposal.id}` passed every check without a workspace; nothing was bound.")
    keys = build_scope_metadata(
        scope=Scope.PROJECT,
        project_id=case.project_id,
        workspace_root=str(case.active.root),
        scope_confidence=_confidence(case, UNSURE_CONFIDENCE if case.workspace_inferred else MACHINE_CONFIDENCE),
        scope_source=_source(case),
    )
    proposed = ProposedScope(
        **keys.flat(), memory_type=MemoryType.REFLECTION, reflection_kind=reflection_kind(case.proposal.reflection_kind)
    )
    return Binding(
        decision=Decision.WRITE,
        reasons=(),
        rule=Rule.PROJECT_LOCAL,
        keys=keys,
        proposed=proposed,
        narrowest_scope=case.project_id,
        workspace_inferred=case.workspace_inferred,
        always_on=case.proposal.always_on,
    )


def _queued(case: _Case, reasons: tuple[Reason, ...]) -> Binding:
    wider = reasons[0] in _ASKS_FOR_GLOBAL
    unresolved = reasons[0] in _UNRESOLVED
    candidate = case.proposal.always_on and (wider or unresolved)
    proposed = ProposedScope(
        scope=Scope.GLOBAL if wider and Reason.SCOPE_VERDICT_CONFLICT not in reasons else None,
        project_id=None,
        workspace_root=None,
        memory_type=MemoryType.CANDIDATE_PREFERENCE if candidate else MemoryType.REFLECTION,
        scope_source=_source(case),
        scope_confidence=0.0 if unresolved else _confidence(case, UNSURE_CONFIDENCE),
        reflection_kind=reflection_kind(case.proposal.reflection_kind),
    )
    return Binding(
        decision=Decision.QUEUE,
        reasons=reasons,
        rule=Rule.CROSS_PROJECT if wider else None,
        keys=None,
        proposed=proposed,
        narrowest_scope=case.project_id,
        workspace_inferred=case.workspace_inferred,
        always_on=case.proposal.always_on,
    )


def _rejected(reason: Reason, kind: ReflectionKind | None = None) -> Binding:
    proposed = ProposedScope(
        scope=None,
        project_id=None,
        workspace_root=None,
        memory_type=MemoryType.REFLECTION,
        scope_source=ScopeSource.EXTRACTION_DEFAULT,
        scope_confidence=0.0,
        reflection_kind=kind,
    )
    return Binding(decision=Decision.REJECT, reasons=(reason,), rule=None, keys=None, proposed=proposed)


def _source(case: _Case) -> ScopeSource:
    return ScopeSource.EXTRACTION_DEFAULT if case.proposal.verdict is None else ScopeSource.CLASSIFIER


def _confidence(case: _Case, cap: float) -> float:
    """What the reasoners said of themselves, the lower where there are two, never above `cap`."""
    verdict = case.proposal.verdict
    both = (case.proposal.reasoner_confidence, verdict.confidence if verdict is not None else None)
    said = [float(number) for number in both if number is not None]
    return min(cap, *(said or [UNSURE_CONFIDENCE]))
