"""Questions to the ledger, each about one project.

Which runs count depends on the wiki that asks: a run that landed pages counts while the run its rows are anchored to
stands in that wiki's log, one that landed none always does, and a failed one never.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, ValidationError
from sqlalchemy import ColumnElement, Connection, Row, func, select

from reflect.ledger.entry import RunState, unpack
from reflect.ledger.loading import loaded
from reflect.ledger.recording import PENDING
from reflect.ledger.tables import episodes, evidence, findings, pages, reflexions, review_items, runs, spend
from reflect.ledger.text import load
from reflect.model import CommitSha, EvidenceId, EvidenceKind, EvidenceMode, Finding, Outcome, Value
from reflect.scope.context import EpisodeScope
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import OPEN, ReviewStatus


@dataclass(frozen=True, slots=True)
class SeenRows:
    """What is settled: content by evidence, the 8-byte keys of every turn taken, and where the seed window ended.

    `first_run` is True until a run that opened a seed window counts.
    """

    contents: dict[EvidenceId, str] = field(default_factory=dict)
    turn_keys: frozenset[bytes] = frozenset()
    floor: tuple[CommitSha, ...] = ()
    first_run: bool = True


class RunSummary(Value):
    """One run, as the ledger keeps it. Times are ISO 8601 in UTC, empty where unknown."""

    run_id: str
    engine: str
    state: RunState
    started_at: str
    finished_at: str
    pages_landed: int
    rebuilt: bool
    counts: dict[str, int] = Field(default_factory=dict)
    report: dict[str, Any] = Field(default_factory=dict)


class Spent(Value):
    usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0


class Account(Value):
    """How one piece of evidence ended, by the newest run that says so; `mode` is what an engine was shown of it."""

    kind: EvidenceKind
    outcome: Outcome
    reason: str
    mode: EvidenceMode | None
    tainted_by: str
    run_id: str


class LedgerCounts(Value):
    """What `reflect status` shows of one project.

    `evidence` counts by kind and outcome, `taught` sessions by what an engine was shown of them (`full`, `user_turns`),
    `tainted_by` what narrowed it. `review` counts items by status.
    """

    project: str
    runs: int = 0
    last_run: RunSummary | None = None
    evidence: dict[str, dict[str, int]] = Field(default_factory=dict)
    taught: dict[str, int] = Field(default_factory=dict)
    tainted_by: dict[str, int] = Field(default_factory=dict)
    pending_findings: int = 0
    pages: int = 0
    reflexions: int = 0
    learnable: int = 0
    dropped: int = 0
    review: dict[str, int] = Field(default_factory=dict)
    spend: Spent = Spent()


def seen(connection: Connection, project: str, landed_runs: Collection[str] | None) -> SeenRows:
    counted = counted_runs(connection, project, landed_runs)
    lost = _waiting(connection, project, counted).unreadable
    contents: dict[EvidenceId, str] = {}
    keys: set[bytes] = set()
    for row in _in_order(connection, project, evidence, counted):
        if row.evidence_id in lost:
            continue
        if row.content is not None:
            contents[EvidenceId(row.evidence_id)] = row.content
        keys.update(unpack(row.turn_keys))
    floor = dict.fromkeys(CommitSha(sha) for run in counted.values() for sha in json.loads(run.floor))
    seeded = any(run.seeded for run in counted.values())
    return SeenRows(contents, frozenset(keys), tuple(sorted(floor)), first_run=not seeded)


def accounts(connection: Connection, project: str, landed_runs: Collection[str] | None) -> dict[str, Account]:
    counted = counted_runs(connection, project, landed_runs)
    rows = {row.evidence_id: row for row in _in_order(connection, project, evidence, counted)}
    return {name: Account.model_validate(row, from_attributes=True) for name, row in sorted(rows.items())}


def pending_findings(connection: Connection, project: str, landed_runs: Collection[str] | None) -> tuple[Finding, ...]:
    """Findings a run left and no later one took up, ordered by id.

    One that this version cannot read is left out, and `seen` leaves out its evidence, which is so read again.
    """
    return _waiting(connection, project, counted_runs(connection, project, landed_runs)).findings


def pending_episodes(
    connection: Connection, project: str, landed_runs: Collection[str] | None
) -> tuple[EpisodeScope, ...]:
    """What scope knows of the evidence of the findings that wait, ordered by id; the newest word on each."""
    counted = counted_runs(connection, project, landed_runs)
    wanted = {name for finding in _waiting(connection, project, counted).findings for name in finding.evidence_ids}
    last = {row.evidence_id: row for row in _in_order(connection, project, episodes, counted)}
    return tuple(loaded(EpisodeScope, name, last[name].payload) for name in sorted(wanted & last.keys()))


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The findings that wait, and the evidence of those that another version wrote and this one cannot read."""

    findings: tuple[Finding, ...]
    unreadable: frozenset[str]


def _waiting(connection: Connection, project: str, counted: dict[str, Row[Any]]) -> _Waiting:
    last = {row.finding_id: row for row in _in_order(connection, project, findings, counted)}
    readable: list[Finding] = []
    unreadable: set[str] = set()
    for _, row in sorted(last.items()):
        if row.state != PENDING:
            continue
        try:
            readable.append(load(Finding, row.payload))
        except ValidationError:
            unreadable.update(json.loads(row.evidence_ids))
    return _Waiting(tuple(readable), frozenset(unreadable))


