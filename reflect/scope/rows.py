"""The one place that makes reflexions: of a finding that is bound, and of an operator's correction to a plan."""

from __future__ import annotations

from datetime import datetime

from reflect.model import EvidenceKind, EvidenceMode, Finding, Origin, digest, evidence_kind
from reflect.scope.metadata import ScopeKeys
from reflect.scope.page_keys import memory_type
from reflect.scope.provenance import BEHAVIOR_DOMAIN, HISTORY_DOMAIN, TRIAGE_DOMAIN, Provenance
from reflect.scope.reflexion import Reflexion
from reflect.scope.vocabulary import MemoryType
from reflect.triage.always_on import is_always_on


def row_id(project_id: str, finding: Finding) -> str:
    """The id of the reflexion that records `finding` in a project."""
    return digest(project_id, finding.id)


def lesson(
    finding: Finding,
    provenance: Provenance,
    keys: ScopeKeys,
    *,
    project_id: str,
    session_id: str = "",
    approved_as: MemoryType | None = None,
) -> Reflexion:
    """What `finding` of `project_id` teaches, visible as `keys` say. `approved_as` is the type an operator gave it."""
    from_history = evidence_kind(finding.evidence_id) is EvidenceKind.COMMIT
    return Reflexion(
        id=row_id(project_id, finding),
        domain=HISTORY_DOMAIN if from_history else BEHAVIOR_DOMAIN,
        session_id=session_id or finding.evidence_id,
        trigger=finding.trigger or ("commit" if from_history else "statement"),
        context=finding.context,
        intervention=finding.quote,
        reflexion_text=finding.headline,
        created_at=finding.said_at.isoformat(),
        origin=provenance.origin,
        evidence=provenance.evidence,
        memory_type=approved_as or memory_type((finding,)),
        reflection_kind=finding.kind,
        **keys.flat(),
        evidence_ids=finding.evidence_ids,
        session_tainted=provenance.session_tainted,
        always_on=reads_as_rule(finding),
    )


def correction(
    item_id: str,
    trigger: str,
    text: str,
    *,
    reason: str,
    claim: str,
    origin: Origin,
    evidence: EvidenceMode,
    evidence_ids: tuple[str, ...],
    keys: ScopeKeys,
    at: datetime,
) -> Reflexion:
    """What an operator's correction to a plan teaches the triage step.

    `text` holds the operator's words and ours alone. The claim is kept beside it, so the lesson is of the claim's own
    origin: what an outsider could have written stays an outsider's.
    """
    return Reflexion(
        id=digest(TRIAGE_DOMAIN, keys.project_id, item_id, trigger, text),
        domain=TRIAGE_DOMAIN,
        session_id=evidence_ids[0] if evidence_ids else item_id,
        trigger=trigger,
        context=claim,
        intervention=reason,
        reflexion_text=text,
        created_at=at.isoformat(),
        origin=origin,
        evidence=evidence,
        **keys.flat(),
        evidence_ids=evidence_ids,
    )


def reads_as_rule(finding: Finding) -> bool:
    """Whether the finding reads as a standing rule: the engine may say so, it cannot say otherwise."""
    return finding.always_on or is_always_on(finding.quote)
