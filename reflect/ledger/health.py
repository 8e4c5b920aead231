"""What lint found in each wiki, time after time: the history behind an organisation's report.

How many findings there were stays for as long as the lint is remembered. A finding itself is one row from the day it
was first seen to the day it was gone, so that a year of nights costs what changed and not what stayed. The history is
no part of a wiki: a ledger that is lost takes it along, and ages begin anew with the next lint.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from reflect.ledger.recording import CHUNK, lock_project
from reflect.ledger.tables import lint_findings, lint_runs
from reflect.model import digest

KEPT = 400
"""Lints of a project that are remembered: more than a year of nights."""

_NUMBER = re.compile(r"(?<!\w)\d+(?!\w)")
_NAMED = re.compile(r"(`[^`]*`|“[^”]*”)")


class LintState(StrEnum):
    LINTED = "linted"
    UNREAD = "unread"  # the wiki could not be checked, and the reason says why


@dataclass(frozen=True, slots=True)
class FoundRow:
    """One finding as it was last seen. `title` is its page's; both are empty for the wiki as a whole."""

    code: str
    severity: str
    path: str
    detail: str
    line: int = 0
    title: str = ""
    fixable: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """What one expectation said of a wiki's pages: those that break it, each with the reason in words."""

    name: str
    expects: str
    broken: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LintRow:
    """One lint of one wiki; `lint_id` is shared by all wikis that were linted together.

    `by_status` counts pages, `by_category` active ones, with 0 for a category that the format asks for. `expected` is
    None where the pages were not put before the expectations, and empty where there was no page. `notes` say what could
    not be checked. `linted_at` is ISO 8601 in UTC.
    """

    project_id: str
    lint_id: str
    linted_at: str
    state: LintState = LintState.LINTED
    reason: str = ""
    by_status: Mapping[str, int] = field(default_factory=dict)
    by_category: Mapping[str, int] = field(default_factory=dict)
    expected: tuple[ExpectedRow, ...] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CountRow:
    """How many findings one lint had, and how many of them came and went since the lint before it.

    The first lint of a wiki has nothing before it: there everything was found and nothing came.
    """

    project_id: str
    lint_id: str
    linted_at: str
    state: str
    pages: int
    errors: int
    warnings: int
    hints: int
    appeared: int
    gone: int


@dataclass(frozen=True, slots=True)
class OpenRow:
    """A finding that the newest lint of its project still had; `first_seen` is ISO 8601 in UTC."""

    project_id: str
    first_seen: str
    found: FoundRow


@dataclass(frozen=True, slots=True)
class LintHistory:
    """Of some projects: the counts of their lints, oldest first; the newest lint that came to its end and the newest of
    all, by project, of which a project that was never linted has none; and what is open, by project and path."""

    counts: tuple[CountRow, ...] = ()
    linted: Mapping[str, LintRow] = field(default_factory=dict)
    newest: Mapping[str, LintRow] = field(default_factory=dict)
    findings: tuple[OpenRow, ...] = ()


def record(connection: Connection, lint: LintRow, found: Iterable[FoundRow] = ()) -> None:
    """Add one lint to the history. A wiki that could not be checked says nothing of its findings: they stay."""
    lock_project(connection, lint.project_id)
    rows = tuple(found)
    appeared = gone = 0
    if lint.state is LintState.LINTED:
        is_first = _newest(connection, lint.project_id) is None
        appeared, gone = _follow(connection, lint, rows)
        appeared = 0 if is_first else appeared
        _empty_details(connection, lint.project_id)
    severities = Counter(row.severity for row in rows)
    values = {
        "project_id": lint.project_id,
        "lint_id": lint.lint_id,
        "linted_at": lint.linted_at,
        "state": lint.state.value,
        "reason": lint.reason,
        "pages": sum(lint.by_status.values()),
        "errors": severities["error"],
        "warnings": severities["warning"],
        "hints": severities["hint"],
        "appeared": appeared,
        "gone": gone,
        "details": _dump(lint),
    }
    connection.execute(delete(lint_runs).where(*_is(lint.project_id), lint_runs.c.lint_id == lint.lint_id))
    connection.execute(insert(lint_runs), values)
    _forget_old(connection, lint.project_id)


