"""Values the ledger's tests record."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from reflect.ledger.entry import EvidenceRecord, LedgerEntry, PageRecord, RunState
from reflect.model import (
    Accounted,
    Action,
    CommitSha,
    EvidenceMode,
    Finding,
    Operation,
    Origin,
    Outcome,
    PageSummary,
    ReflectionKind,
    Source,
    Speaker,
    evidence_kind,
)
from reflect.scope.binding import ProposedScope
from reflect.scope.proposal import Proposal
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewEvidence, ReviewItem, review_id, text_sha256
from reflect.scope.vocabulary import MemoryType, Reason, Scope, ScopeSource

PROJECT = "payments"
OTHER = "billing"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)

CHECKPOINT = "4ecb34b81a12"
SESSION = f"{CHECKPOINT}/0"
SHA = "993631c0abcd" + "0" * 28


def key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def record(
    evidence_id: str = SESSION,
    outcome: Outcome = Outcome.COMPILED,
    *,
    content: str | None = "tree-1",
    keys: Iterable[bytes] = (),
    reason: str = "",
    mode: EvidenceMode | None = None,
    tainted_by: str = "",
) -> EvidenceRecord:
    accounted = Accounted(id=evidence_id, kind=evidence_kind(evidence_id), outcome=outcome, reason=reason)
    return EvidenceRecord.of(accounted, content=content, turn_keys=keys, mode=mode, tainted_by=tainted_by)


def finding(quote: str = "Always use tabs", evidence_id: str = SESSION) -> Finding:
    return Finding(
        quote=quote,
        headline="Tabs",
        category="preferences",
        kind=ReflectionKind.CORRECTIVE,
        evidence_id=evidence_id,
        position=4,
        speaker=Speaker.PERSON,
        said_at=NOON,
        score=0.8,
        signals=("steer",),
        origin=Origin.CLEAN,
        evidence=EvidenceMode.FULL,
    )


def reflexion(reflexion_id: str = "r-1", **changes: Any) -> Reflexion:
    said = {
        "id": reflexion_id,
        "domain": "behavior",
        "session_id": "s-1",
        "trigger": "steer",
        "context": "was editing",
        "intervention": "use tabs",
        "reflexion_text": "Use tabs.",
        "created_at": "2026-03-02T12:00:00Z",
        "origin": Origin.CLEAN,
        "project_id": PROJECT,
    }
    return Reflexion.model_validate(said | changes)


def page(path: str = "gotchas/tabs.md", sources: Iterable[str] = (SESSION,)) -> PageRecord:
    return PageRecord(path=path, action="create", sources=tuple(Source.of(item) for item in sources))


def entry(run_id: str = "run-1", **changes: Any) -> LedgerEntry:
    """A run that landed one page from one session."""
    said = {
        "project": PROJECT,
        "run_id": run_id,
        "engine": "extractive 1",
        "state": RunState.LANDED,
        "started_at": NOON,
        "finished_at": NOON,
        "evidence": (record(),),
        "pages": (page(),),
    }
    return LedgerEntry.model_validate(said | changes)


def summary(path: str, *sources: Source, project: str | None = None) -> PageSummary:
    """A page of the wiki as triage sees it."""
    category, slug = path.removesuffix(".md").split("/")
    return PageSummary(
        path=path,
        category=category,
        slug=slug,
        title=slug,
        lead="",
        body="",
        status="active",
        sources=sources,
        project_id=project,
    )


def commit(number: int) -> CommitSha:
    return CommitSha(f"{number:040x}")


def review_item(
    claim: str = "Always use tabs.", evidence_ids: Iterable[str] = (SESSION,), **changes: Any
) -> ReviewItem:
    """A claim that waits for an operator."""
    cited = tuple(evidence_ids)
    project = str(changes.get("project_id", PROJECT))
    said = {
        "id": review_id(project, [claim], cited),
        "project_id": project,
        "claim": claim,
        "claim_sha256": text_sha256(claim),
        "proposal": Proposal("p", claim, "corrective", cited, (), "/work", NOON, "behavior"),
        "action": Action(
            operation=Operation.CREATE,
            category="preferences",
            slug="tabs",
            title="Tabs",
            reason="said so",
            findings=(finding(claim),),
        ),
        "reasons": (Reason.UNTRUSTED_ORIGIN,),
        "proposed": ProposedScope(
            scope=Scope.PROJECT,
            project_id=project,
            workspace_root="/work",
            memory_type=MemoryType.REFLECTION,
            scope_source=ScopeSource.EXTRACTION_DEFAULT,
            scope_confidence=0.6,
            reflection_kind=ReflectionKind.CORRECTIVE,
        ),
        "narrowest_scope": project,
        "widens": False,
        "evidence_items": tuple(ReviewEvidence(id=item) for item in cited),
        "origin": Origin.UNTRUSTED,
        "evidence": EvidenceMode.FULL,
        "session_tainted": False,
        "always_on": True,
        "approvable": False,
        "created_at": NOON,
    }
    return ReviewItem.model_validate(said | changes)
