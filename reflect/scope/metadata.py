"""The one builder of scope keys. Nothing else may make them; a test reads the source and fails on a second one."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from reflect.errors import ScopeError
from reflect.scope.numbers import is_probability
from reflect.scope.vocabulary import WRITTEN_SOURCES, Scope, ScopeSource


@dataclass(frozen=True, slots=True)
class ScopeKeys:
    """The five flat keys that say who may see a row. Made by `build_scope_metadata` alone."""

    scope: Scope
    project_id: str | None
    workspace_root: str | None
    scope_confidence: float
    scope_source: ScopeSource

    def flat(self) -> dict[str, Any]:
        return asdict(self)


SCOPE_FIELDS = tuple(field.name for field in fields(ScopeKeys))
"""The names of the keys: on a page, in a record, in a file."""


def build_scope_metadata(
    *,
    scope: str,
    project_id: str | None,
    workspace_root: str | None,
    scope_confidence: float,
    scope_source: str,
) -> ScopeKeys:
    """Scope keys fit to be stored; ScopeError names the field that is not.

    A value out of range is refused, never clamped. A project's row needs its project and a workspace root; a global one
    drops both and needs an operator. Certainty (1.0) is an operator's alone.
    """
    if scope not in (Scope.GLOBAL, Scope.PROJECT):
        raise _refused("scope", scope, "only `global` and `project` are written")
    if scope_source not in WRITTEN_SOURCES:
        raise _refused("scope_source", scope_source, "only an operator, a classifier or the extraction may choose it")
    if not is_probability(scope_confidence):
        raise _refused("scope_confidence", scope_confidence, "it must be a number from 0 to 1")
    source = ScopeSource(scope_source)
    if scope_confidence >= 1 and source is not ScopeSource.OPERATOR:
        raise _refused("scope_confidence", scope_confidence, f"{source} is never certain")
    if scope == Scope.GLOBAL:
        if source is not ScopeSource.OPERATOR:
            raise _refused("scope", scope, "only an operator makes a row global")
        return ScopeKeys(Scope.GLOBAL, None, None, float(scope_confidence), source)
    for name, value in (("project_id", project_id), ("workspace_root", workspace_root)):
        if not isinstance(value, str) or not value.strip():
            raise _refused(name, value, "a project's row needs it")
    return ScopeKeys(Scope.PROJECT, project_id, workspace_root, float(scope_confidence), source)


def _refused(field: str, value: object, why: str) -> ScopeError:
    return ScopeError(f"`{field}` is {value!r}: {why}; no scope keys were made.")
