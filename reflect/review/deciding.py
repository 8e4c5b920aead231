"""An operator's decisions. Each is written down once, with who and when; the first of two that disagree stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from reflect.configuration import slugify
from reflect.errors import ConfigurationError, ScopeError
from reflect.ledger.reviewing import Ruling
from reflect.review.bench import Bench
from reflect.review.corrections import lesson_of
from reflect.review.drift import anchors_of
from reflect.scope.decided import Decided, Verb
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import OPEN, ReviewItem, ReviewStatus
from reflect.scope.rows import row_id

_PUT_ASIDE = "put aside by an operator"
_REJECTED = "rejected by an operator"

_EXPIRED = frozenset({ReviewStatus.EXPIRED_EVIDENCE})
_LEFT = frozenset({ReviewStatus.QUARANTINED, ReviewStatus.EXPIRED_EVIDENCE, ReviewStatus.SUPERSEDED})
ALLOWED: Mapping[Verb, frozenset[ReviewStatus]] = {
    Verb.APPROVE: OPEN | _EXPIRED,
    Verb.EXPIRE: OPEN | _EXPIRED,
    Verb.DEFER: OPEN,
    Verb.EDIT: OPEN | _LEFT,
    Verb.REJECT: OPEN | _LEFT,
    Verb.QUARANTINE: OPEN | _LEFT,
}
"""What an item may be for each decision. A rejection and an approval are final: new evidence asks again.