def history(connection: Connection, projects: Sequence[str], since: str) -> LintHistory:
    """Everything the ledger knows of the lints of `projects`; the counts of those since `since` (ISO 8601 in UTC)."""
    return LintHistory(
        counts=_counts(connection, projects, since),
        linted=_newest_of(connection, projects, lint_runs.c.state == LintState.LINTED.value),
        newest=_newest_of(connection, projects),
        findings=_open_findings(connection, projects),
    )


def _counts(connection: Connection, projects: Sequence[str], since: str) -> tuple[CountRow, ...]:
    columns = [lint_runs.c[name] for name in CountRow.__dataclass_fields__]
    query = select(*columns).where(lint_runs.c.project_id.in_(projects), lint_runs.c.linted_at >= since)
    found = connection.execute(query.order_by(lint_runs.c.linted_at, lint_runs.c.number))
    return tuple(CountRow(*row) for row in found)


def _newest_of(connection: Connection, projects: Sequence[str], *where: ColumnElement[bool]) -> dict[str, LintRow]:
    last = select(func.max(lint_runs.c.number)).where(lint_runs.c.project_id.in_(projects), *where)
    found = connection.execute(select(lint_runs).where(lint_runs.c.number.in_(last.group_by(lint_runs.c.project_id))))
    return {row.project_id: _load(row) for row in found}


def _open_findings(connection: Connection, projects: Sequence[str]) -> tuple[OpenRow, ...]:
    table = lint_findings.c
    query = (
        select(table.project_id, table.first_seen, *(table[name] for name in FoundRow.__dataclass_fields__))
        .where(table.project_id.in_(projects), table.gone_at == "")
        .order_by(table.project_id, table.path, table.code, table.line)
    )
    return tuple(OpenRow(row[0], row[1], FoundRow(*row[2:])) for row in connection.execute(query))


def _follow(connection: Connection, lint: LintRow, found: Sequence[FoundRow]) -> tuple[int, int]:
    """Open what is new, close what is gone, and bring the rest up to date; how many came and how many went."""
    is_open = (lint_findings.c.project_id == lint.project_id) & (lint_findings.c.gone_at == "")
    names = tuple(FoundRow.__dataclass_fields__)
    columns = [lint_findings.c.finding_id, *(lint_findings.c[name] for name in names)]
    before = {row[0]: FoundRow(*row[1:]) for row in connection.execute(select(*columns).where(is_open))}
    now = dict(_identified(found))
    came = [_found_values(lint, finding_id, now[finding_id]) for finding_id in now.keys() - before.keys()]
    went = sorted(before.keys() - now.keys())
    for start in range(0, len(came), CHUNK):
        _open(connection, lint, came[start : start + CHUNK])
    for start in range(0, len(went), CHUNK):
        closed = lint_findings.c.finding_id.in_(went[start : start + CHUNK])
        connection.execute(update(lint_findings).where(is_open, closed).values(gone_at=lint.linted_at))
    for finding_id in now.keys() & before.keys():
        if now[finding_id] != before[finding_id]:
            one = update(lint_findings).where(is_open, lint_findings.c.finding_id == finding_id)
            connection.execute(one.values({name: getattr(now[finding_id], name) for name in names}))
    return len(came), len(went)


def _open(connection: Connection, lint: LintRow, rows: Sequence[dict[str, Any]]) -> None:
    """Insert `rows`, in place of those that an earlier lint of the same second opened and one since then closed."""
    ids = lint_findings.c.finding_id.in_([row["finding_id"] for row in rows])
    same = (lint_findings.c.project_id == lint.project_id) & (lint_findings.c.first_seen == lint.linted_at)
    connection.execute(delete(lint_findings).where(same, ids))
    connection.execute(insert(lint_findings), list(rows))


