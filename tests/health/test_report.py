"""What the report says of a history that went through a real ledger, and the contract of its files."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reflect.errors import ReportError
from reflect.health.charts import figures
from reflect.health.document import LISTS, Age, HealthReport, Knowledge
from reflect.health.files import write_report
from reflect.health.frames import Member, Subject, report_of, tables
from reflect.health.words import markdown_of, rows_of
from reflect.ledger.health import ExpectedRow, FoundRow, LintRow, LintState
from reflect.ledger.ledger import Ledger
from tests.conftest import ROOT
from tests.health.histories import organisation
from tests.ledger.conftest import ledger, migrated_file, migrated_schema, postgresql

__all__ = ["ledger", "migrated_file", "migrated_schema", "postgresql"]

SCHEMA = ROOT / "docs" / "report.schema.json"
BROKEN = FoundRow("broken-related", "error", "ops/a.md", "`ops/b.md` does not exist.", 7, "Retries", fixable=True)
STALE = FoundRow("stale", "warning", "ops/a.md", "Nothing was said on it for 40 days.", 3, "Retries")
HINT = FoundRow("uncovered-category", "hint", "", "“Guides” has no active page.")
NOW = datetime.fromisoformat("2026-03-10T05:00:00+00:00")


def lint(ledger: Ledger, project: str, day: int, *found: FoundRow, **told: object) -> None:
    at = f"2026-03-{day:02}T04:00:00+00:00"
    row = LintRow(
        project, f"night-{day}", at, by_status={"active": 3, "archived": 1}, by_category={"ops": 3, "guides": 0}
    )
    ledger.record_lint(replace(row, **told), found)  # type: ignore[arg-type]


def report(ledger: Ledger, *projects: str | Member) -> HealthReport:
    members = tuple(one if isinstance(one, Member) else Member(one) for one in projects)
    history = ledger.lint_history([member.project for member in members], "")
    return report_of(Subject("harbour", members, NOW, history))


def unread(ledger: Ledger, project: str, day: int) -> None:
    lint(ledger, project, day, state=LintState.UNREAD, reason="the disk is gone", by_status={}, by_category={})


def test_projects_come_worst_first_and_what_nothing_is_known_of_last(ledger: Ledger) -> None:
    lint(ledger, "well", 9)
    lint(ledger, "bad", 9, BROKEN, STALE)
    lint(ledger, "worse", 9, BROKEN, replace(BROKEN, path="ops/c.md"))
    told = report(ledger, "new", "well", Member("asleep", is_awake=False), "bad", "worse").projects
    assert [(one.project, one.state.value, one.errors) for one in told] == [
        ("worse", "linted", 2),
        ("bad", "linted", 1),
        ("well", "linted", 0),
        ("asleep", "asleep", None),
        ("new", "not-linted", None),
    ]


def test_a_wiki_that_could_not_be_read_tonight_shows_what_was_known_and_from_when(ledger: Ledger) -> None:
    for day in (8, 9):
        lint(ledger, "shop", day, STALE)
    lint(ledger, "billing", 8, BROKEN)
    unread(ledger, "billing", 9)
    told = report(ledger, "billing", "shop")
    billing = told.projects[0]
    assert (billing.state, billing.reason, billing.errors) == (Knowledge.LAST_KNOWN, "the disk is gone", 1)
    assert billing.linted_at == datetime.fromisoformat("2026-03-08T04:00:00+00:00")
    assert [(one.errors, one.warnings, one.projects, one.carried) for one in told.nights] == [
        (1, 1, 2, 0),
        (1, 1, 2, 1),
    ]
    assert told.headline.endswith("; 1 could not be read by the last lint")


def test_a_project_that_the_last_lint_did_not_meet_is_not_told_as_of_now(ledger: Ledger) -> None:
    lint(ledger, "billing", 8)
    lint(ledger, "shop", 9)
    states = {one.project: (one.state, one.reason) for one in report(ledger, "billing", "shop").projects}
    assert states["billing"] == (Knowledge.LAST_KNOWN, "The last lint did not meet it.")
    assert states["shop"] == (Knowledge.LINTED, "")


def test_a_lint_that_goes_on_or_another_organisation_s_makes_nobody_else_old(ledger: Ledger) -> None:
    for project in ("billing", "infra", "shop"):
        lint(ledger, project, 8)
    lint(ledger, "shop", 9)
    assert {one.state for one in report(ledger, "billing", "infra", "shop").projects} == {Knowledge.LINTED}


def test_what_was_linted_before_the_nights_that_are_shown_is_still_told(ledger: Ledger) -> None:
    lint(ledger, "shop", 1, STALE)
    history = ledger.lint_history(["shop"], "2026-03-02")
    told = report_of(Subject("harbour", (Member("shop"),), NOW, history))
    assert (told.nights, told.projects[0].warnings) == ((), 1)
    assert [figure.id for figure in figures(told)] == ["ages", "worst", "pages", "codes", "coverage"]


def test_a_wiki_that_never_could_be_read_is_not_linted_and_says_why(ledger: Ledger) -> None:
    unread(ledger, "gone", 9)
    told = report(ledger, "gone")
    assert [(one.state, one.reason, one.pages) for one in told.projects] == [
        (Knowledge.NOT_LINTED, "the disk is gone", None)
    ]
    assert told.headline == "None of the projects has been linted yet."
    assert told.nights == ()


def test_ages_codes_coverage_and_expectations(ledger: Ledger) -> None:
    expected = (ExpectedRow("no_secret", "No secret."), ExpectedRow("dates", "Days.", (("ops/a.md", "no day"),)))
    lint(ledger, "shop", 1, STALE)
    lint(ledger, "shop", 9, STALE, BROKEN, HINT, expected=expected)
    lint(ledger, "billing", 9, HINT, expected=expected[:1])
    told = report(ledger, "billing", "shop")
    assert [(one.age, one.severity, one.findings) for one in told.ages] == [
        (Age.WEEK, "error", 1),
        (Age.WEEK, "hint", 2),
        (Age.MONTH, "warning", 1),
    ]
    assert [(one.code, one.findings, one.projects, one.pages, one.oldest_days) for one in told.codes] == [
        ("broken-related", 1, 1, 1, 1),
        ("stale", 1, 1, 1, 9),
        ("uncovered-category", 2, 2, 0, 1),
    ]
    assert [(one.category, one.projects, one.missing, one.pages) for one in told.categories] == [
        ("ops", 2, 0, 6),
        ("guides", 0, 2, 0),
    ]
    assert [(one.expectation, one.passed, one.broken, one.pages) for one in told.expectations] == [
        ("dates", 0, 1, 1),
        ("no_secret", 2, 0, 0),
    ]
    assert [(one.project, one.path, one.reason) for one in told.broken] == [("shop", "ops/a.md", "no day")]
    shop = told.projects[0]
    assert (shop.appeared, shop.gone, shop.oldest_days, shop.fixable, shop.pages) == (2, 0, 9, 1, 4)
    assert (shop.expectations, shop.expectations_broken) == (2, 1)


def test_a_project_that_was_put_to_sleep_or_left_says_nothing_any_more(ledger: Ledger) -> None:
    for project in ("shop", "left", "asleep"):
        lint(ledger, project, 9, BROKEN)
    told = report(ledger, "shop", Member("asleep", is_awake=False))
    assert {one.project for one in told.findings} == {one.project for one in told.coverage} == {"shop"}
    assert (told.nights[-1].errors, told.totals["errors"]) == (1, 1)


def test_no_secret_is_told(ledger: Ledger) -> None:
    key = "AKIA" + "Q3EGRNQ5K7J2LXTV"
    lint(ledger, "shop", 9, replace(BROKEN, path=f"ops/{key}.md", title=key), by_category={key: 1})
    lint(ledger, "shop", 10, state=LintState.UNREAD, reason=f"https://ada:{key}@host/x", by_status={}, by_category={})
    assert key not in json.dumps(report(ledger, "shop").as_json())


@pytest.mark.parametrize("size", [0, 3, 70])
def test_the_json_is_what_its_schema_says(size: int) -> None:
    told = json.loads(json.dumps(report_of(organisation(size)).as_json()))
    validator = Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    assert [error.message for error in validator.iter_errors(told)] == []
    assert [error.message for error in validator.iter_errors(told | {"version": 2})]


def test_the_schema_in_the_documents_is_the_code_s() -> None:
    assert json.loads(SCHEMA.read_text("utf-8")) == HealthReport.model_json_schema(mode="serialization")


def test_every_list_is_described_and_is_a_csv_file(tmp_path: Path) -> None:
    told = report_of(organisation(3))
    write_report(told, tmp_path)
    words = (ROOT / "docs" / "report.md").read_text("utf-8")
    for name in LISTS:
        rows = list(csv.DictReader(StringIO((tmp_path / f"{name}.csv").read_text("utf-8"))))
        assert len(rows) == len(getattr(told, name))
        assert f"`{name}`" in words
        for column in rows[0]:
            assert f"`{column}`" in words


def test_a_spreadsheet_computes_nothing(ledger: Ledger) -> None:
    lint(ledger, "shop", 9, replace(BROKEN, path="=cmd|'/c calc'!A1", title="+1", detail="@sum(a1)"))
    (row,) = csv.DictReader(StringIO(dict(tables(report(ledger, "shop")))["findings"]))
    assert (row["path"], row["title"], row["detail"]) == ("'=cmd|'/c calc'!A1", "'+1", "'@sum(a1)")


def test_markdown_holds_the_words_of_a_wiki_as_words(ledger: Ledger) -> None:
    lint(ledger, "shop", 9, BROKEN)
    unread(ledger, "shop", 10)
    told = report(ledger, "shop").model_copy(update={"organisation": "<b>|[x](y)"})
    assert "# Lint health: \\<b\\>\\|\\[x\\](y)" in markdown_of(told)
    assert rows_of(told)[0]["state"] == "last-known"
    assert "ops/a.md" not in markdown_of(told) + json.dumps(rows_of(told))


def test_a_report_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    page = write_report(report_of(organisation(0)), tmp_path)
    before = page.read_bytes()
    (tmp_path / "findings.csv").unlink()
    (tmp_path / "findings.csv").mkdir()
    with pytest.raises(ReportError, match=r"could not be written to .* what is there is as it was"):
        write_report(report_of(organisation(3)), tmp_path)
    assert page.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_text_that_no_file_can_hold_is_written_out(ledger: Ledger, tmp_path: Path) -> None:
    lint(ledger, "shop", 9, replace(BROKEN, title="half \ud800 a pair \x00"))
    write_report(report(ledger, "shop"), tmp_path)
    assert json.loads((tmp_path / "lint-health.json").read_text("utf-8"))["findings"][0]["title"].startswith("half")
    assert "half \\ud800 a pair" in (tmp_path / "findings.csv").read_text("utf-8")
