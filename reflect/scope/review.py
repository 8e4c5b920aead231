"""The operator's queue, one record per question. A record decides nothing and is on no page and in no index."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from reflect.model import Action, EvidenceMode, Origin, Value, digest
from reflect.scope.binding import ProposedScope
from reflect.scope.proposal import Proposal
from reflect.scope.vocabulary import Reason, Scope, ScopeSource

EXCERPT_CHARS = 600


class ReviewStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    EXPIRED_EVIDENCE = "expired_evidence"


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
    edit does. `created_at` is the time of the newest evidence.
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
