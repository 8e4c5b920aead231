"""The operator's queue, one record per question. A record decides nothing and is on no page and in no index."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from reflect.model import Action, EvidenceMode, Origin, Value, digest
from reflect.scope.binding import Binding, ProposedScope
from reflect.scope.gate import Gated
from reflect.scope.proposal import Proposal
from reflect.scope.vocabulary import MemoryType, Reason, Scope, ScopeSource
from reflect.triage.always_on import is_always_on

EXCERPT_CHARS = 600


class ReviewStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    EXPIRED_EVIDENCE = "expired_evidence"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"


OPEN = frozenset({ReviewStatus.PENDING, ReviewStatus.DEFERRED})
"""What still waits for an answer."""


class ReviewEvidence(Value):
    """One piece of evidence as it was when the question was asked.

    `sha256` stands for its content then; what no longer matches is not decided on. No scope: the id names nothing.
    """

    id: str
    scope: Scope | None = None
    scope_source: ScopeSource | None = None
    project_id: str | None = None
    sha256: str = ""
    excerpt: str = ""


class ReviewItem(Value):
    """A lesson that waits for an operator, with everything needed to decide and to notice that things moved on.

    `approvable` is false where the words are not the organisation's own: approval would not change that, an owner's
    edit does. `created_at` is the time of the newest evidence. `claim_sha256` stands for the claim as it was asked;
    once its owner rewrote it, `claim` is theirs and `original_claim` what was asked. `category` is where an operator
    put it.
    """

    id: str
    project_id: str
    claim: str
    claim_sha256: str
    proposal: Proposal
    action: Action
    reasons: tuple[Reason, ...]
    proposed: ProposedScope
    narrowest_scope: str | None
    widens: bool
    evidence_items: tuple[ReviewEvidence, ...]
    origin: Origin
    evidence: EvidenceMode
    session_tainted: bool
    always_on: bool
    approvable: bool
    created_at: datetime
    status: ReviewStatus = ReviewStatus.PENDING
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision: str | None = None
    note: str = ""
    deferred_until: date | None = None
    target_project: str | None = None
    original_claim: str | None = None
    edited_by: str | None = None
    edited_at: datetime | None = None
    category: str | None = None

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


def question(
    project_id: str,
    proposal: Proposal,
    action: Action,
    binding: Binding,
    gated: Gated,
    cited: tuple[ReviewEvidence, ...],
) -> ReviewItem:
    """The item by which `proposal` is asked about in the queue of `project_id`: the one place that makes one.

    `binding` and `gated` say why it is asked, `cited` what it rests on.
    """
    return ReviewItem(
        id=proposal.id,
        project_id=project_id,
        claim=proposal.claim,
        claim_sha256=text_sha256(proposal.claim),
        proposal=proposal,
        action=action,
        reasons=gated.reasons,
        proposed=binding.proposed,
        narrowest_scope=binding.narrowest_scope,
        widens=binding.widens,
        evidence_items=cited,
        origin=proposal.origin,
        evidence=proposal.evidence,
        session_tainted=proposal.session_tainted,
        always_on=proposal.always_on,
        approvable=gated.approvable,
        created_at=proposal.synthesized_at,
    )


def edited(item: ReviewItem, text: str | None, category: str | None, *, by: str, at: datetime) -> ReviewItem:
    """`item` in its owner's own words, in another category, or both.

    What the owner typed is clean, whatever it was drawn from; who may see it is as open as before. It may turn out to
    read as a standing rule; that it did not before does not make a candidate an ordinary lesson.
    """
    update: dict[str, Any] = {"category": category or item.category}
    if text is not None:
        always_on = item.always_on or is_always_on(text)
        candidate = always_on and item.proposed.scope is Scope.GLOBAL
        memory_type = MemoryType.CANDIDATE_PREFERENCE if candidate else item.proposed.memory_type
        update |= {
            "claim": text,
            "original_claim": item.original_claim or item.claim,
            "edited_by": by,
            "edited_at": at,
            "origin": Origin.CLEAN,
            "approvable": True,
            "always_on": always_on,
            "reasons": tuple(reason for reason in item.reasons if reason not in _OF_ORIGIN),
            "proposed": item.proposed.model_copy(update={"memory_type": memory_type}),
        }
    return item.model_copy(update=update)


_OF_ORIGIN = frozenset({Reason.UNTRUSTED_ORIGIN, Reason.DERIVED_ORIGIN})


def review_id(project_id: str, claims: Iterable[str], evidence_ids: Iterable[str]) -> str:
    """The same for the same claims on the same evidence in the same project, however they are written or ordered.

    A question that was asked once has this id for good: it is not asked again until its evidence changes.
    """
    said = sorted({normalised_claim(claim) for claim in claims})
    return digest(project_id, *said, "\x1e", *sorted(set(evidence_ids)))


def normalised_claim(claim: str) -> str:
    """`claim` without the differences that do not change what it says: case, width, white space, closing marks."""
    folded = unicodedata.normalize("NFKC", claim).casefold()
    return re.sub(r"\s+", " ", folded).strip().strip("\"'“”‘’`").rstrip(" .!…;,")


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def claim_text(claims: Sequence[str]) -> str:
    """Several claims as one text, a line each, in their order, each once."""
    return "\n".join(dict.fromkeys(" ".join(claim.split()) for claim in claims))