def _found_values(lint: LintRow, finding_id: str, row: FoundRow) -> dict[str, Any]:
    told = {name: getattr(row, name) for name in FoundRow.__dataclass_fields__}
    key = {"project_id": lint.project_id, "finding_id": finding_id, "first_seen": lint.linted_at}
    return key | {"gone_at": ""} | told


def _identified(found: Iterable[FoundRow]) -> Iterator[tuple[str, FoundRow]]:
    """Each finding with what it is called from one lint to the next: its check, its page and what it names.

    A line moves and an age grows, and neither makes a finding another one; of several that say the same on one page,
    each is the first, second and so on.
    """
    said: Counter[tuple[str, str, str]] = Counter()
    for row in sorted(found, key=lambda row: (row.path, row.code, row.line, row.detail)):
        key = (row.code, row.path, _without_numbers(row.detail))
        said[key] += 1
        yield digest(*key, said[key]), row


def _without_numbers(detail: str) -> str:
    """`detail` without counts, days and lines; what it names between quotes stays as it is."""
    parts = _NAMED.split(detail)
    return "".join(part if number % 2 else _NUMBER.sub("", part) for number, part in enumerate(parts))


def _dump(lint: LintRow) -> str:
    if lint.state is not LintState.LINTED:
        return "{}"
    expected = None if lint.expected is None else [[one.name, one.expects, one.broken] for one in lint.expected]
    told = {
        "by_status": dict(lint.by_status),
        "by_category": dict(lint.by_category),
        "expected": expected,
        "notes": lint.notes,
    }
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def _load(row: Any) -> LintRow:
    told = json.loads(row.details)
    expected = told.get("expected")
    return LintRow(
        project_id=row.project_id,
        lint_id=row.lint_id,
        linted_at=row.linted_at,
        state=LintState(row.state),
        reason=row.reason,
        by_status=told.get("by_status", {}),
        by_category=told.get("by_category", {}),
        expected=None if expected is None else tuple(_expected(*one) for one in expected),
        notes=tuple(told.get("notes", ())),
    )


def _expected(name: str, expects: str, broken: Iterable[Sequence[str]]) -> ExpectedRow:
    return ExpectedRow(name, expects, tuple((path, reason) for path, reason in broken))


def _empty_details(connection: Connection, project: str) -> None:
    """Only the newest lint is told in full; of older ones the counts stay."""
    told = lint_runs.c.details != "{}"
    connection.execute(update(lint_runs).where(*_is(project), told).values(details="{}"))


def _newest(connection: Connection, project: str) -> int | None:
    linted = lint_runs.c.state == LintState.LINTED.value
    return connection.execute(select(func.max(lint_runs.c.number)).where(*_is(project), linted)).scalar()


def _forget_old(connection: Connection, project: str) -> None:
    """Drop what is older than the last lints, but never the newest one that says anything."""
    order = select(lint_runs.c.number, lint_runs.c.linted_at).where(*_is(project)).order_by(lint_runs.c.number.desc())
    last_kept = connection.execute(order.offset(KEPT - 1).limit(1)).one_or_none()
    if last_kept is None:
        return
    said = _newest(connection, project)
    old = [*_is(project), lint_runs.c.number < last_kept.number, lint_runs.c.number != (said or 0)]
    connection.execute(delete(lint_runs).where(*old))
    past = (lint_findings.c.gone_at != "") & (lint_findings.c.gone_at < last_kept.linted_at)
    connection.execute(delete(lint_findings).where(lint_findings.c.project_id == project, past))


def _is(project: str) -> tuple[ColumnElement[bool], ...]:
    return (lint_runs.c.project_id == project,)
