"""Histories of lint to report on: organisations of any size, always the same, with the words of real checks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from reflect.health.frames import Member, Subject
from reflect.ledger.health import CountRow, ExpectedRow, FoundRow, LintHistory, LintRow, LintState, OpenRow
from reflect.lint.catalogue import CHECKS
from reflect.lint.finding import Severity

NOW = datetime(2026, 11, 30, 4, 15, tzinfo=UTC)
CATEGORIES = ("decisions", "gotchas", "preferences", "pitfalls", "guides", "retries", "open-work", "vocabulary")
EXPECTED = {
    "frontmatter_parses": "Any YAML reader can read the page's frontmatter.",
    "one_frontmatter_block": "A page has one frontmatter block, at its beginning.",
    "related_pages_exist": "`related` names only pages that exist.",
    "statements_cited": "Where citations are required, every list item and quote line has one.",
    "dates_are_days": "`created` and `updated` are days, in that order.",
    "no_secret": "Nothing that looks like a secret stands on a page.",
}
_TRADES = ("billing", "checkout", "ledger", "search", "stock", "mail", "login", "fleet", "orders", "tariffs", "maps")
_PARTS = ("api", "web", "worker", "cli", "sdk", "jobs", "gateway", "reports", "admin", "sync", "models")
_SUBJECTS = ("retry-cap", "time-zones", "rounding", "cache-keys", "idempotency", "feature-flags", "schema", "paging")


def organisation(size: int, nights: int = 30) -> Subject:
    """An organisation of `size` projects with so many nights behind it. Of a large one some wikis are unread."""
    chance = random.Random(size)
    names = [f"{trade}-{part}" for part in _PARTS for trade in _TRADES]
    names += [f"{name}-{number}" for number in range(2, 9) for name in names]
    teams = ("harbour", "pier", "quay")
    members = [Member(name, tags=(teams[number % 3],), night="done") for number, name in enumerate(names[:size])]
    rows: list[CountRow] = []
    linted: dict[str, LintRow] = {}
    newest: dict[str, LintRow] = {}
    findings: list[OpenRow] = []
    for number, member in enumerate(members):
        if size > 10 and number % 67 == 66:
            continue  # never linted
        unread = size > 10 and number % 41 == 40
        ends = nights - (chance.randint(1, 6) if unread else 0)
        found = _found(chance, member.project, ends, nights)
        findings += found
        rows += _counts(chance, member.project, found, ends, nights)
        linted[member.project] = newest[member.project] = _lint(chance, member.project, found, ends, nights)
        if unread:
            reason = f"The repository of {member.project} is not on this machine; its wiki was not read."
            at = _at(nights, nights).isoformat()
            newest[member.project] = LintRow(member.project, _night(nights), at, state=LintState.UNREAD, reason=reason)
            members[number] = Member(member.project, tags=member.tags, night="failed")
    rows.sort(key=lambda row: row.linted_at)
    return Subject("Harbour Goods", tuple(members), NOW, LintHistory(tuple(rows), linted, newest, tuple(findings)))


def _night(number: int) -> str:
    return f"night-{number:03}"


def _at(number: int, nights: int) -> datetime:
    return NOW - timedelta(days=nights - number, minutes=9)


def _found(chance: random.Random, project: str, ends: int, nights: int) -> list[OpenRow]:
    weights = {Severity.ERROR: 1, Severity.WARNING: 3, Severity.HINT: 2}
    amount = int(chance.paretovariate(1.1) * 4) % 120
    found = []
    for number in range(amount):
        (check,) = chance.choices(CHECKS, [weights[check.severity] for check in CHECKS])
        subject, category = chance.choice(_SUBJECTS), chance.choice(CATEGORIES)
        seen = ends - min(int(chance.expovariate(1 / 11)), ends - 1)
        row = FoundRow(
            code=check.code,
            severity=check.severity.value,
            path=f"{category}/{subject}-{number}.md",
            detail=check.explanation,
            line=chance.randint(1, 90),
            title=f"{subject.replace('-', ' ').capitalize()} of {project}",
            fixable=bool(check.fix),
        )
        found.append(OpenRow(project, _at(seen, nights).isoformat(), row))
    return found


def _counts(chance: random.Random, project: str, found: Sequence[OpenRow], ends: int, nights: int) -> list[CountRow]:
    """What each night counted: what is open now as it came, and beside it what has been mended since."""
    rows = []
    pages = chance.randint(4, 30)
    mended = chance.randint(4, 22)
    for night in range(1, ends + 1):
        at = _at(night, nights).isoformat()
        here = [row.found.severity for row in found if row.first_seen <= at]
        left = max(mended - night * 2 // 3, 0)
        gone = max(mended - (night - 1) * 2 // 3, 0) - left
        new = sum(row.first_seen == at for row in found) if night > 1 else 0
        errors, warnings, hints = (here.count(severity.value) for severity in Severity)
        rows.append(
            CountRow(
                project, _night(night), at, "linted", pages + night // 3, errors, warnings + left, hints, new, gone
            )
        )
    return rows


def _lint(chance: random.Random, project: str, found: Sequence[OpenRow], ends: int, nights: int) -> LintRow:
    paths = [row.found.path for row in found]
    expected = [
        ExpectedRow(name, expects, tuple((path, "it does not") for path in paths[:: 5 + number] if number % 2))
        for number, (name, expects) in enumerate(EXPECTED.items())
    ]
    by_category = {category: chance.randint(0, 9) for category in CATEGORIES}
    active = sum(by_category.values())
    return LintRow(
        project,
        _night(ends),
        _at(ends, nights).isoformat(),
        by_status={"active": active, "archived": active // 5, "open": 1, "resolved": chance.randint(0, 3)},
        by_category=by_category,
        expected=tuple(expected),
    )
