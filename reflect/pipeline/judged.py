"""What an operator decided about claims, kept by every later plan: refused ones are not proposed, moved ones stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reflect.configuration import slugify
from reflect.model import Action, Fate, Finding, Operation, Outcome
from reflect.scope.review import ReviewItem, ReviewStatus, normalised_claim

ASKED_AGAIN = "an operator refused these words before; they were said again"

_FATES = {
    ReviewStatus.REJECTED: (Outcome.SKIPPED, "an operator rejected it"),
    ReviewStatus.QUARANTINED: (Outcome.QUARANTINED, "an operator put it aside"),
    ReviewStatus.SUPERSEDED: (Outcome.QUARANTINED, "its question was superseded in the review queue"),
    ReviewStatus.APPROVED: (Outcome.COMPILED, "an operator approved it"),
}
_REFUSED = frozenset({ReviewStatus.REJECTED, ReviewStatus.QUARANTINED})


@dataclass(frozen=True, slots=True)
class SortedOut:
    """Findings by what an operator's earlier decisions leave of them.

    `fresh` go to the engine; `again` are asked once more without one, because what was refused is shown to no engine;
    the others have `fates`.
    """

    fresh: tuple[Finding, ...]
    again: tuple[Action, ...]
    fates: tuple[Fate, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """Decisions by claim, normalised: the evidence on which it was refused, with how, and where it was moved to."""

    refused: Mapping[str, tuple[tuple[frozenset[str], ReviewStatus], ...]] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Iterable[ReviewItem]) -> Judged:
        """From the review items that anything was decided on; where two name one claim, the later decision counts."""
        refused: dict[str, tuple[tuple[frozenset[str], ReviewStatus], ...]] = {}
        categories: dict[str, str] = {}
        for item in sorted(items, key=lambda one: (one.decided_at or one.created_at, one.id)):
            evidence = frozenset(item.action.evidence_ids)
            for claim in {normalised_claim(finding.quote) for finding in item.action.findings}:
                if item.status in _REFUSED:
                    refused[claim] = (*refused.get(claim, ()), (evidence, item.status))
                elif item.status is ReviewStatus.APPROVED and item.edited_at is None:
                    refused.pop(claim, None)
                if item.status not in _REFUSED and item.category is not None:
                    categories[claim] = item.category
        return cls(refused, categories)

    @property
    def claims(self) -> frozenset[str]:
        """The refused claims."""
        return frozenset(self.refused)

    def sort_out(self, findings: Iterable[Finding]) -> SortedOut:
        """A refused claim on the same evidence is done with; on other evidence it is a question again, never a page."""
        fresh: list[Finding] = []
        again: list[Action] = []
        fates: list[Fate] = []
        for finding in findings:
            claim = normalised_claim(finding.quote)
            status = self._refusal(claim, finding)
            if status is not None:
                outcome, reason = _FATES[status]
                fates.append(Fate(finding=finding, outcome=outcome, reason=reason))
            elif claim in self.refused:
                again.append(_question(finding))
            else:
                fresh.append(self._moved(claim, finding))
        return SortedOut(tuple(fresh), tuple(again), tuple(fates))

    def _refusal(self, claim: str, finding: Finding) -> ReviewStatus | None:
        said_in = set(finding.evidence_ids)
        return next((status for evidence, status in self.refused.get(claim, ()) if said_in <= evidence), None)

    def _moved(self, claim: str, finding: Finding) -> Finding:
        category = self.categories.get(claim)
        return finding if category is None else finding.model_copy(update={"category": category})


def fate_of(status: ReviewStatus | None, reasons: Iterable[str]) -> tuple[Outcome, str]:
    """Outcome and reason for a claim whose review item has `status`; None for one that is asked now."""
    waits = (Outcome.QUARANTINED, f"waits for review: {', '.join(reasons)}")
    return waits if status is None else _FATES.get(status, waits)


def _question(finding: Finding) -> Action:
    return Action(
        operation=Operation.CREATE,
        category=finding.category,
        slug=f"{slugify(finding.headline)}-{finding.id[:6]}",
        title=finding.headline,
        reason=ASKED_AGAIN,
        findings=(finding,),
    )
