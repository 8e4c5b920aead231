"""The steps for the whole organisation, on two repositories after a first night and one that is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from benchmarks.plain import ingest_without_prefect
from expectations.wiki import check_wiki
from reflect.cli.app import run
from reflect.health.document import HealthReport, Knowledge
from reflect.ledger.health import ExpectedRow, LintState
from reflect.organisation.estate import Estate
from reflect.organisation.health import reports_folder
from reflect.organisation.night import ProjectNight, ProjectState, StepState
from reflect.organisation.steps import LINT, REPORT, STEPS, SYNTHESIS, Round, take
from reflect.workspace import Workspace
from tests.flows.test_organisation import grow


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Estate:
    """Two wikis after a first night, and a repository that is gone."""
    tmp_path = tmp_path_factory.mktemp("steps")
    roots = {name: grow(tmp_path / "repositories" / name).path for name in ("billing", "shop")}
    roots["gone"] = tmp_path / "gone"
    projects = [{"id": name, "repository": str(path)} for name, path in roots.items()]
    described = {"name": "harbour", "state_dir": str(tmp_path / "state"), "projects": projects}
    file = tmp_path / "organisation.yaml"
    roots["gone"].mkdir()
    file.write_text(yaml.safe_dump(described))
    estate = Estate.load(file)
    roots["gone"].rmdir()
    for name in ("billing", "shop"):
        workspace = estate.workspace(name)
        assert workspace is not None
        ingest_without_prefect(workspace)
    return estate


def test_every_step_looks_at_every_project_and_names_the_one_it_could_not(estate: Estate) -> None:
    taken = {name: take(name, Round(estate, "night-1")) for name in STEPS}

    assert {step.state for step in taken.values()} == {StepState.DONE}
    assert taken[SYNTHESIS].summary.endswith("new in the organisation's queue; gone could not be read")
    assert not taken[SYNTHESIS].summary.startswith("0 lessons")
    assert taken[LINT].summary.startswith("2 wikis: ") and taken[LINT].summary.endswith("gone could not be read")
    assert taken[REPORT].summary.startswith("2 wikis, 0 errors")


def test_what_lint_found_is_kept_with_what_could_not_be_read(estate: Estate) -> None:
    workspace = estate.workspace("shop")
    assert workspace is not None
    page = next((workspace.folder / "wiki").glob("*/*.md"))
    page.write_text(page.read_text().replace("status: active", "related: [nowhere.md]\nstatus: active", 1))
    take(LINT, Round(estate, "night-2", check_wiki))
    with estate.ledger() as ledger:
        history = ledger.lint_history(["billing", "gone", "shop"], "")
    assert {project: (lint.lint_id, lint.state) for project, lint in history.newest.items()} == {
        "billing": ("night-2", LintState.LINTED),
        "gone": ("night-2", LintState.UNREAD),
        "shop": ("night-2", LintState.LINTED),
    }
    assert history.newest["gone"].reason == "The repository of gone is not on this machine; its wiki was not read."
    path = f"{page.parent.name}/{page.name}"
    (found,) = [row.found for row in history.findings if row.found.code == "broken-related"]
    assert (found.path, found.severity, bool(found.title)) == (path, "error", True)
    expected = {one.name: one.broken for one in history.linted["shop"].expected or ()}
    assert expected["related_pages_exist"] == ((path, "it names nowhere.md as related, which does not exist"),)
    assert history.linted["shop"].by_status["active"] == sum(history.linted["shop"].by_category.values())


def test_a_wiki_whose_checks_fail_in_a_way_nobody_foresaw_is_told_and_takes_no_other_down(estate: Estate) -> None:
    def fails(workspace: Workspace) -> tuple[ExpectedRow, ...]:
        if workspace.project.project_id == "billing":
            raise ZeroDivisionError("words of a page")
        return ()

    done = take(LINT, Round(estate, "night-3", fails))
    with estate.ledger() as ledger:
        newest = ledger.lint_history(["billing", "shop"], "").newest
    assert done.summary.endswith("billing, gone could not be read")
    assert (newest["billing"].state, newest["shop"].state) == (LintState.UNREAD, LintState.LINTED)
    assert "ZeroDivisionError" in newest["billing"].reason and "words" not in newest["billing"].reason


def test_the_report_is_written_for_the_operator_and_into_no_wiki(estate: Estate, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in tmp_path.parent.rglob(".reflect/wiki/**/*.md")}
    shown: list[tuple[HealthReport, Path]] = []
    take(LINT, Round(estate, "night-4", check_wiki))
    done = take(REPORT, Round(estate, "night-4", show=lambda report, page: shown.append((report, page))))
    ((report, page),) = shown
    assert done.summary == f"{report.headline}; {page}"
    assert page.parent == reports_folder(estate) and page.read_text("utf-8").startswith("<!doctype html>")
    assert page.is_relative_to(estate.settings.state)
    assert [one.project for one in report.projects if one.state is Knowledge.NOT_LINTED] == ["gone"]
    assert {path: path.read_bytes() for path in before} == before and before


def test_a_night_in_which_all_failed_still_reports_what_is_known(estate: Estate) -> None:
    failed = [ProjectNight(project=name, state=ProjectState.FAILED) for name in estate.projects]
    taken = {name: take(name, Round(estate, "night-5"), failed).state for name in STEPS}
    assert taken == {SYNTHESIS: StepState.SKIPPED, LINT: StepState.SKIPPED, REPORT: StepState.DONE}


def test_the_command_writes_the_report_or_prints_it(
    estate: Estate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "health"
    asked = ["org", "report", "--organisation", str(estate.file)]
    assert run([*asked, "--out", str(out)]) == 0
    assert capsys.readouterr().out.endswith(f"{out / 'lint-health.html'}\n")
    assert run([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    written = json.loads((out / "lint-health.json").read_text("utf-8"))
    assert told | {"made_at": ""} == written | {"made_at": ""}
    assert [one["project"] for one in told["projects"]][-1] == "gone"
