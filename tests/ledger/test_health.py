"""The history of lint as the ledger keeps it, on SQLite and on PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflect.ledger import health
from reflect.ledger.health import CountRow, ExpectedRow, FoundRow, LintRow, LintState
from reflect.ledger.ledger import Ledger
from reflect.ledger.rebuild import WikiSources
from tests.ledger.entries import OTHER, PROJECT

EVER = ""
BROKEN = FoundRow(
    "broken-related", "error", "decisions/a.md", "`decisions/b-1.md` does not exist.", 7, "A <b>title</b>"
)
STALE = FoundRow("stale", "warning", "decisions/a.md", "Nothing was said on it for 40 days; “Week 3” counts 30.", 3)


def at(day: int) -> str:
    return f"2026-01-{day:02}T04:00:00+00:00"


def linted(ledger: Ledger, day: int, *found: FoundRow, project: str = PROJECT, **told: object) -> LintRow:
    lint = replace(LintRow(project, f"night-{day}", at(day), by_status={"active": 3}), **told)  # type: ignore[arg-type]
    ledger.record_lint(lint, found)
    return lint


def first_seen(ledger: Ledger) -> dict[str, str]:
    return {row.found.code: row.first_seen for row in ledger.lint_history([PROJECT], EVER).findings}


def test_a_finding_keeps_the_day_it_was_first_seen_while_its_line_and_its_age_move(ledger: Ledger) -> None:
    linted(ledger, 1, BROKEN, STALE)
    older = replace(STALE, line=9, detail=STALE.detail.replace("40", "41"))
    linted(ledger, 2, replace(BROKEN, line=8, title="Renamed"), older)
    found = {row.found.code: row for row in ledger.lint_history([PROJECT], EVER).findings}
    assert {code: row.first_seen for code, row in found.items()} == {"broken-related": at(1), "stale": at(1)}
    assert (found["stale"].found, found["broken-related"].found.title) == (older, "Renamed")


def test_what_is_named_between_quotes_tells_findings_apart(ledger: Ledger) -> None:
    linted(ledger, 1, BROKEN)
    linted(ledger, 2, replace(BROKEN, detail="`decisions/b-2.md` does not exist."))
    assert first_seen(ledger) == {"broken-related": at(2)}
    assert [(row.appeared, row.gone) for row in ledger.lint_history([PROJECT], EVER).counts] == [(0, 0), (1, 1)]


def test_the_same_said_twice_of_a_page_is_two_findings(ledger: Ledger) -> None:
    linted(ledger, 1, STALE, replace(STALE, line=8))
    linted(ledger, 2, STALE)
    history = ledger.lint_history([PROJECT], EVER)
    assert [row.found for row in history.findings] == [STALE]
    assert [(row.warnings, row.gone) for row in history.counts] == [(2, 0), (1, 1)]


def test_a_finding_that_comes_back_is_as_old_as_its_return(ledger: Ledger) -> None:
    for day, found in ((1, [BROKEN]), (2, []), (3, [BROKEN])):
        linted(ledger, day, *found)
    assert first_seen(ledger) == {"broken-related": at(3)}


def test_lints_of_one_second_follow_one_another(ledger: Ledger) -> None:
    for number, found in enumerate([[BROKEN], [], [BROKEN]]):
        linted(ledger, 1, *found, lint_id=f"by-hand-{number}")
    assert first_seen(ledger) == {"broken-related": at(1)}


def test_a_wiki_that_could_not_be_checked_keeps_what_was_known_of_it(ledger: Ledger) -> None:
    expected = (ExpectedRow("safe_path", "A page has a safe path.", (("decisions/a.md", "it has none"),)),)
    first = linted(ledger, 1, BROKEN, by_category={"decisions": 3, "gotchas": 0}, expected=expected, notes=("shallow",))
    failed = linted(ledger, 2, state=LintState.UNREAD, reason="the disk is gone", by_status={})
    history = ledger.lint_history([PROJECT, OTHER], EVER)
    assert (history.linted, history.newest) == ({PROJECT: first}, {PROJECT: failed})
    assert history.findings[0].found == BROKEN


def test_expectations_that_nobody_checked_are_told_from_those_that_held(ledger: Ledger) -> None:
    linted(ledger, 1, project=PROJECT)
    linted(ledger, 1, project=OTHER, expected=())
    told = ledger.lint_history([PROJECT, OTHER], EVER).linted
    assert (told[PROJECT].expected, told[OTHER].expected) == (None, ())


def test_a_project_sees_nothing_of_another(ledger: Ledger) -> None:
    linted(ledger, 1, BROKEN, project=OTHER)
    linted(ledger, 2, STALE, project=PROJECT)
    linted(ledger, 3, project=OTHER)
    history = ledger.lint_history([PROJECT], EVER)
    assert [row.found for row in history.findings] == [STALE]
    assert history.counts == (CountRow(PROJECT, "night-2", at(2), "linted", 3, 0, 1, 0, 0, 0),)


def test_hazard_112_counts_outlive_details_and_both_are_forgotten_in_the_end(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "KEPT", 3)
    linted(ledger, 1, BROKEN)
    linted(ledger, 2, notes=("of the second",))
    for day in (3, 4, 5, 6):
        linted(ledger, day, state=LintState.UNREAD, reason="gone", by_status={})
    history = ledger.lint_history([PROJECT], EVER)
    assert [row.lint_id for row in history.counts] == ["night-2", "night-4", "night-5", "night-6"]
    assert history.linted[PROJECT].notes == ("of the second",)
    assert [row.lint_id for row in ledger.lint_history([PROJECT], at(5)).counts] == ["night-5", "night-6"]


def test_text_of_any_characters_comes_back(ledger: Ledger) -> None:
    odd = FoundRow(
        "stale", "warning", "notes/\u202emd.sj.md", "<script>\x00 \ud800 🦜 שלום", 1, "😀 <script>alert(1)</script>"
    )
    linted(ledger, 1, odd, expected=(ExpectedRow("x", "y", (("notes/🦜.md", "\x00 is no day"),)),))
    history = ledger.lint_history([PROJECT], EVER)
    assert history.findings[0].found == odd
    assert history.linted[PROJECT].expected == (ExpectedRow("x", "y", (("notes/🦜.md", "\x00 is no day"),)),)


def test_a_rebuild_touches_no_history_and_makes_none(ledger: Ledger) -> None:
    linted(ledger, 1, BROKEN)
    before = ledger.lint_history([PROJECT, OTHER], EVER)
    for project in (PROJECT, OTHER):
        ledger.rebuild(WikiSources(project=project, pages=(), landed_runs=(), known={}))
    assert ledger.lint_history([PROJECT, OTHER], EVER) == before
