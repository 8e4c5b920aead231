"""What reaches the ledger outside a run: records from a file, changes to records, questions of the organisation.

Everything happens inside a transaction that the caller holds, one writer per project at a time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence

from sqlalchemy import Connection, func, select

from reflect.ledger.loading import loaded
from reflect.ledger.reading import all_reflexions, item_statuses
from reflect.ledger.recording import item_row, keep_known, lock_project
from reflect.ledger.reviewing import put_reflexion, replace_reflexion
from reflect.ledger.tables import carried_lines, reflexions, review_items
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem

_BY_IMPORT, _BY_SYNTHESIS = "import", "synthesis"
"""What stands in the place of a run for records that a file brought, and for questions that no run asked."""

Change = Callable[[Reflexion], Reflexion | None]
"""A record as it is to be; None leaves it as it is."""


def change(connection: Connection, project: str, changes: Mapping[str, Change]) -> tuple[str, ...]:
    """Apply `changes` to the records with these ids; the ids of those that were changed, sorted."""
    lock_project(connection, project)
    query = select(reflexions.c.reflexion_id, reflexions.c.payload).where(reflexions.c.project_id == project)
    held = {row.reflexion_id: row.payload for row in connection.execute(query) if row.reflexion_id in changes}
    changed = []
    for name in sorted(held):
        before = loaded(Reflexion, name, held[name])
        after = changes[name](before)
        if after is not None and after != before:
            replace_reflexion(connection, project, after)
            changed.append(name)
    return tuple(changed)


def take_over(
    connection: Connection, project: str, rows: Collection[Reflexion], lines: Sequence[str]
) -> tuple[str, ...]:
    """Keep what a file holds beside what is known; the ids that were new.

    A known record stays as it is, but what its owner dropped in the file is dropped here too; what the file says
    otherwise of its lesson is kept as a line. `lines` are those nobody could read: kept as they are, each once.
    """
    lock_project(connection, project)
    known = {row.id: row for row in all_reflexions(connection, project)}
    differing = [row for row in rows if row.id in known and row.lesson != known[row.id].lesson]
    for row in rows:
        held = known.get(row.id)
        if held is None:
            put_reflexion(connection, project, row, made_by=_BY_IMPORT)
        elif row.dropped_at is not None and held.dropped_at is None:
            replace_reflexion(connection, project, held.dropped(row.dropped_reason or "", row.dropped_at))
    _carry(connection, project, [*lines, *(json.dumps(row.model_dump(mode="json")) for row in differing)])
    return tuple(sorted({row.id for row in rows} - set(known)))


def carried(connection: Connection, project: str) -> tuple[str, ...]:
    """The lines of files that nobody could read, in the order in which they came."""
    query = select(carried_lines.c.line).where(carried_lines.c.project_id == project)
    return tuple(row.line for row in connection.execute(query.order_by(carried_lines.c.number)))


def propose(connection: Connection, project: str, items: Collection[ReviewItem]) -> tuple[str, ...]:
    """Put questions into the queue of `project`; the ids of the new ones. A known one stays as it was decided."""
    lock_project(connection, project)
    known = item_statuses(connection, project)
    new = {item.id: item for item in items if item.id not in known}
    owned = {"project_id": project, "run_id": _BY_SYNTHESIS}
    keep_known(connection, review_items, [owned | item_row(item) for item in new.values()])
    return tuple(sorted(new))


def _carry(connection: Connection, project: str, lines: Sequence[str]) -> None:
    own = carried_lines.c.project_id == project
    known = {row.line_id for row in connection.execute(select(carried_lines.c.line_id).where(own))}
    number = connection.execute(select(func.max(carried_lines.c.number)).where(own)).scalar() or 0
    rows = {}
    for line in lines:
        line_id = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()
        if line_id not in known and line_id not in rows:
            number += 1
            rows[line_id] = {"project_id": project, "line_id": line_id, "number": number, "line": line}
    keep_known(connection, carried_lines, rows.values())
