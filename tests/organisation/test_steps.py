"""The steps for the whole organisation, on two repositories after a first night and one that is not there."""

from __future__ import annotations

from pathlib import Path

import yaml

from benchmarks.plain import ingest_without_prefect
from reflect.organisation.estate import Estate
from reflect.organisation.night import StepState
from reflect.organisation.steps import LINT, STEPS, SYNTHESIS, take
from tests.flows.test_organisation import grow


def test_both_steps_look_at_every_project_and_name_the_one_they_could_not(tmp_path: Path) -> None:
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

    taken = {name: take(name, estate) for name in STEPS}

    assert [step.state for step in taken.values()] == [StepState.DONE, StepState.DONE]
    assert taken[SYNTHESIS].summary.endswith("new in the organisation's queue; gone could not be read")
    assert not taken[SYNTHESIS].summary.startswith("0 lessons")
    assert taken[LINT].summary.startswith("2 wikis: ") and taken[LINT].summary.endswith("gone could not be read")
