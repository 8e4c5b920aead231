"""What an operator's word turns a queued question into. The one way to a global row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reflect.errors import ScopeError
from reflect.scope.metadata import ScopeKeys, build_scope_metadata
from reflect.scope.projects import Registry
from reflect.scope.review import ReviewItem
from reflect.scope.vocabulary import MemoryType, Scope, ScopeSource


class Choice(StrEnum):
    APPROVE_GLOBAL = "approve_global"
    APPROVE_PROJECT = "approve_project"
    APPROVE_PREFERENCE = "approve_preference"


@dataclass(frozen=True, slots=True)
class Approval:
    """The scope keys and the memory type that an approved lesson is written with."""

    keys: ScopeKeys
    memory_type: MemoryType


def approve(
    item: ReviewItem,
    choice: Choice,
    registry: Registry,
    *,
    project_id: str | None = None,
    widening_confirmed: bool = False,
) -> Approval:
    """What `item` is written with when an operator makes `choice`; ScopeError, the item untouched, where it cannot be.

    Settles who may see the lesson and nothing else: one whose words are not the organisation's own cannot be approved.
    `project_id` defaults to the project the evidence belongs to. Going beyond what the evidence belongs to needs a
    second yes.
    """
    if not item.is_open:
        raise _refused(item, f"it is {item.status}")
    if not item.approvable:
        raise _refused(item, f"its origin is {item.origin}: its owner has to rewrite it first")
    if choice is Choice.APPROVE_PROJECT:
        target = project_id or item.narrowest_scope
        if target is not None and not widening_confirmed and (foreign := _told_elsewhere(item, target)):
            raise _refused(
                item, f"it rests on what was said in `{foreign}`: showing it in `{target}` needs a second yes"
            )
        return settle(item, choice, target, registry)
    if choice is not widening(item):
        raise _refused(item, f"it is a {item.proposed.memory_type}, which `{choice}` is not for")
    if item.narrowest_scope is not None and not widening_confirmed:
        raise _refused(
            item, f"all its evidence is `{item.narrowest_scope}`'s: showing it to everyone needs a second yes"
        )
    return settle(item, choice, None, registry)


def widening(item: ReviewItem) -> Choice:
    """The choice that shows `item` to everyone: a candidate preference becomes a standing rule, a lesson a lesson."""
    candidate = item.proposed.memory_type is MemoryType.CANDIDATE_PREFERENCE
    return Choice.APPROVE_PREFERENCE if candidate else Choice.APPROVE_GLOBAL


def settle(item: ReviewItem, choice: Choice, project_id: str | None, registry: Registry) -> Approval:
    """What an operator's `choice` on `item` writes: the keys alone, nothing is asked again.

    Raises ScopeError for a project that is not registered or whose memory is switched off.
    """
    if choice is Choice.APPROVE_PROJECT:
        return _for_project(item, project_id, registry)
    keys = build_scope_metadata(
        scope=Scope.GLOBAL,
        project_id=None,
        workspace_root=None,
        scope_confidence=1.0,
        scope_source=ScopeSource.OPERATOR,
    )
    return Approval(keys, MemoryType.FACT if choice is Choice.APPROVE_PREFERENCE else MemoryType.REFLECTION)


def _told_elsewhere(item: ReviewItem, project_id: str) -> str | None:
    """A project other than `project_id` in which some of the item's words were said; pages it would change are none."""
    episodes = set(item.action.evidence_ids)
    told = {one.project_id for one in item.evidence_items if one.id in episodes and one.project_id is not None}
    return next(iter(sorted(told - {project_id})), None)


def _for_project(item: ReviewItem, project_id: str | None, registry: Registry) -> Approval:
    project = registry.project(project_id) if project_id is not None else None
    if project is None:
        raise _refused(item, f"no project {project_id!r} is registered")
    if not project.memory_enabled:
        raise _refused(item, f"memory is switched off for `{project.project_id}`")
    keys = build_scope_metadata(
        scope=Scope.PROJECT,
        project_id=project.project_id,
        workspace_root=project.workspace_roots[0],
        scope_confidence=1.0,
        scope_source=ScopeSource.OPERATOR,
    )
    return Approval(keys, MemoryType.REFLECTION)


def _refused(item: ReviewItem, why: str) -> ScopeError:
    return ScopeError(f"Review item {item.id} cannot be approved: {why}; it stays as it is.")
