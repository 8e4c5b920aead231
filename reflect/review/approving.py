"""Approving: looked at again, decided once, landed on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from reflect.errors import ScopeError, WikiError
from reflect.model import Operation
from reflect.pipeline.approved import Destination, Repeated, draft_approved, land_approved, land_waiting
from reflect.pipeline.archive import archive
from reflect.review.bench import Bench
from reflect.review.deciding import Done, decide, require_allowed
from reflect.review.drift import Drift, drift_of
from reflect.scope.approval import Approval, Choice, widening
from reflect.scope.approval import approve as approved_by_scope
from reflect.scope.decided import Decided, Verb, decided_item
from reflect.scope.provenance import Provenance
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem, ReviewStatus
from reflect.scope.rows import lesson, row_id
from reflect.scope.vocabulary import ORGANISATION, Scope
from reflect.wiki.draft import PageDraft
from reflect.wiki.files import sweep_staging
from reflect.wiki.landing import Fault
from reflect.wiki.paths import STAGING


def approve(
    bench: Bench,
    item: ReviewItem,
    *,
    project_id: str | None = None,
    widen: bool = False,
    confirmed: bool = False,
    fault: Fault | None = None,
) -> Done:
    """Put the claim on a page: of the project it belongs to, of `project_id`, or with `widen` of the organisation.

    Showing it beyond the project of its evidence needs `confirmed` as well. Raises ScopeError, the item left open,
    where it cannot be approved; where what it rests on changed, the item says so from then on. What was decided and
    not landed, because the process was killed, is landed when it is approved again.
    """
    choice = widening(item) if widen else Choice.APPROVE_PROJECT
    target = None if widen else project_id or item.narrowest_scope
    place = _place(bench, item, target, widen)
    bench.require_authority(place.project_id)
    if item.status is ReviewStatus.APPROVED:
        return _landed_again(bench, item, choice, target, place)
    require_allowed(item, Verb.APPROVE)
    if widen and not confirmed:
        raise ScopeError(
            f"Review item {item.id} would be shown in every project: that needs a second, explicit yes; nothing was "
            "changed."
        )
    asked = item.model_copy(update={"status": ReviewStatus.PENDING})  # what had expired is looked at afresh
    approval = approved_by_scope(asked, choice, bench.registry, project_id=target, widening_confirmed=confirmed)
    decided = Decided.approval(choice, target, by=bench.by, at=bench.at)
    _require_standing(bench, item)
    with bench.held(place):
        _require_standing(bench, item)  # what was interrupted there is finished now, and may have changed a page
        return _approved(bench, item, approval, decided, place, fault)


def _approved(
    bench: Bench, item: ReviewItem, approval: Approval, decided: Decided, place: Destination, fault: Fault | None
) -> Done:
    after = decided_item(item, (decided,))
    try:
        draft = draft_approved(after, approval, place)
    except Repeated as error:
        raise _expired(bench, item, Drift(ReviewStatus.SUPERSEDED, str(error).split("; ")[0])) from error
    with _announced(place):
        done = decide(
            bench, item, decided, lambda standing, known: _rows(standing, approval, place.project_id, decided, known)
        )
    if not done.changed:
        sweep_staging(place.folder)
    else:
        if fault is not None:
            fault("the decision is in the ledger")
        _land(done.item, draft, place, fault)
        workspace = bench.repository(place.project_id) if draft.action is Operation.RESOLVE else None
        if workspace is not None:
            archive(workspace, f"review-{item.id}")
    return replace(done, page=draft.path, folder=str(place.folder))


@contextmanager
def _announced(place: Destination) -> Iterator[None]:
    """Leave a mark in the wiki's folder that something is about to land: a process that dies now leaves it there, and
    the next run does not take the repository for one in which nothing happened."""
    try:
        sweep_staging(place.folder)
        (place.folder / STAGING).mkdir()
    except OSError as error:
        raise WikiError(f"{place.folder} cannot be written ({error.strerror}); nothing was changed.") from error
    try:
        yield
    except Exception:
        sweep_staging(place.folder)
        raise


def _land(item: ReviewItem, draft: PageDraft, place: Destination, fault: Fault | None) -> None:
    try:
        land_approved(item, draft, place, fault=fault)
    except WikiError as error:
        raise WikiError(
            f"Review item {item.id} is approved, but its page is not in place yet: {str(error).rstrip('.')}; "
            f"`reflect review approve {item.id}` puts it there, and so does the next run."
        ) from error


def _place(bench: Bench, item: ReviewItem, target: str | None, widen: bool) -> Destination:
    if target is None and not widen:
        raise ScopeError(
            f"Review item {item.id} belongs to no single project; it stays as it is; say which one it is for "
            "(`--project`), or that everyone is to see it (`--widen`)."
        )
    place = bench.destination(target or ORGANISATION)
    if place is None and target is not None and bench.registry.project(target) is None:
        raise ScopeError(f"Review item {item.id} stays as it is: no project {target!r} is registered.")
    if place is None:
        raise ScopeError(
            f"Review item {item.id} stays as it is: the repository of `{target}` is not on this machine; approve it "
            "where it is."
        )
    return place


def _landed_again(bench: Bench, item: ReviewItem, choice: Choice, target: str | None, place: Destination) -> Done:
    """An approval that is repeated: the same one is so already, and lands now where it had not."""
    if (item.decision, item.target_project) != (choice, target):
        raise ScopeError(
            f"Review item {item.id} was approved by {item.decided_by} for "
            f"{item.target_project or 'the whole organisation'}; it stays so."
        )
    with bench.held(place):
        land_waiting(bench.ledger, bench.registry, place)
    return Done(item, changed=False, folder=str(place.folder))


def _require_standing(bench: Bench, item: ReviewItem) -> None:
    if (drift := drift_of(bench, item)) is not None:
        raise _expired(bench, item, drift)


def _expired(bench: Bench, item: ReviewItem, drift: Drift) -> ScopeError:
    """Write on the item that it cannot be approved any more, and say so."""
    noted = Decided(verb=Verb.EXPIRE, status=drift.status, by=bench.by, at=bench.at, note=drift.why)
    decide(bench, item, noted, lambda standing, known: ())
    return ScopeError(
        f"Review item {item.id} cannot be approved: {drift.why}; it is {drift.status} now and nothing was written; "
        f"`reflect review edit {item.id}` puts it into your own words."
    )


def _rows(
    item: ReviewItem, approval: Approval, owner: str, decided: Decided, known: Mapping[str, Reflexion]
) -> Iterable[tuple[str, Reflexion]]:
    """The lessons of an approved item with the scope they have now, kept under whoever may see them."""
    provenance = Provenance(item.origin, item.evidence, item.session_tainted)
    rewritten = item.edited_at is not None
    for finding in item.action.findings[: 1 if rewritten else None]:
        made = lesson(finding, provenance, approval.keys, project_id=item.project_id, approved_as=approval.memory_type)
        row = known.get(row_id(item.project_id, finding), made).model_copy(
            update={**approval.keys.flat(), "memory_type": approval.memory_type}
        )
        if approval.keys.scope is Scope.GLOBAL:
            row = row.model_copy(update={"context": ""})  # the operator approved the claim, not what stood around it
        if item.edited_at is not None:
            row = row.edited(item.claim, item.edited_at.isoformat())
        yield owner, row.approved(decided.by, decided.at.isoformat())
