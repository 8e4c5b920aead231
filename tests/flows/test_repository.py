"""The flow on a real Prefect server: names, cached answers, artifacts, and stages nested in a task."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from tests.conftest import ROOT, CommandLine, asked

pytestmark = pytest.mark.xdist_group("prefect")

NESTED = """
import sys
from pathlib import Path
from prefect import flow, task
from prefect.task_runners import ThreadPoolTaskRunner
from flows.repository import ingest
from reflect.workspace import Workspace

@task
def one(path):
    return ingest(Workspace.open(Path(path))).outcomes

@flow(task_runner=ThreadPoolTaskRunner(max_workers=1))
def night(paths):
    futures = one.map(paths)
    print(sum(sum(future.result().values()) for future in futures))

night(sys.argv[1:])
"""


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return _repository(tmp_path / "shop")


def _repository(path: Path) -> GitRepository:
    made = GitRepository.create(path)
    made.commit("feat: take orders", {"shop.py": "ORDERS = []\n"})
    transcript = (
        ClaudeTranscript(f"s-{path.name}").prompt("add a cart").reply("Done.").prompt("no, never use floats here")
    )
    made.checkpoint_branch([("aaaaaaaaaaaa", [StoredSession(transcript.encode(), f"s-{path.name}")])])
    return made


def ask(server: str, what: str, **filters: Any) -> Any:
    request = urllib.request.Request(
        f"{server}/{what}/filter", json.dumps(filters).encode(), {"content-type": "application/json"}
    )
    return asked(request)


def task_runs(server: str, flow_run: str, expected: set[str]) -> dict[str, str]:
    """State by name of a flow run's tasks; the server writes them down a moment later."""
    for _ in range(60):
        found = ask(server, "task_runs", task_runs={"flow_run_id": {"any_": [flow_run]}})
        states = {run["name"]: run["state_name"] for run in found}
        if expected <= states.keys():
            return states
        time.sleep(0.5)
    raise AssertionError(f"expected {expected} among {states}")


def test_names_states_and_artifact_in_the_ui(
    command_line: CommandLine, prefect_server: str, repository: GitRepository
) -> None:
    report = command_line.json("ingest", "--repo", repository.path)
    head = repository.git("rev-parse", "HEAD")[:8]
    name = f"ingest · {report['project']}@{head}"
    run = ask(prefect_server, "flow_runs", flow_runs={"name": {"any_": [name]}}, sort="START_TIME_DESC")[0]
    assert run["state_name"] == "Completed"
    stages = {"collect", "reflect · commits", "plan", "check plan", "scope", "check pages", "index", "archive"}
    pages = {f"write · {page['path']}" for page in report["pages"]}
    states = task_runs(prefect_server, run["id"], stages | pages | {"reflect · checkpoint aaaaaaaaaaaa/0"})
    assert set(states.values()) == {"Completed"}
    found = ask(prefect_server, "artifacts", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    artifacts = {one["key"]: one for one in found}
    assert artifacts.keys() == {f"plan-{report['project']}", f"report-{report['project']}"}
    assert report["run"] in artifacts[f"report-{report['project']}"]["data"]


def test_a_session_that_was_read_before_comes_from_the_cache(
    command_line: CommandLine, prefect_server: str, repository: GitRepository
) -> None:
    dry = command_line.json("ingest", "--dry-run", "--repo", repository.path)
    report = command_line.json("ingest", "--repo", repository.path)
    assert [page["path"] for page in report["pages"]] == [page["path"] for page in dry["pages"]]
    name = f"ingest · {report['project']}@{repository.git('rev-parse', 'HEAD')[:8]}"
    runs = ask(prefect_server, "flow_runs", flow_runs={"name": {"any_": [name]}}, sort="START_TIME_DESC")
    states = task_runs(prefect_server, runs[0]["id"], {"reflect · checkpoint aaaaaaaaaaaa/0"})
    assert states["reflect · checkpoint aaaaaaaaaaaa/0"] == "Cached"


def test_stages_nested_in_a_task_of_a_bounded_runner_come_to_an_end(command_line: CommandLine, tmp_path: Path) -> None:
    paths = [str(_repository(tmp_path / name).path) for name in ("one", "two")]
    done = subprocess.run(
        [sys.executable, "-c", NESTED, *paths],
        capture_output=True,
        text=True,
        timeout=120,
        env=command_line.environment,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.split()[-1] == "4"
    assert all((Path(path) / ".reflect" / "wiki" / "index.md").exists() for path in paths)
