"""The flat scope and provenance keys in a page's frontmatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath, PurePosixPath
from typing import Any

from reflect.model import EvidenceKind, EvidenceMode, Finding, Origin, PageSummary, ReflectionKind, evidence_kind
from reflect.scope.metadata import ScopeKeys, build_scope_metadata
from reflect.scope.provenance import BEHAVIOR_DOMAIN, Provenance, combine, learnable
from reflect.scope.stored import ResolvedMemoryScope
from reflect.scope.vocabulary import MemoryType, Scope, ScopeSource, reflection_kind


@dataclass(frozen=True, slots=True)
class PageKeys:
    """What a page says of its scope and provenance, beside the specification's own keys.

    The workspace root is relative to the repository: a page is committed and must mean the same on every machine.
    """

    memory_type: MemoryType
    reflection_kind: ReflectionKind
    scope: Scope
    project_id: str | None
    workspace_root: str | None
    scope_confidence: float
    scope_source: ScopeSource
    origin: Origin
    evidence: EvidenceMode
    always_on: bool
    learnable: bool
    proposal_id: str

    def as_frontmatter(self) -> dict[str, Any]:
        """The keys that have a value, in the order of a page, as plain strings, numbers and booleans."""
        stated = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: str(value) if isinstance(value, str) else value for name, value in stated.items()}


def page_keys(
    findings: Sequence[Finding],
    added: Provenance,
    keys: ScopeKeys,
    *,
    repository: PurePath,
    proposal_id: str,
    always_on: bool,
    page: PageSummary | None,
    page_scope: ResolvedMemoryScope | None,
) -> PageKeys:
    """The keys of a page to which `findings` are added.

    What stands on the page already counts too, on every axis the more restrictive way: an untrusted page does not
    become clean by a clean addition. The one thing that is kept as it is, is what an operator settled.
    """
    provenance = added if page is None else combine((stated_provenance(page), added))
    corrected = any(evidence_kind(finding.evidence_id) is EvidenceKind.SESSION for finding in findings)
    corrected = corrected or (page is not None and page.scope_keys.get("learnable") is True)
    return PageKeys(
        memory_type=memory_type(findings, page),
        reflection_kind=kind_of(findings, page),
        **_merged(keys, repository, page_scope if page is not None else None).flat(),
        origin=provenance.origin,
        evidence=provenance.evidence,
        always_on=always_on or (page is not None and page.scope_keys.get("always_on") is True),
        learnable=corrected and learnable(BEHAVIOR_DOMAIN, provenance.origin),
        proposal_id=proposal_id,
    )


def approved_keys(
    findings: Sequence[Finding],
    added: Provenance,
    keys: ScopeKeys,
    approved_as: MemoryType,
    *,
    repository: PurePath,
    proposal_id: str,
    always_on: bool,
    rewritten: bool,
    page: PageSummary | None,
) -> PageKeys:
    """The keys of a page that an operator's word put something on: `keys` are theirs, and settled.

    What stood on the page still counts for its provenance: a word about who may see it cleans nothing. A lesson that
    its owner rewrote teaches, also where git history alone had said it.
    """
    provenance = added if page is None else combine((stated_provenance(page), added))
    corrected = rewritten or any(evidence_kind(finding.evidence_id) is EvidenceKind.SESSION for finding in findings)
    was_lesson = page is not None and page.scope_keys.get("memory_type", MemoryType.REFLECTION) != MemoryType.FACT
    root = None if keys.workspace_root is None else relative_root(keys.workspace_root, repository)
    settled = build_scope_metadata(
        scope=keys.scope,
        project_id=keys.project_id,
        workspace_root=root,
        scope_confidence=keys.scope_confidence,
        scope_source=keys.scope_source,
    )
    return PageKeys(
        memory_type=MemoryType.REFLECTION if was_lesson else approved_as,
        reflection_kind=kind_of(findings, page),
        **settled.flat(),
        origin=provenance.origin,
        evidence=provenance.evidence,
        always_on=always_on or (page is not None and page.scope_keys.get("always_on") is True),
        learnable=corrected and learnable(BEHAVIOR_DOMAIN, provenance.origin),
        proposal_id=proposal_id,
    )


def memory_type(findings: Sequence[Finding], page: PageSummary | None = None) -> MemoryType:
    """A fact where git history alone speaks, a reflection as soon as one session taught something on the page."""
    if page is not None and page.scope_keys.get("memory_type", MemoryType.REFLECTION) != MemoryType.FACT:
        return MemoryType.REFLECTION
    commits_only = all(evidence_kind(finding.evidence_id) is EvidenceKind.COMMIT for finding in findings)
    return MemoryType.FACT if commits_only else MemoryType.REFLECTION


def kind_of(findings: Sequence[Finding], page: PageSummary | None = None) -> ReflectionKind:
    """The kind a page has already, else the one most of its findings have; a draw goes to the first by name."""
    if page is not None and (stated := reflection_kind(page.scope_keys.get("reflection_kind"))) is not None:
        return stated
    kinds = [finding.kind for finding in findings]
    return min(set(kinds), key=lambda kind: (-kinds.count(kind), kind), default=ReflectionKind.EPISODE_LESSON)


def stated_provenance(page: PageSummary) -> Provenance:
    """What a page says of its own origin and evidence. Unsaid: untrusted and full. A word that is none: the worse."""
    origin, evidence = page.scope_keys.get("origin"), page.scope_keys.get("evidence", EvidenceMode.FULL)
    return Provenance(
        origin=Origin(origin) if isinstance(origin, str) and origin in set(Origin) else Origin.UNTRUSTED,
        evidence=EvidenceMode.FULL if evidence == EvidenceMode.FULL else EvidenceMode.USER_TURNS,
    )


def _merged(keys: ScopeKeys, repository: PurePath, stored: ResolvedMemoryScope | None) -> ScopeKeys:
    settled = stored is not None and stored.scope_source is ScopeSource.OPERATOR
    confidence, source = keys.scope_confidence, keys.scope_source
    if stored is not None:
        confidence = stored.scope_confidence if settled else min(confidence, stored.scope_confidence)
        source = stored.scope_source
    return build_scope_metadata(
        scope=keys.scope,
        project_id=keys.project_id,
        workspace_root=relative_root(keys.workspace_root or "", repository),
        scope_confidence=confidence,
        scope_source=source,
    )


def relative_root(root: str, repository: PurePath) -> str:
    """`root` as seen from the top of the repository; `.` where it is the top or lies around it."""
    path = PurePosixPath(PurePath(root).as_posix())
    top = PurePosixPath(repository.as_posix())
    return str(path.relative_to(top)) if path.is_relative_to(top) else "."