def counted_runs(connection: Connection, project: str, landed_runs: Collection[str] | None) -> dict[str, Row[Any]]:
    """The runs that count for a wiki whose log names `landed_runs` (None: for any), oldest first, by id."""
    query = select(runs).where(runs.c.project_id == project, runs.c.state != RunState.FAILED).order_by(runs.c.number)
    landed = None if landed_runs is None else frozenset(landed_runs)
    rows = connection.execute(query)
    return {row.run_id: row for row in rows if landed is None or row.anchor is None or row.anchor in landed}


def waiting_claims(connection: Connection, project: str) -> int:
    waits = (review_items.c.project_id == project) & review_items.c.status.in_(sorted(status.value for status in OPEN))
    return connection.execute(select(func.count()).select_from(review_items).where(waits)).scalar_one()


def item_statuses(connection: Connection, project: str) -> dict[str, ReviewStatus]:
    query = select(review_items.c.item_id, review_items.c.status).where(_of(review_items, project))
    return {row.item_id: ReviewStatus(row.status) for row in connection.execute(query)}


def oldest_waiting(connection: Connection, project: str) -> str | None:
    waits = _of(review_items, project) & review_items.c.status.in_(sorted(OPEN))
    return connection.execute(select(func.min(review_items.c.created_at)).where(waits)).scalar()


def reflexion(connection: Connection, project: str, reflexion_id: str) -> Reflexion | None:
    query = select(reflexions.c.payload).where(_of(reflexions, project), reflexions.c.reflexion_id == reflexion_id)
    payload = connection.execute(query).scalar_one_or_none()
    return None if payload is None else loaded(Reflexion, reflexion_id, payload)


def all_reflexions(connection: Connection, project: str) -> tuple[Reflexion, ...]:
    query = select(reflexions.c.reflexion_id, reflexions.c.payload).where(_of(reflexions, project))
    query = query.order_by(reflexions.c.created_at, reflexions.c.reflexion_id)
    return tuple(loaded(Reflexion, row.reflexion_id, row.payload) for row in connection.execute(query))


def last_run(connection: Connection, project: str) -> RunSummary | None:
    query = select(runs).where(_of(runs, project)).order_by(runs.c.number.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else _summary(row)


def run(connection: Connection, project: str, run_id: str) -> RunSummary | None:
    row = connection.execute(select(runs).where(_of(runs, project), runs.c.run_id == run_id)).one_or_none()
    return None if row is None else _summary(row)


def counts(connection: Connection, project: str, landed_runs: Collection[str] | None) -> LedgerCounts:
    counted = counted_runs(connection, project, landed_runs)
    last = {row.evidence_id: row for row in _in_order(connection, project, evidence, counted)}
    sessions = [row for row in last.values() if row.kind == EvidenceKind.SESSION]
    kept, learnable, dropped = _reflexion_counts(connection, project)
    return LedgerCounts(
        project=project,
        runs=len(counted),
        last_run=last_run(connection, project),
        evidence=_by_kind(last.values()),
        taught=_tally(row.mode for row in sessions if row.mode),
        tainted_by=_tally(row.tainted_by for row in sessions if row.tainted_by),
        pending_findings=len(pending_findings(connection, project, landed_runs)),
        pages=len({row.path for row in _in_order(connection, project, pages, counted)}),
        reflexions=kept,
        learnable=learnable,
        dropped=dropped,
        review=_review_counts(connection, project),
        spend=_spent(connection, project),
    )


def _in_order(connection: Connection, project: str, table: Any, counted: dict[str, Row[Any]]) -> Iterable[Row[Any]]:
    """The rows of `table` that the runs in `counted` own, in the order of the runs."""
    order = {run_id: number for number, run_id in enumerate(counted)}
    rows = [row for row in connection.execute(select(table).where(_of(table, project))) if row.run_id in order]
    return sorted(rows, key=lambda row: order[row.run_id])


def _of(table: Any, project: str) -> ColumnElement[bool]:
    own: ColumnElement[bool] = table.c.project_id == project
    return own


def _summary(row: Row[Any]) -> RunSummary:
    return RunSummary(
        run_id=row.run_id,
        engine=row.engine,
        state=row.state,
        started_at=row.started_at,
        finished_at=row.finished_at,
        pages_landed=row.pages_landed,
        rebuilt=row.rebuilt,
        counts=json.loads(row.counts),
        report=json.loads(row.report),
    )


def _by_kind(rows: Iterable[Row[Any]]) -> dict[str, dict[str, int]]:
    found = Counter((row.kind, row.outcome) for row in rows)
    kinds = sorted({kind for kind, _ in found})
    return {kind: _tally_of({outcome: n for (k, outcome), n in found.items() if k == kind}) for kind in kinds}


def _tally(values: Iterable[str]) -> dict[str, int]:
    return _tally_of(Counter(values))


def _tally_of(found: dict[str, int]) -> dict[str, int]:
    return dict(sorted(found.items()))


def _reflexion_counts(connection: Connection, project: str) -> Sequence[int]:
    flags = connection.execute(
        select(reflexions.c.learnable, reflexions.c.dropped).where(_of(reflexions, project))
    ).all()
    return len(flags), sum(row.learnable and not row.dropped for row in flags), sum(row.dropped for row in flags)


def _review_counts(connection: Connection, project: str) -> dict[str, int]:
    query = select(review_items.c.status, func.count().label("n")).where(_of(review_items, project))
    return _tally_of({row.status: row.n for row in connection.execute(query.group_by(review_items.c.status))})


def _spent(connection: Connection, project: str) -> Spent:
    names = ("usd", "input_tokens", "output_tokens")
    totals = [func.coalesce(func.sum(spend.c[name]), 0).label(name) for name in names]
    row = connection.execute(select(*totals, func.count().label("calls")).where(_of(spend, project))).one()
    return Spent.model_validate(dict(row._mapping))
