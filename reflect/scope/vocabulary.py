"""The closed vocabularies of scope. Their values stand in pages, in the ledger and in reports."""

from __future__ import annotations

from enum import StrEnum

from reflect.model import ReflectionKind

ORGANISATION = "organisation"
"""The project id under which the ledger keeps what belongs to no single project. No project may be called that."""


class Scope(StrEnum):
    """Who may see a row. `TASK` is read but never written: it does not last."""

    GLOBAL = "global"
    PROJECT = "project"
    TASK = "task"


class MemoryType(StrEnum):
    """What a row is. There is no `preference`: an approved one is a fact."""

    FACT = "fact"
    EPISODE = "episode"
    REFLECTION = "reflection"
    CANDIDATE_PREFERENCE = "candidate_preference"


class ScopeSource(StrEnum):
    """How a scope was chosen. The last two are what reading makes of a row without a usable scope: never written."""

    OPERATOR = "operator"
    CLASSIFIER = "classifier"
    EXTRACTION_DEFAULT = "extraction_default"
    LEGACY_DEFAULT = "legacy_default"
    INVALID_DEFAULT = "invalid_default"


WRITTEN_SOURCES = frozenset({ScopeSource.OPERATOR, ScopeSource.CLASSIFIER, ScopeSource.EXTRACTION_DEFAULT})


class Decision(StrEnum):
    WRITE = "write"
    QUEUE = "queue"
    REJECT = "reject"


class Rule(StrEnum):
    """The two binding rules: one project's evidence binds to that project; anything wider is asked for."""

    PROJECT_LOCAL = "R1"
    CROSS_PROJECT = "R2"


class Reason(StrEnum):
    """Why a proposal was not written. Listed in the order in which the binder looks for them."""

    MALFORMED_PROPOSAL = "malformed_proposal"
    EMPTY_EVIDENCE = "empty_evidence"
    EVIDENCE_MISSING = "evidence_missing"
    EVIDENCE_SCOPE_UNRESOLVED = "evidence_scope_unresolved"
    CROSS_PROJECT_EVIDENCE = "cross_project_evidence"
    GLOBAL_ONLY_EVIDENCE = "global_only_evidence"
    NON_PROJECT_EPISODE = "non_project_episode"
    PROJECT_UNREGISTERED = "project_unregistered"
    PROJECT_MEMORY_DISABLED = "project_memory_disabled"
    NO_ACTIVE_WORKSPACE = "no_active_workspace"
    WORKSPACE_UNRESOLVABLE = "workspace_unresolvable"
    WORKSPACE_OUTSIDE_PROJECT = "workspace_outside_project"
    SCOPE_VERDICT_CONFLICT = "scope_verdict_conflict"
    WORKSPACE_INFERRED = "workspace_inferred"
    TARGET_PAGE_IS_GLOBAL = "target_page_is_global"
    REFUSED_BEFORE = "refused_before"
    UNTRUSTED_ORIGIN = "untrusted_origin"
    DERIVED_ORIGIN = "derived_origin"


_KIND_ALIASES = {
    "episodic_lesson": ReflectionKind.EPISODE_LESSON,
    "procedural_lesson": ReflectionKind.PROCEDURAL,
}
"""Two kinds have a second name; `candidate_preference` is a memory type in both vocabularies, never a kind."""


def reflection_kind(name: object) -> ReflectionKind | None:
    """The kind called `name` in either vocabulary; None where there is none."""
    if not isinstance(name, str):
        return None
    if name in _KIND_ALIASES:
        return _KIND_ALIASES[name]
    return ReflectionKind(name) if name in set(ReflectionKind) else None
