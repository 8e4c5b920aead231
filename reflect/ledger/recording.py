"""Writing one run's entry, inside a transaction that the caller holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Executable, Table, delete, insert, select, text, update

from reflect.ledger.entry import LedgerEntry, RunState
from reflect.ledger.tables import episodes, evidence, findings, pages, reflexions, review_items, runs, spend
from reflect.ledger.text import dump
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import OPEN, ReviewItem, ReviewStatus

CHUNK = 2_000
REPORTS_KEPT = 100
"""Reports of older runs are emptied: they are for reading soon, and would be most of a ledger after a few years."""

PENDING = "pending"
TAKEN = "taken"

Row = dict[str, Any]


def record(connection: Connection, entry: LedgerEntry) -> bool:
    """Write `entry`; False where the ledger already says the same.

    An entry of the same run that says something else is replaced, but a failed attempt takes nothing away from a run
    that did not fail. Reflexions, review items and model calls that are known stay as they are, with whatever was
    decided on them since.
    """
    lock_project(connection, entry.project)
    keep_known(connection, spend, _calls(entry))
    held = _held(connection, entry)
    if held is not None:
        if held.entry_digest == entry.fingerprint or (entry.state is RunState.FAILED and held.state != RunState.FAILED):
            return False
        forget_run(connection, entry.project, entry.run_id)
    add_run(connection, entry, anchor=entry.anchor)
    return True


def mark_archived(connection: Connection, project: str, run_id: str) -> None:
    landed = (runs.c.project_id == project) & (runs.c.run_id == run_id) & (runs.c.state == RunState.LANDED)
    connection.execute(update(runs).where(landed).values(state=RunState.ARCHIVED))


def lock_project(connection: Connection, project: str) -> None:
    """Keep other writers of `project` out until the transaction ends; SQLite's write lock already does."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:room, hashtext(:project))"), {"room": 7, "project": project}
        )


def add_run(connection: Connection, entry: LedgerEntry, *, anchor: str | None, rebuilt: bool = False) -> None:
    """Insert the run of `entry` and its rows, to count where `anchor` stands in the wiki's log."""
    connection.execute(insert(runs), _run(entry) | {"anchor": anchor, "rebuilt": rebuilt})
    _add(connection, evidence, _evidence(entry))
    _add(connection, findings, _findings(entry))
    _add(connection, episodes, _episodes(entry))
    _add(connection, pages, _pages(entry))
    keep_known(connection, reflexions, _reflexions(entry))
    keep_known(connection, review_items, _review_items(entry))
    _ask_again(connection, entry)
    _supersede(connection, entry)
    _trim_reports(connection, entry.project)


def forget_run(connection: Connection, project: str, run_id: str) -> None:
    """Take away the rows a run owns."""
    for table in (evidence, findings, episodes, pages, runs):
        connection.execute(delete(table).where(table.c.project_id == project, table.c.run_id == run_id))


def _held(connection: Connection, entry: LedgerEntry) -> Any:
    query = select(runs.c.entry_digest, runs.c.state).where(
        runs.c.project_id == entry.project, runs.c.run_id == entry.run_id
    )
    return connection.execute(query).one_or_none()