Approving what had expired looks again: a clone that had not fetched a session yet is no reason to lose a question."""

Rows = Callable[[ReviewItem, Mapping[str, Reflexion]], Iterable[tuple[str, Reflexion]]]
"""From the item as it stood and its recorded lessons to the lessons as they are after a decision."""


@dataclass(frozen=True, slots=True)
class Done:
    """The item as it stands, and whether this decision changed it: False where it was so already.

    `page` is where an approval put it, relative to the wiki in `folder`; None for every other decision.
    """

    item: ReviewItem
    changed: bool
    page: str | None = None
    folder: str | None = None


def reject(bench: Bench, item: ReviewItem, reason: str = "") -> Done:
    """Refuse the claim: on the same evidence it is not asked again. With a reason it teaches the triage step."""
    decided = _decided(bench, Verb.REJECT, ReviewStatus.REJECTED, note=reason)

    def rows(standing: ReviewItem, known: Mapping[str, Reflexion]) -> Iterable[tuple[str, Reflexion]]:
        for row in known.values():
            yield item.project_id, row.dropped(reason or _REJECTED, bench.at.isoformat())
        yield from _lesson(bench, standing, decided)

    return decide(bench, item, decided, rows)


def quarantine(bench: Bench, item: ReviewItem, reason: str = "") -> Done:
    """Keep the claim aside: on no page, in no list of open questions, shown to no engine."""
    decided = _decided(bench, Verb.QUARANTINE, ReviewStatus.QUARANTINED, note=reason)
    at = bench.at.isoformat()
    return decide(
        bench,
        item,
        decided,
        lambda standing, known: [(item.project_id, row.dropped(_PUT_ASIDE, at)) for row in known.values()],
    )


def defer(bench: Bench, item: ReviewItem, until: date | None = None, reason: str = "") -> Done:
    """Keep the question for later, with a day or a reason or both."""
    if until is None and not reason:
        raise ConfigurationError("A question is put off until a day or for a reason; name one; nothing was changed.")
    decided = _decided(bench, Verb.DEFER, ReviewStatus.DEFERRED, note=reason, until=until)
    return decide(bench, item, decided, lambda standing, known: ())


def edit(
    bench: Bench, item: ReviewItem, text: str | None = None, category: str | None = None, reason: str = ""
) -> Done:
    """Put the claim into its owner's own words, into another category, or both.

    Rewritten, it is clean and rests on the evidence as it is now. Raises ConfigurationError for a text that says
    nothing or holds a secret, and for a category that can be no folder.
    """
    bench.require_authority(item.project_id)
    written = None if text is None else _written(bench, item, text)
    if written is None and category is None:
        raise ConfigurationError("An edit needs a text or a category; nothing was changed.")
    if category is not None and (not category or slugify(category) != category):
        raise ConfigurationError(
            f"{category!r} can be no category; nothing was changed; did you mean {slugify(category)!r}?"
        )
    decided = _decided(
        bench,
        Verb.EDIT,
        ReviewStatus.PENDING if written is not None or item.status not in ALLOWED[Verb.DEFER] else item.status,
        note=reason,
        text=written,
        category=category,
        anchors=anchors_of(bench, item) if written is not None else {},
        until=item.deferred_until if written is None else None,
    )

    def rows(standing: ReviewItem, known: Mapping[str, Reflexion]) -> Iterable[tuple[str, Reflexion]]:
        if written is not None:
            yield from ((item.project_id, row) for row in _rewritten(standing, known, written, bench.at.isoformat()))
        yield from _lesson(bench, standing, decided)

    return decide(bench, item, decided, rows)


def decide(bench: Bench, item: ReviewItem, decided: Decided, rows: Rows) -> Done:
    """Write `decided` down unless it is so already.

    Raises ScopeError, with nothing changed, where something else was decided before, or `item` is not what stands in
    the ledger any more because somebody decided meanwhile.
    """
    changed = False

    def judge(standing: ReviewItem, earlier: tuple[Decided, ...], known: Mapping[str, Reflexion]) -> Ruling | None:
        nonlocal changed
        if earlier and earlier[-1].same_as(decided) and standing.status is decided.status:
            return None
        require_allowed(standing, decided.verb)
        if standing != item:
            raise ScopeError(
                f"Review item {item.id} {_as_decided(standing)} meanwhile; nothing was changed; look at it again."
            )
        changed = True
        return Ruling(decided, tuple(rows(standing, known)))

    after = bench.ledger.decide(item.project_id, item.id, judge)
    return Done(after, changed)


def require_allowed(item: ReviewItem, verb: Verb) -> None:
    """Raise ScopeError where what was decided on `item` leaves no room for `verb`."""
    if item.status not in ALLOWED[verb]:
        raise ScopeError(f"Review item {item.id} {_as_decided(item)}; it stays so.")


def _decided(bench: Bench, verb: Verb, status: ReviewStatus, **said: object) -> Decided:
    return Decided.model_validate({"verb": verb, "status": status, "by": bench.by, "at": bench.at, **said})


def _as_decided(item: ReviewItem) -> str:
    if item.decided_by is None or item.decided_at is None:
        return f"is {item.status}"
    return f"was set to {item.status} by {item.decided_by} on {item.decided_at.date()}"


def _lesson(bench: Bench, item: ReviewItem, decided: Decided) -> Iterable[tuple[str, Reflexion]]:
    taught = lesson_of(item, decided, bench.registry)
    if taught is not None:
        yield item.project_id, taught


def _rewritten(item: ReviewItem, known: Mapping[str, Reflexion], text: str, at: str) -> Iterable[Reflexion]:
    """The lesson of the first recorded finding in its owner's words; one that was only put aside counts again."""
    recorded = (row_id(item.project_id, finding) for finding in item.action.findings)
    row = next((known[name] for name in recorded if name in known), None)
    if row is not None:
        back = row.model_copy(update={"dropped_at": None, "dropped_reason": None})
        yield (back if row.dropped_reason == _PUT_ASIDE else row).edited(text, at)


def _written(bench: Bench, item: ReviewItem, text: str) -> str:
    written = " ".join(text.split())
    if not any(char.isalnum() for char in written):
        raise ConfigurationError(f"{text!r} says nothing; review item {item.id} stays as it is.")
    place = bench.destination(item.project_id) or bench.organisation
    if found := place.finds(written):
        raise ConfigurationError(
            f"The text looks like it holds a secret ({found[0]}); review item {item.id} stays as it is."
        )
    return written
