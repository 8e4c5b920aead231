"""What a night comes to, from what became of each project."""

from __future__ import annotations

import json

import pytest

from reflect.errors import RepositoryBusy, RepositoryError, TimeLimitReached
from reflect.model import Accounted, EvidenceKind, Outcome
from reflect.organisation.night import (
    NightReport,
    NightState,
    ProjectNight,
    ProjectState,
    Step,
    StepState,
    again_and_again,
    explained,
    failed_in_a_row,
    render_markdown,
    step_after,
)
from reflect.report import PageChange, RunReport, Spend

DONE, FAILED, UNCHANGED = ProjectState.DONE, ProjectState.FAILED, ProjectState.UNCHANGED
BUSY, SKIPPED, PARTLY, TIMED_OUT = (
    ProjectState.BUSY,
    ProjectState.SKIPPED,
    ProjectState.PARTLY,
    ProjectState.TIMED_OUT,
)


def night(*states: ProjectState, steps: tuple[Step, ...] = (), **more: object) -> NightReport:
    projects = tuple(ProjectNight(project=f"p{number}", state=state) for number, state in enumerate(states))
    return NightReport.model_validate(
        {"organisation": "harbour", "night": "n", "projects": projects, "steps": steps, **more}
    )


@pytest.mark.parametrize(
    ("states", "expected", "code"),
    [
        ((), NightState.COMPLETED, 0),
        ((UNCHANGED, UNCHANGED), NightState.COMPLETED, 0),
        ((DONE, UNCHANGED), NightState.COMPLETED, 0),
        ((DONE, BUSY), NightState.COMPLETED, 0),
        ((DONE, FAILED), NightState.PARTLY_DONE, 3),
        ((DONE, TIMED_OUT), NightState.PARTLY_DONE, 3),
        ((DONE, PARTLY), NightState.PARTLY_DONE, 3),
        ((DONE, SKIPPED), NightState.PARTLY_DONE, 3),
        ((FAILED, TIMED_OUT), NightState.FAILED, 4),
        ((FAILED, UNCHANGED), NightState.PARTLY_DONE, 3),
        ((FAILED, BUSY, SKIPPED), NightState.FAILED, 4),
    ],
)
def test_partial_failure_is_neither_success_nor_failure(
    states: tuple[ProjectState, ...], expected: NightState, code: int
) -> None:
    report = night(*states)
    assert (report.state, report.exit_code) == (expected, code)


@pytest.mark.parametrize("state", [StepState.FAILED, StepState.SKIPPED])
def test_a_step_that_did_not_come_to_its_end_makes_a_night_partly_done(state: StepState) -> None:
    assert night(DONE, steps=(Step(name="lint", state=state),)).state is NightState.PARTLY_DONE


def test_a_night_that_was_refused_says_so_and_nothing_else() -> None:
    report = night(refused="another night is running")
    assert (report.state, report.exit_code, report.headline) == (NightState.REFUSED, 5, "another night is running")


def test_the_headline_counts_every_project_once_and_names_the_failed() -> None:
    headline = night(DONE, DONE, FAILED, UNCHANGED).headline
    assert headline == "2 done, 1 unchanged, 1 failed; failed: p2"


@pytest.mark.parametrize(
    ("states", "row"),
    [
        ((), 0),
        (("failed", "failed", "done", "failed"), 2),
        (("failed", "busy", "timed-out", "skipped", "failed", "unchanged", "failed"), 3),
        (("done", "failed", "failed", "failed"), 0),
    ],
)
def test_failures_in_a_row_are_counted_over_nights_that_say_nothing(states: tuple[str, ...], row: int) -> None:
    assert failed_in_a_row(states) == row


def test_a_project_is_called_out_in_its_third_failing_night() -> None:
    tonight = night(FAILED, FAILED, DONE, BUSY).projects
    before = {
        "p0": ("failed", "failed", "done"),
        "p1": ("failed", "done"),
        "p2": ("failed",) * 9,
        "p3": ("failed",) * 9,
    }
    assert again_and_again(tonight, before) == {"p0": 3}
    report = night(FAILED, again_and_again={"p0": 3})
    assert "**p0** has failed 3 nights in a row" in render_markdown(report)


