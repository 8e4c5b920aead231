"""Whether what an item rests on is still what it was when the question was asked."""

from __future__ import annotations

from dataclasses import dataclass

from reflect.errors import ScopeError
from reflect.model import Operation
from reflect.review.bench import Bench
from reflect.scope.decided import is_untouched
from reflect.scope.review import ReviewEvidence, ReviewItem, ReviewStatus, text_sha256


@dataclass(frozen=True, slots=True)
class Drift:
    """What changed, in words, and what the item becomes by it."""

    status: ReviewStatus
    why: str


def drift_of(bench: Bench, item: ReviewItem) -> Drift | None:
    """The first thing that is not what it was; None where everything stands.

    Raises ScopeError where that cannot be told, because a repository is not on this machine.
    """
    if not is_untouched(item):
        return Drift(ReviewStatus.SUPERSEDED, "its claim is not the one that was asked")
    found = (_changed(bench, item, one) for one in item.evidence_items)
    return next((drift for drift in found if drift is not None), None)


def anchors_of(bench: Bench, item: ReviewItem) -> dict[str, str]:
    """The hash of each piece of evidence as it stands now, for those that can be told."""
    found = ((one.id, _hash_now(bench, item, one)) for one in item.evidence_items)
    return {name: now for name, now in found if now}


def _changed(bench: Bench, item: ReviewItem, one: ReviewEvidence) -> Drift | None:
    now = _hash_now(bench, item, one)
    is_page = one.id.endswith(".md")
    if now is None:
        raise ScopeError(
            f"Review item {item.id} cannot be approved here: {one.id} lies in a repository that is not here; "
            "the item stays as it is."
        )
    if is_page and now != one.sha256 and _changes_it(item, one.id):
        return Drift(ReviewStatus.SUPERSEDED, f"the page {one.id} {'changed' if now else 'is gone'} since it was asked")
    if is_page:
        return None
    if not now:
        return Drift(ReviewStatus.EXPIRED_EVIDENCE, f"{one.id} does not exist any more")
    if one.sha256 and now != one.sha256:
        return Drift(ReviewStatus.EXPIRED_EVIDENCE, f"{one.id} changed since it was asked")
    return None


def _changes_it(item: ReviewItem, path: str) -> bool:
    return item.action.operation is not Operation.CREATE and item.action.path == path


def _hash_now(bench: Bench, item: ReviewItem, one: ReviewEvidence) -> str | None:
    """The hash of the evidence now: empty where it does not exist, None where that cannot be told."""
    project = one.project_id or item.project_id
    if one.id.endswith(".md"):
        wiki = bench.wiki(item.project_id)
        if wiki is None:
            return None
        body = next((page.body for page in wiki.pages if page.path == one.id), None)
        return "" if body is None else text_sha256(body)
    contents = bench.contents(project)
    if contents is not None and one.id in contents:
        return text_sha256(contents[one.id])
    lesson = bench.ledger.reflexion(project, one.id)
    if lesson is not None:
        return "" if lesson.dropped_at is not None else text_sha256(lesson.reflexion_text)
    return None if contents is None else ""
