"""Who may see a row: decided before anything is ranked, by one function that every way of finding things calls.

Scope is an authorization and no hint: a row that is excluded here is no candidate, however well it matches. The order
of the reasons and their names are those of the scope-binding policy; the first that holds is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from reflect.errors import ScopeError
from reflect.model import Origin, PageSummary
from reflect.scope.projects import Project
from reflect.scope.stored import ResolvedMemoryScope, resolve_stored_scope
from reflect.scope.vocabulary import MemoryType, Scope


class Exclusion(StrEnum):
    """Why a row is not shown. The first three are of this product, the others of the scope itself."""

    CANDIDATE_PREFERENCE_UNAPPROVED = "candidate_preference_unapproved"
    PENDING_REVIEW = "pending_review"
    ORIGIN_NOT_LEARNABLE = "origin_not_learnable"
    LEGACY_SCOPE_QUARANTINED = "legacy_scope_quarantined"
    INVALID_SCOPE_QUARANTINED = "invalid_scope_quarantined"
    PROJECT_SCOPE_NOT_ALLOWED = "project_scope_not_allowed"
    PROJECT_SCOPE_MISSING_PROJECT_ID = "project_scope_missing_project_id"
    PROJECT_ID_MISMATCH = "project_id_mismatch"
    TASK_SCOPE_NOT_SUPPORTED = "task_scope_not_supported"
    UNKNOWN_SCOPE = "unknown_scope"


@dataclass(frozen=True, slots=True)
class Candidate:
    """What decides whether a row may be shown; flat, so that an index can keep it beside the row.

    `legacy` says that the row had no scope, `invalid` that it had one that cannot be trusted. `pending` says that an
    operator has not decided on it. `learnable` is looked at only where rows become rules.
    """

    memory_type: str
    scope: str
    project_id: str | None
    legacy: bool = False
    invalid: bool = False
    learnable: bool = False
    pending: bool = False

    @classmethod
    def of(
        cls, resolved: ResolvedMemoryScope, memory_type: str, *, learnable: bool = False, pending: bool = False
    ) -> Candidate:
        """A row whose scope has been resolved."""
        return cls(
            memory_type=memory_type,
            scope=resolved.scope.value,
            project_id=resolved.project_id,
            legacy=resolved.legacy_defaulted,
            invalid=resolved.invalid_defaulted,
            learnable=learnable,
            pending=pending,
        )

    @classmethod
    def of_page(cls, page: PageSummary, resolved: ResolvedMemoryScope) -> Candidate:
        """A page whose scope has been resolved."""
        memory_type = str(page.scope_keys.get("memory_type", MemoryType.FACT))
        return cls.of(resolved, memory_type, learnable=teaches(page.scope_keys))

    @classmethod
    def of_keys(cls, keys: Mapping[str, Any], *, pending: bool = False) -> Candidate:
        """A row by its flat scope keys: a page's frontmatter, a row's metadata."""
        return cls.of(
            resolve_stored_scope(keys),
            str(keys.get("memory_type", MemoryType.FACT)),
            learnable=teaches(keys),
            pending=pending,
        )

    def flat(self) -> dict[str, Any]:
        return asdict(self)


def teaches(keys: Mapping[str, Any]) -> bool:
    """Whether a page's keys say that its words may be followed: of the two that tell, the more restrictive counts."""
    return keys.get("learnable") is True and keys.get("origin") == Origin.CLEAN


def exclusion(candidate: Candidate, asking: Project | None, *, as_rule: bool = False) -> Exclusion | None:
    """Why `asking` may not see `candidate`; None where it may. `as_rule`: the row would ride in a prompt as guidance.

    Raises ScopeError where no project asks: a search without a project is a mistake, never an empty answer.
    """
    if asking is None:
        raise ScopeError("Nothing can be looked up without a project that asks; nothing was read. Name a repository.")
    if candidate.memory_type == MemoryType.CANDIDATE_PREFERENCE:
        return Exclusion.CANDIDATE_PREFERENCE_UNAPPROVED
    if candidate.pending:
        return Exclusion.PENDING_REVIEW
    if as_rule and not candidate.learnable:
        return Exclusion.ORIGIN_NOT_LEARNABLE
    if candidate.legacy:
        return Exclusion.LEGACY_SCOPE_QUARANTINED
    if candidate.invalid:
        return Exclusion.INVALID_SCOPE_QUARANTINED
    return _of_scope(candidate, asking)


def _of_scope(candidate: Candidate, asking: Project) -> Exclusion | None:
    if candidate.scope == Scope.GLOBAL:
        return None
    if candidate.scope == Scope.TASK:
        return Exclusion.TASK_SCOPE_NOT_SUPPORTED
    if candidate.scope != Scope.PROJECT:
        return Exclusion.UNKNOWN_SCOPE
    if not asking.memory_enabled:
        return Exclusion.PROJECT_SCOPE_NOT_ALLOWED
    if candidate.project_id is None:
        return Exclusion.PROJECT_SCOPE_MISSING_PROJECT_ID
    return None if candidate.project_id == asking.project_id else Exclusion.PROJECT_ID_MISMATCH