def test_every_project_stands_in_the_report_the_worst_first() -> None:
    text = render_markdown(night(DONE, UNCHANGED, FAILED, PARTLY, BUSY, SKIPPED, TIMED_OUT))
    rows = [line.split("|")[2].strip() for line in text.splitlines() if line.startswith("| p")][1:]
    assert rows == ["failed", "timed-out", "partly", "skipped", "busy", "done", "unchanged"]


def test_reasons_stand_in_full_above_the_table_and_names_cannot_break_it() -> None:
    project = ProjectNight(project="p", state=FAILED, reason="no | such\nbranch", written_back="a | b")
    text = render_markdown(NightReport(organisation="o", night="n", projects=(project,)))
    assert "- **p** (failed): no | such branch\n" in text
    assert "| p | failed | 0 | 0 | 0 | 0 | – | a \\| b |" in text
    assert text.index("such branch") < text.index("## Projects")


def test_links_to_where_the_pages_went_stand_in_the_report() -> None:
    project = ProjectNight(project="p", state=DONE, url="https://forge.example/pulls/7", written_back="pull request 7")
    text = render_markdown(NightReport(organisation="o", night="n", projects=(project,)))
    assert "[pull request 7](https://forge.example/pulls/7)" in text


def test_a_run_is_told_with_its_counts() -> None:
    evidence = Accounted(id="a" * 40, kind=EvidenceKind.COMMIT, outcome=Outcome.COMPILED)
    report = RunReport(project="p", run="r", engine="extractive", evidence=(evidence,), queued=2, spend=Spend(usd=0.5))
    one = ProjectNight.of(report, name="p@3f9c2ab")
    assert (one.state, one.collected["commits"], one.queued, one.spend.usd) == (DONE, 1, 2, 0.5)
    failed = PageChange(path="a/b.md", action="create", reason="the disk is full")
    partly = ProjectNight.of(report.model_copy(update={"failed_pages": (failed, failed)}))
    assert partly.state is PARTLY and partly.reason == "a/b.md could not be written and 1 more: the disk is full"


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (RepositoryError("no such remote"), FAILED),
        (TimeLimitReached("too long"), TIMED_OUT),
        (RepositoryBusy("held by process 7"), BUSY),
    ],
)
def test_a_foreseen_error_is_told_in_its_own_words(error: Exception, state: ProjectState) -> None:
    one = ProjectNight.of_error("p", error)
    assert (one.state, one.reason) == (state, str(error))


def test_hazard_122_an_unforeseen_error_is_told_without_the_words_it_repeats() -> None:
    try:
        dict[str, str]()["a secret from a transcript"]
    except KeyError as error:
        reason = explained(error)
    assert "secret" not in reason
    assert "KeyError at test_night.py:" in reason


def test_a_step_is_skipped_where_every_project_before_it_failed() -> None:
    skipped = step_after("lint", night(FAILED, BUSY).projects)
    assert skipped is not None and skipped.state is StepState.SKIPPED and "every project failed" in skipped.summary
    assert step_after("lint", night(FAILED, UNCHANGED).projects) is None
    assert step_after("lint", ()) is None


def test_the_cap_counts_what_all_projects_cost() -> None:
    spent = tuple(ProjectNight(project=f"p{n}", state=DONE, spend=Spend(usd=0.5)) for n in range(2))
    report = NightReport(organisation="o", night="n", projects=spent, cap_usd=1.0)
    assert report.cap_reached and "the cap of $1.00 was reached" in report.headline
    assert not report.model_copy(update={"cap_usd": 1.5}).cap_reached
    assert not report.model_copy(update={"cap_usd": None}).cap_reached


def test_the_report_is_an_object_a_program_reads_and_a_value_that_comes_back() -> None:
    report = night(DONE, FAILED)
    told = json.loads(json.dumps(report.as_json()))
    assert (told["state"], told["headline"]) == ("partly-done", report.headline)
    assert {one["project"]: one["state"] for one in told["projects"]} == {"p0": "done", "p1": "failed"}
    assert NightReport.model_validate_json(report.model_dump_json()) == report
