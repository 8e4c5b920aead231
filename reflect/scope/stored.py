"""Reading the scope keys of a stored row or page. Reading never repairs: what is missing or wrong is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reflect.scope.numbers import is_probability
from reflect.scope.vocabulary import WRITTEN_SOURCES, Scope, ScopeSource


@dataclass(frozen=True, slots=True)
class ResolvedMemoryScope:
    """The scope a stored row has.

    `legacy_defaulted` says that the row had no scope, `invalid_defaulted` that it had one that cannot be trusted; such
    a row is nobody's evidence until it is repaired, whatever `scope` says.
    """

    scope: Scope
    project_id: str | None
    workspace_root: str | None
    scope_confidence: float
    scope_source: ScopeSource
    legacy_defaulted: bool = False
    invalid_defaulted: bool = False

    @classmethod
    def of_project(cls, project_id: str, confidence: float = 1.0) -> ResolvedMemoryScope:
        """The scope of what was read from `project_id`'s own repository."""
        return cls(Scope.PROJECT, project_id, None, confidence, ScopeSource.EXTRACTION_DEFAULT)

    def as_invalid(self) -> ResolvedMemoryScope:
        return replace(self, scope_source=ScopeSource.INVALID_DEFAULT, invalid_defaulted=not self.legacy_defaulted)

    @property
    def is_settled(self) -> bool:
        """Whether a lesson may rest on the row: global, or one known project's."""
        if self.legacy_defaulted or self.invalid_defaulted:
            return False
        return self.scope is Scope.GLOBAL or (self.scope is Scope.PROJECT and self.project_id is not None)


def resolve_stored_scope(keys: Mapping[str, Any] | None) -> ResolvedMemoryScope:
    """The scope that `keys` (a row's flat metadata, a page's frontmatter) state. `keys` is not changed."""
    if keys is None or keys.get("scope") is None:
        return ResolvedMemoryScope(Scope.GLOBAL, None, None, 1.0, ScopeSource.LEGACY_DEFAULT, legacy_defaulted=True)
    scope, source, confidence = keys["scope"], keys.get("scope_source"), keys.get("scope_confidence", 1.0)
    if not isinstance(scope, str) or scope not in set(Scope):
        return ResolvedMemoryScope(Scope.GLOBAL, None, None, 0.0, ScopeSource.INVALID_DEFAULT, invalid_defaulted=True)
    is_global = scope == Scope.GLOBAL
    trusted = isinstance(source, str) and source in WRITTEN_SOURCES and is_probability(confidence)
    return ResolvedMemoryScope(
        scope=Scope(scope),
        project_id=None if is_global else _text(keys.get("project_id")),
        workspace_root=None if is_global else _text(keys.get("workspace_root")),
        scope_confidence=float(confidence) if is_probability(confidence) else 0.0,
        scope_source=ScopeSource(str(source)) if trusted else ScopeSource.INVALID_DEFAULT,
        invalid_defaulted=not trusted,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