def _add(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    for chunk in _chunks(list(rows)):
        connection.execute(insert(table), chunk)


def keep_known(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    """Insert those of `rows` whose key is new; a known one stays as it is."""
    statement = _insert_new(connection, table)
    for chunk in _chunks(list(rows)):
        connection.execute(statement, chunk)


def _insert_new(connection: Connection, table: Table) -> Executable:
    """Each dialect has an `insert` of its own, and importing PostgreSQL's costs more than opening a SQLite ledger."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table).on_conflict_do_nothing()
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table).on_conflict_do_nothing()


def _chunks(rows: Sequence[Row]) -> Iterable[Sequence[Row]]:
    return (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))


def _ask_again(connection: Connection, entry: LedgerEntry) -> None:
    """Open an item whose evidence had changed again, with the evidence that a run asks it on now."""
    for row in _review_items(entry):
        own = (review_items.c.project_id == entry.project) & (review_items.c.item_id == row["item_id"])
        stale = own & (review_items.c.status == ReviewStatus.EXPIRED_EVIDENCE)
        connection.execute(update(review_items).where(stale).values(status=row["status"], payload=row["payload"]))


def _supersede(connection: Connection, entry: LedgerEntry) -> None:
    """Close the open items that ask what a newer one asks on all of their evidence and more."""
    newer = {item.claim_sha256: item for item in entry.review_items}
    if not newer:
        return
    pending = (review_items.c.project_id == entry.project) & review_items.c.status.in_(sorted(OPEN))
    rows = connection.execute(select(review_items).where(pending, review_items.c.run_id != entry.run_id)).all()
    closed = [row.item_id for row in rows if row.claim_sha256 in newer and _covers(newer[row.claim_sha256], row)]
    for item_id in closed:
        own = pending & (review_items.c.item_id == item_id)
        connection.execute(update(review_items).where(own).values(status=ReviewStatus.SUPERSEDED.value))


def _covers(newer: ReviewItem, row: Any) -> bool:
    cited = {item.id for item in newer.evidence_items}
    return newer.id != row.item_id and cited.issuperset(json.loads(row.evidence_ids))


def _trim_reports(connection: Connection, project: str) -> None:
    newest = select(runs.c.number).where(runs.c.project_id == project).order_by(runs.c.number.desc())
    last_kept = connection.execute(newest.offset(REPORTS_KEPT - 1).limit(1)).scalar()
    if last_kept is not None:
        old = (runs.c.project_id == project) & (runs.c.number < last_kept) & (runs.c.report != "{}")
        connection.execute(update(runs).where(old).values(report="{}"))


def _run(entry: LedgerEntry) -> Row:
    return {
        "project_id": entry.project,
        "run_id": entry.run_id,
        "state": entry.state.value,
        "engine": entry.engine,
        "started_at": instant(entry.started_at),
        "finished_at": instant(entry.finished_at),
        "seeded": entry.seeded,
        "floor": json.dumps(entry.floor),
        "pages_landed": len(entry.pages),
        "counts": _json(entry.counts),
        "report": _json(entry.report),
        "entry_digest": entry.fingerprint,
    }


def _evidence(entry: LedgerEntry) -> Iterable[Row]:
    for item in entry.evidence:
        yield _owned(entry) | {
            "evidence_id": item.id,
            "kind": item.kind.value,
            "outcome": item.outcome.value,
            "reason": item.reason,
            "content": item.content,
            "turn_keys": item.packed_turn_keys,
            "mode": item.mode.value if item.mode else None,
            "tainted_by": item.tainted_by,
        }


def _findings(entry: LedgerEntry) -> Iterable[Row]:
    left = {finding.id: finding for finding in entry.pending}
    for finding_id, finding in left.items():
        yield _owned(entry) | {
            "finding_id": finding_id,
            "state": PENDING,
            "evidence_ids": json.dumps(finding.evidence_ids),
            "payload": dump(finding),
        }
    for finding_id in dict.fromkeys(entry.taken):
        if finding_id not in left:
            yield _owned(entry) | {"finding_id": finding_id, "state": TAKEN, "evidence_ids": "[]", "payload": ""}


def _episodes(entry: LedgerEntry) -> Iterable[Row]:
    for episode in entry.episodes:
        yield _owned(entry) | {"evidence_id": episode.id, "payload": dump(episode)}


def _pages(entry: LedgerEntry) -> Iterable[Row]:
    for page in entry.pages:
        yield _owned(entry) | {
            "path": page.path,
            "action": page.action,
            "sources": json.dumps([source.model_dump(mode="json") for source in page.sources]),
        }


def _reflexions(entry: LedgerEntry) -> Iterable[Row]:
    for reflexion in entry.reflexions:
        yield _owned(entry) | reflexion_row(reflexion)


def reflexion_row(reflexion: Reflexion) -> Row:
    """The columns of a reflexion that are its own."""
    return {
        "reflexion_id": reflexion.id,
        "domain": reflexion.domain,
        "origin": reflexion.origin.value,
        "evidence": reflexion.evidence.value,
        "learnable": reflexion.learnable,
        "processed": reflexion.is_processed,
        "dropped": reflexion.dropped_at is not None,
        "created_at": str(reflexion.created_at),
        "payload": dump(reflexion),
    }


def _review_items(entry: LedgerEntry) -> Iterable[Row]:
    for item in entry.review_items:
        yield _owned(entry) | item_row(item)


def item_row(item: ReviewItem) -> Row:
    """The columns of a review item that are its own."""
    return {
        "item_id": item.id,
        "status": item.status.value,
        "claim_sha256": item.claim_sha256,
        "evidence_ids": json.dumps(sorted({cited.id for cited in item.evidence_items})),
        "created_at": instant(item.created_at),
        "payload": dump(item),
    }


def _calls(entry: LedgerEntry) -> Iterable[Row]:
    for call in entry.calls:
        yield _owned(entry) | {
            "call_id": call.id,
            "model": call.model,
            "input_tokens": call.input_tokens,
            "output_tokens": call.output_tokens,
            "usd": call.usd,
        }


def _owned(entry: LedgerEntry) -> Row:
    return {"project_id": entry.project, "run_id": entry.run_id}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def instant(at: datetime | None) -> str:
    """ISO 8601 in UTC, which sorts as text; empty where there is none."""
    return "" if at is None else at.astimezone(UTC).isoformat(timespec="microseconds")
