"""Review items and what was decided on them. A decision is a row of its own: the item stays what it was when asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from reflect.errors import LedgerError
from reflect.ledger.loading import loaded
from reflect.ledger.recording import instant, keep_known, lock_project, reflexion_row
from reflect.ledger.tables import decisions, reflexions, review_items
from reflect.ledger.text import dump
from reflect.scope.decided import Decided, decided_item
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem, ReviewStatus
from reflect.scope.rows import row_id

_BY_REVIEW = "review"
"""What stands in the place of a run for rows that an operator's decision made."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision and the reflexions it changes or makes, each whole, with the project under which it is kept."""

    decided: Decided
    rows: tuple[tuple[str, Reflexion], ...] = ()


Judge = Callable[[ReviewItem, tuple[Decided, ...], Mapping[str, Reflexion]], Ruling | None]
"""Looks at an item, what was decided on it before and the project's reflexions; None leaves everything as it is."""


def queue(connection: Connection, project: str, status: str | None) -> tuple[ReviewItem, ...]:
    query = select(review_items).where(review_items.c.project_id == project)
    if status is not None:
        query = query.where(review_items.c.status == status)
    return _items(connection, project, connection.execute(query.order_by(*_IN_ORDER)))


def decided_items(connection: Connection, project: str) -> tuple[ReviewItem, ...]:
    """The items on which an operator decided anything."""
    ruled = select(decisions.c.item_id).where(decisions.c.project_id == project)
    query = select(review_items).where(review_items.c.project_id == project, review_items.c.item_id.in_(ruled))
    return _items(connection, project, connection.execute(query.order_by(*_IN_ORDER)))


def item(connection: Connection, project: str, item_id: str) -> ReviewItem | None:
    query = select(review_items).where(review_items.c.project_id == project, review_items.c.item_id == item_id)
    return next(iter(_items(connection, project, connection.execute(query))), None)


def history(connection: Connection, project: str, item_id: str) -> tuple[Decided, ...]:
    return tuple(_history(connection, project, item_id).get(item_id, ()))


def decide(connection: Connection, project: str, item_id: str, judge: Judge) -> ReviewItem:
    """Ask `judge` and write down what it rules; the item as it stands then. One decision at a time per project."""
    lock_project(connection, project)
    found = item(connection, project, item_id)
    if found is None:
        raise LedgerError(f"The ledger holds no review item {item_id!r} of `{project}`; nothing was changed.")
    earlier = history(connection, project, item_id)
    ruling = judge(found, earlier, _rows_of(connection, project, found))
    if ruling is None:
        return found
    _write(connection, project, item_id, len(earlier), ruling.decided)
    for owner, row in ruling.rows:
        put_reflexion(connection, owner, row, made_by=_BY_REVIEW)
    return decided_item(found, (ruling.decided,))


def put_reflexion(connection: Connection, project: str, row: Reflexion, *, made_by: str) -> None:
    """Write `row` in the place of the reflexion with its id, or as a new one that `made_by` made instead of a run."""
    if not replace_reflexion(connection, project, row):
        keep_known(connection, reflexions, [reflexion_row(row) | {"project_id": project, "run_id": made_by}])


def replace_reflexion(connection: Connection, project: str, row: Reflexion) -> bool:
    """Write `row` in the place of the reflexion with its id; False, with nothing written, where there is none."""
    own = (reflexions.c.project_id == project) & (reflexions.c.reflexion_id == row.id)
    return bool(connection.execute(update(reflexions).where(own).values(**reflexion_row(row))).rowcount)


def _write(connection: Connection, project: str, item_id: str, number: int, decided: Decided) -> None:
    row = {
        "project_id": project,
        "item_id": item_id,
        "number": number,
        "verb": decided.verb.value,
        "status": decided.status.value,
        "decided_by": decided.by,
        "decided_at": instant(decided.at),
        "payload": dump(decided),
    }
    connection.execute(insert(decisions), row)
    own = (review_items.c.project_id == project) & (review_items.c.item_id == item_id)
    connection.execute(update(review_items).where(own).values(status=decided.status.value))


def _items(connection: Connection, project: str, rows: Iterable[Any]) -> tuple[ReviewItem, ...]:
    found = list(rows)
    ruled = _history(connection, project, found[0].item_id if len(found) == 1 else None) if found else {}
    return tuple(_item(row, ruled.get(row.item_id, ())) for row in found)


def _item(row: Any, ruled: Sequence[Decided]) -> ReviewItem:
    asked = loaded(ReviewItem, row.item_id, row.payload)
    return decided_item(asked, tuple(ruled)).model_copy(update={"status": ReviewStatus(row.status)})


def _history(connection: Connection, project: str, item_id: str | None) -> dict[str, list[Decided]]:
    """Every decision by item, oldest first; of one item alone where it is named."""
    query = select(decisions).where(decisions.c.project_id == project)
    if item_id is not None:
        query = query.where(decisions.c.item_id == item_id)
    found: dict[str, list[Decided]] = defaultdict(list)
    for row in connection.execute(query.order_by(decisions.c.number)):
        found[row.item_id].append(loaded(Decided, row.item_id, row.payload))
    return found


def _rows_of(connection: Connection, project: str, asked: ReviewItem) -> dict[str, Reflexion]:
    """The reflexions that were recorded of the item's own findings."""
    names = [row_id(asked.project_id, finding) for finding in asked.action.findings]
    query = select(reflexions.c.reflexion_id, reflexions.c.payload).where(
        reflexions.c.project_id == project, reflexions.c.reflexion_id.in_(names)
    )
    return {row.reflexion_id: loaded(Reflexion, row.reflexion_id, row.payload) for row in connection.execute(query)}


_IN_ORDER = (review_items.c.created_at, review_items.c.item_id)
