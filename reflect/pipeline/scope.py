"""Scope: who may see what the plan wants to write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reflect.model import Action, Fate, Outcome, Plan
from reflect.pipeline.intake import Intake
from reflect.pipeline.judged import Judged, fate_of
from reflect.scope.context import ScopeContext
from reflect.scope.resolve import BoundAction, bind_action
from reflect.scope.review import ReviewStatus
from reflect.scope.vocabulary import Decision
from reflect.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Bound:
    """The plan after binding: what is written, what waits for an operator, and what became of the other findings."""

    writes: tuple[BoundAction, ...]
    queued: tuple[BoundAction, ...]
    fates: tuple[Fate, ...]
    notes: tuple[str, ...] = ()


def bind_plan(plan: Plan, intake: Intake, workspace: Workspace) -> Bound:
    """Bind every action. A claim that waits for an operator, or that one has refused, is not proposed again."""
    pages = {page.path: page for page in intake.wiki.pages}
    with workspace.ledger() as ledger:
        known = ledger.item_statuses(workspace.project.project_id)
        judged = Judged.of(ledger.decided_items(workspace.project.project_id))
    context = _context(intake, workspace, judged)
    bound = [bind_action(action, pages.get(action.path), context) for action in plan.actions]
    writes = tuple(one for one in bound if one.decision is Decision.WRITE)
    asked = [one for one in bound if one.decision is Decision.QUEUE]
    new = {one.item.id: one for one in asked if one.item is not None and _is_new(known, one.item.id)}
    rejected = [one for one in bound if one.decision is Decision.REJECT]
    fates = [*plan.fates]
    fates += [fate for one in asked for fate in _answered(one, known)]
    fates += _fates(rejected, "refused")
    return Bound(writes, tuple(new.values()), tuple(fates))


def _is_new(known: Mapping[str, ReviewStatus], item_id: str) -> bool:
    """Whether a question has to be put: it never was, or what it rested on had changed."""
    return known.get(item_id, ReviewStatus.EXPIRED_EVIDENCE) is ReviewStatus.EXPIRED_EVIDENCE


def _answered(one: BoundAction, known: Mapping[str, ReviewStatus]) -> list[Fate]:
    """What an operator said of it, where one did; else it waits."""
    outcome, reason = fate_of(known.get(one.item.id) if one.item is not None else None, one.reasons)
    return fates_of(one.action, reason, outcome)


def _context(intake: Intake, workspace: Workspace, judged: Judged) -> ScopeContext:
    return ScopeContext.of(
        intake.batch.sessions,
        intake.batch.commits,
        workspace.registry,
        workspace.project,
        intake.batch.known,
        repository=str(workspace.git.root),
        contents=intake.batch.contents,
        earlier=intake.episodes,
        refused=judged.claims,
    )


def _fates(bound: Iterable[BoundAction], what: str) -> list[Fate]:
    return [fate for one in bound for fate in fates_of(one.action, f"{what}: {', '.join(one.reasons)}")]


def fates_of(action: Action, reason: str, outcome: Outcome = Outcome.QUARANTINED) -> list[Fate]:
    """The same fate for every finding of `action`."""
    return [Fate(finding=finding, outcome=outcome, reason=reason) for finding in action.findings]
