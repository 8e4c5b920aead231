"""What an operator decided on a review item, as a value the ledger keeps for good."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

from reflect.model import Value
from reflect.scope.approval import Choice
from reflect.scope.review import ReviewItem, ReviewStatus, edited, text_sha256


class Verb(StrEnum):
    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    DEFER = "defer"
    QUARANTINE = "quarantine"
    EXPIRE = "expire"  # what the item rests on was found changed when it was to be approved


class Decided(Value):
    """One decision. `at` is in UTC; `status` is what the item is after it.

    An approval names its `choice` and, for one project, that project. An edit has the owner's `text`, the `category` he
    put the claim in, or both; `anchors` are the hashes of the evidence that he had before him.
    """

    verb: Verb
    status: ReviewStatus
    by: str
    at: datetime
    note: str = ""
    choice: Choice | None = None
    project_id: str | None = None
    text: str | None = None
    category: str | None = None
    until: date | None = None
    anchors: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def approval(cls, choice: Choice, project_id: str | None, *, by: str, at: datetime) -> Decided:
        """The word that puts an item on a page, of `project_id` or of everyone."""
        return cls(verb=Verb.APPROVE, status=ReviewStatus.APPROVED, by=by, at=at, choice=choice, project_id=project_id)

    def same_as(self, other: Decided) -> bool:
        """Whether both decide the same, whoever did and when and whatever was noted."""
        said = {"verb", "status", "choice", "project_id", "text", "category", "until"}
        return self.model_dump(include=said) == other.model_dump(include=said)


def decided_item(item: ReviewItem, decisions: tuple[Decided, ...]) -> ReviewItem:
    """`item` as it stands after `decisions`, oldest first."""
    for decision in decisions:
        if decision.verb is Verb.EDIT:
            item = _anchored(edited(item, decision.text, decision.category, by=decision.by, at=decision.at), decision)
        item = item.model_copy(
            update={
                "status": decision.status,
                "decided_by": decision.by,
                "decided_at": decision.at,
                "decision": str(decision.choice or decision.verb),
                "note": decision.note,
                "deferred_until": decision.until,
                "target_project": decision.project_id,
            }
        )
    return item


def _anchored(item: ReviewItem, edit: Decided) -> ReviewItem:
    cited = (one.model_copy(update={"sha256": edit.anchors.get(one.id, one.sha256)}) for one in item.evidence_items)
    return item.model_copy(update={"evidence_items": tuple(cited)})


def is_untouched(item: ReviewItem) -> bool:
    """Whether the claim is the one that was asked, byte for byte."""
    return text_sha256(item.original_claim or item.claim) == item.claim_sha256
