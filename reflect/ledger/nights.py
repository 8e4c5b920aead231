"""Nights of an organisation: begun before anything else, settled at the end, and asked who fails again and again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from reflect.ledger.tables import night_projects, nights

KEPT = 400
"""Nights that are remembered: more than a year of them."""

RUNNING = "running"
CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """What became of one project in one night; `payload` is the whole of it as JSON."""

    project_id: str
    state: str
    reason: str = ""
    payload: str = "{}"


@dataclass(frozen=True, slots=True)
class NightRow:
    """One night. `started_at` and `finished_at` are ISO 8601 in UTC; the second is empty while it runs."""

    organisation: str
    night_id: str
    state: str
    started_at: str
    finished_at: str = ""
    report: dict[str, Any] = field(default_factory=dict)


def begin(connection: Connection, organisation: str, night_id: str, started_at: str) -> None:
    """Note that a night has begun; once, however often it is said."""
    if _number(connection, organisation, night_id) is None:
        values = {"organisation": organisation, "night_id": night_id, "state": RUNNING, "report": "{}"}
        connection.execute(insert(nights), values | {"started_at": started_at, "finished_at": ""})
        _forget_old(connection, organisation)


def settle(connection: Connection, night: NightRow, projects: Iterable[ProjectRow]) -> None:
    """Write down what a night came to, in place of what was said of it before."""
    begin(connection, night.organisation, night.night_id, night.started_at)
    key = {"organisation": night.organisation, "night_id": night.night_id}
    report = json.dumps(night.report, ensure_ascii=False, sort_keys=True)
    values = {"state": night.state, "finished_at": night.finished_at, "report": report}
    connection.execute(update(nights).where(*_is(nights, key)).values(values))
    connection.execute(delete(night_projects).where(*_is(night_projects, key)))
    for one in projects:
        settle_project(connection, night.organisation, night.night_id, one)


def settle_project(connection: Connection, organisation: str, night_id: str, project: ProjectRow) -> None:
    """Write down what became of one project as soon as it is known, in place of what was said of it before."""
    key = {"organisation": organisation, "night_id": night_id, "project_id": project.project_id}
    connection.execute(delete(night_projects).where(*_is(night_projects, key)))
    values = {"state": project.state, "reason": project.reason, "payload": project.payload}
    connection.execute(insert(night_projects), key | values)


def project_rows(connection: Connection, organisation: str, night_id: str) -> tuple[ProjectRow, ...]:
    """What is known of the projects of one night, ordered by their ids."""
    key = {"organisation": organisation, "night_id": night_id}
    query = select(night_projects).where(*_is(night_projects, key)).order_by(night_projects.c.project_id)
    return tuple(ProjectRow(row.project_id, row.state, row.reason, row.payload) for row in connection.execute(query))


def give_up(connection: Connection, organisation: str, finished_at: str, *, but: str) -> tuple[str, ...]:
    """Close every night that still counts as running, `but` one; their ids."""
    running = (nights.c.organisation == organisation) & (nights.c.finished_at == "") & (nights.c.night_id != but)
    found = tuple(connection.execute(select(nights.c.night_id).where(running).order_by(nights.c.number)).scalars())
    connection.execute(update(nights).where(running).values(state=CRASHED, finished_at=finished_at))
    return found


def recent(connection: Connection, organisation: str, limit: int) -> tuple[NightRow, ...]:
    """The last `limit` nights, newest first."""
    query = select(nights).where(nights.c.organisation == organisation).order_by(nights.c.number.desc()).limit(limit)
    return tuple(
        NightRow(row.organisation, row.night_id, row.state, row.started_at, row.finished_at, json.loads(row.report))
        for row in connection.execute(query)
    )


def project_states(connection: Connection, organisation: str, limit: int) -> dict[str, tuple[str, ...]]:
    """Of each project, what became of it in the last `limit` settled nights, newest first."""
    settled = (nights.c.organisation == organisation) & (nights.c.finished_at != "")
    newest = select(nights.c.night_id).where(settled).order_by(nights.c.number.desc()).limit(limit).subquery()
    query = (
        select(night_projects.c.project_id, night_projects.c.state)
        .join(
            nights,
            (nights.c.organisation == night_projects.c.organisation) & (nights.c.night_id == night_projects.c.night_id),
        )
        .where(night_projects.c.organisation == organisation, nights.c.night_id.in_(select(newest.c.night_id)))
        .order_by(nights.c.number.desc(), night_projects.c.project_id)
    )
    found: dict[str, list[str]] = {}
    for row in connection.execute(query):
        found.setdefault(row.project_id, []).append(row.state)
    return {project: tuple(states) for project, states in found.items()}


def _number(connection: Connection, organisation: str, night_id: str) -> int | None:
    query = select(nights.c.number).where(nights.c.organisation == organisation, nights.c.night_id == night_id)
    return connection.execute(query).scalar()


def _forget_old(connection: Connection, organisation: str) -> None:
    newest = select(nights.c.number).where(nights.c.organisation == organisation).order_by(nights.c.number.desc())
    last_kept = connection.execute(newest.offset(KEPT - 1).limit(1)).scalar()
    if last_kept is None:
        return
    old = (nights.c.organisation == organisation) & (nights.c.number < last_kept)
    gone = select(nights.c.night_id).where(old)
    connection.execute(
        delete(night_projects).where(night_projects.c.organisation == organisation, night_projects.c.night_id.in_(gone))
    )
    connection.execute(delete(nights).where(old))


def _is(table: Any, key: dict[str, str]) -> tuple[Any, ...]:
    return tuple(table.c[name] == value for name, value in key.items())
