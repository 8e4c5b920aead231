"""Nights of an organisation on a real Prefect server: who fails, what is shown, what a crash leaves."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.organisation.estate import Estate
from tests.conftest import CommandLine
from tests.flows.test_repository import ask

pytestmark = pytest.mark.xdist_group("prefect")

Write = Callable[..., Path]


def grow(path: Path) -> GitRepository:
    """A repository with two sessions and two commits that teach something."""
    made = GitRepository.create(path)
    made.commit(
        "feat: take orders\n\nFloats lose cents, so every amount is an integer of cents.", {"shop.py": "a = 1\n"}
    )
    made.commit(
        "fix: refuse empty orders\n\nAn empty order was billed because nobody checked it.", {"shop.py": "a = 2\n"}
    )
    sessions = [
        ClaudeTranscript(f"s-{path.name}-{number}").prompt("add a cart").reply("Done.").prompt(said)
        for number, said in enumerate(("no, never use floats here", "no, always run make lint before you commit"))
    ]
    stored = [(f"{n}" * 12, [StoredSession(one.encode(), f"s-{path.name}-{n}")]) for n, one in enumerate(sessions)]
    made.checkpoint_branch(stored)
    return made


@pytest.fixture
def repositories(tmp_path: Path) -> dict[str, Path]:
    return {name: grow(tmp_path / "repositories" / name).path for name in ("billing", "infra", "shop")}


@pytest.fixture
def organisation(tmp_path: Path, command_line: CommandLine) -> Write:
    """Writes an organisation file over repositories by project id."""

    def write(repositories: Mapping[str, Path], **nightly: Any) -> Path:
        file = tmp_path / "organisation.yaml"
        projects = [{"id": name, "repository": str(path), "tags": ["harbour"]} for name, path in repositories.items()]
        described = {
            "name": tmp_path.name[-40:],
            "state_dir": str(command_line.state),
            "nightly": nightly,
            "projects": projects,
        }
        file.write_text(yaml.safe_dump(described), encoding="utf-8")
        return file

    return write


def states(night: Mapping[str, Any]) -> dict[str, str]:
    return {one["project"]: one["state"] for one in night["projects"]}


def wiki(repository: Path) -> dict[str, bytes]:
    """Every file of a repository's wiki."""
    folder = repository / ".reflect" / "wiki"
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def run_of(server: str, night: Mapping[str, Any]) -> Any:
    """The Prefect run that the night was."""
    name = f"night · {night['organisation']}"
    runs = ask(server, "flow_runs", flow_runs={"name": {"any_": [name]}})
    return next(run for run in runs if run["id"].startswith(night["night"].rsplit("-", 1)[1]))


def tasks_of(server: str, run: str, expected: set[str]) -> dict[str, Any]:
    """The task runs of a run by name; the server writes them down a moment later."""
    for _ in range(60):
        runs = ask(server, "task_runs", task_runs={"flow_run_id": {"any_": [run]}})
        found = {one["name"].split("@")[0]: one for one in runs}
        if expected <= found.keys() and all(found[name]["state_type"] != "RUNNING" for name in expected):
            return found
        time.sleep(0.5)
    raise AssertionError(f"expected {expected} among {sorted(found)}")


def test_one_broken_repository_fails_alone_and_everybody_can_see_why(
    command_line: CommandLine, prefect_server: str, repositories: dict[str, Path], organisation: Write, tmp_path: Path
) -> None:
    file = organisation(repositories | {"infra": tmp_path / "gone"})
    night = command_line.json("org", "ingest", "--organisation", file, check=3)
    assert states(night) == {"billing": "done", "infra": "failed", "shop": "done"}
    reasons = {one["project"]: one["reason"] for one in night["projects"]}
    assert "gone is not a folder, so there is no repository of infra to read" in reasons["infra"]
    assert all(wiki(repositories[name]) for name in ("billing", "shop"))

    run = run_of(prefect_server, night)
    assert (run["state_type"], run["state_name"]) == ("COMPLETED", "PartlyDone")
    assert run["state"]["message"] == "2 done, 1 failed; failed: infra"
    found = tasks_of(prefect_server, run["id"], {"ingest · billing", "ingest · infra", "ingest · shop", "report"})
    assert found["ingest · infra"]["state_type"] == "FAILED"
    assert "no repository of infra to read" in found["ingest · infra"]["state"]["message"]
    assert found["ingest · shop"]["state_type"] == "COMPLETED"
    assert re.fullmatch(r"ingest · shop@[0-9a-f]{8}", found["ingest · shop"]["name"])
    assert {"project:shop", "team:harbour"} <= set(found["ingest · shop"]["tags"])
    assert "project:billing" not in found["ingest · shop"]["tags"]

    artifacts = {
        one["key"]: one for one in ask(prefect_server, "artifacts", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    }
    kinds = {key.split("-")[0]: one for key, one in artifacts.items()}
    assert kinds["progress"]["data"] == 100.0
    assert kinds["night"]["description"] == "2 done, 1 failed; failed: infra"
    assert all(f"| {name}" in kinds["night"]["data"] for name in repositories)
    assert "no repository of infra to read" in kinds["night"]["data"]
    plan = json.loads(artifacts["plan-shop"]["data"])
    assert plan and {row["expectations"] for row in plan} == {"met"}
    assert "claims wait for review" in artifacts["report-shop"]["description"]
    health = [artifacts[key] for key in artifacts if key.startswith("lint-health-")]
    assert sorted(one["type"] for one in health) == ["markdown", "table"]
    assert "2 wikis, 0 errors" in str(health) and "1 never linted" in str(health)

    told = command_line.json("org", "lint", "--organisation", file)
    assert {one["project"]: one["state"] for one in told["projects"]} == {
        "billing": "linted",
        "infra": "not-linted",
        "shop": "linted",
    }
    assert {one["project"]: one["night"] for one in told["projects"]} == states(night)
    assert len(told["nights"]) == 2 and all(one["passed"] == 2 for one in told["expectations"])


def test_the_second_night_starts_nothing_where_nothing_changed(
    command_line: CommandLine, prefect_server: str, repositories: dict[str, Path], organisation: Write
) -> None:
    file = organisation(repositories)
    command_line.json("org", "ingest", "--organisation", file)
    before = {name: wiki(path) for name, path in repositories.items()}
    GitRepository(repositories["shop"]).commit("fix: round once\n\nRounding twice lost a cent.", {"shop.py": "a = 3\n"})
    night = command_line.json("org", "ingest", "--organisation", file)
    assert states(night) == {"billing": "unchanged", "infra": "unchanged", "shop": "done"}
    found = tasks_of(prefect_server, run_of(prefect_server, night)["id"], {"ingest · shop", "report"})
    assert [name for name in found if name.startswith("ingest · ")] == ["ingest · shop"]
    assert {name: wiki(repositories[name]) for name in ("billing", "infra")} == {
        name: before[name] for name in ("billing", "infra")
    }


def test_a_dry_run_plans_and_writes_nothing(
    command_line: CommandLine, repositories: dict[str, Path], organisation: Write
) -> None:
    file = organisation(repositories)
    night = command_line.json("org", "ingest", "--dry-run", "--project", "shop", "--organisation", file)
    assert states(night) == {"shop": "done"} and night["projects"][0]["pages"] > 0
    assert not any((path / ".reflect").exists() for path in repositories.values())
    with Estate.load(file).ledger() as ledger:
        assert ledger.recent_nights(night["organisation"]) == ()


def test_a_project_that_is_not_there_is_refused_before_anything_starts(
    command_line: CommandLine, repositories: dict[str, Path], organisation: Write
) -> None:
    done = command_line("org", "ingest", "--project", "shp", "--organisation", organisation(repositories), check=2)
    assert "'shp'" in done.stderr and "shop" in done.stderr
    assert not any((path / ".reflect").exists() for path in repositories.values())


def test_hazard_134_a_repository_that_hangs_is_stopped_and_fails_alone(
    command_line: CommandLine, repositories: dict[str, Path], organisation: Write
) -> None:
    os.mkfifo(repositories["infra"] / ".git" / "refs" / "heads" / "hangs")
    file = organisation(repositories, project_limit_s=15)
    night = command_line.json("org", "ingest", "--organisation", file, check=3)
    assert states(night) == {"billing": "done", "infra": "timed-out", "shop": "done"}
    (reason,) = (one["reason"] for one in night["projects"] if one["project"] == "infra")
    assert "longer than its limit of 15 s" in reason


def test_a_project_that_fails_three_nights_in_a_row_is_called_out(
    command_line: CommandLine, repositories: dict[str, Path], organisation: Write, tmp_path: Path
) -> None:
    file = organisation({"shop": repositories["shop"], "infra": tmp_path / "gone"})
    nights = [command_line.json("org", "ingest", "--organisation", file, check=3) for _ in range(3)]
    assert [night["again_and_again"] for night in nights] == [{}, {}, {"infra": 3}]


def test_two_nights_at_once_the_second_is_refused(
    command_line: CommandLine, prefect_server: str, repositories: dict[str, Path], organisation: Write
) -> None:
    file = organisation(repositories, overlap="refuse")
    with Estate.load(file).lease("night", "another night"):
        night = command_line.json("org", "ingest", "--organisation", file, check=5)
    assert (night["state"], night["projects"]) == ("refused", [])
    assert "Another night" in night["headline"]
    assert run_of(prefect_server, night)["state_name"] == "Refused"
    assert not any((path / ".reflect").exists() for path in repositories.values())


def test_two_nights_at_once_the_second_waits_for_its_turn(
    command_line: CommandLine, repositories: dict[str, Path], organisation: Write
) -> None:
    file = organisation(repositories, overlap="wait", wait_s=60)
    with Estate.load(file).lease("night", "another night"):
        second = command_line.start("org", "ingest", "--organisation", file, "--json")
        time.sleep(8)
        assert second.poll() is None
        assert not any((path / ".reflect").exists() for path in repositories.values())
    out, problems = second.communicate(timeout=120)
    assert second.returncode == 0, problems
    assert set(states(json.loads(out)).values()) == {"done"}


def test_two_nights_that_share_do_everything_once(
    command_line: CommandLine, repositories: dict[str, Path], organisation: Write, tmp_path: Path
) -> None:
    alone = {name: tmp_path / "alone" / name for name in repositories}
    for name, path in repositories.items():
        shutil.copytree(path, alone[name], symlinks=True)
    file = organisation(repositories, overlap="share")
    nights = [command_line.start("org", "ingest", "--organisation", file, "--json") for _ in range(2)]
    ended = [night.communicate(timeout=200) for night in nights]
    assert all(out for out, _ in ended), ended
    reports = [json.loads(out) for out, _ in ended]
    projects = [one for report in reports for one in report["projects"]]
    assert [one["reason"] for one in projects if one["state"] in ("failed", "timed-out")] == []
    assert [night.returncode for night in nights] == [0, 0], ended
    told = [states(report) for report in reports]
    for name in repositories:
        assert "done" in {one[name] for one in told}, told
    expected = _single(alone, tmp_path, command_line)
    assert {name: wiki(path) for name, path in repositories.items()} == expected


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["hazard-135-kill", "terminate"])
def test_a_night_that_is_stopped_in_the_middle_is_finished_by_the_next_and_nothing_is_twice(
    command_line: CommandLine,
    repositories: dict[str, Path],
    organisation: Write,
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    alone = {name: tmp_path / "alone" / name for name in repositories}
    for name, path in repositories.items():
        shutil.copytree(path, alone[name], symlinks=True)
    file = organisation(repositories, at_once=1)
    night = command_line.start("org", "ingest", "--organisation", file)
    first = repositories["billing"] / ".reflect" / "wiki" / "index.md"
    _until(lambda: first.exists() or night.poll() is not None)
    night.send_signal(number)
    night.communicate(timeout=60)
    assert night.returncode != 0
    again = command_line.json("org", "ingest", "--organisation", file)
    assert set(states(again).values()) <= {"done", "unchanged"} and "done" in states(again).values()
    assert {name: wiki(path) for name, path in repositories.items()} == _single(alone, tmp_path, command_line)
    for path in repositories.values():
        runs = [line for line in (path / ".reflect/wiki/log.md").read_text().splitlines() if "run" in line.lower()]
        assert len(runs) == len(set(runs))


def _single(repositories: Mapping[str, Path], tmp_path: Path, command_line: CommandLine) -> dict[str, dict[str, bytes]]:
    """The wikis that one undisturbed night makes of copies of the same repositories, in a state of its own."""
    file = tmp_path / "single.yaml"
    projects = [{"id": name, "repository": str(path)} for name, path in repositories.items()]
    described = {"name": "single", "state_dir": str(tmp_path / "single-state"), "projects": projects}
    file.write_text(yaml.safe_dump(described), encoding="utf-8")
    command_line.json("org", "ingest", "--organisation", file)
    return {name: wiki(path) for name, path in repositories.items()}


def _until(true: Callable[[], bool], timeout_s: float = 90) -> None:
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_pages_that_could_not_be_written_back_make_the_project_partly_done_and_are_tried_again(
    command_line: CommandLine, repositories: dict[str, Path], organisation: Write, tmp_path: Path
) -> None:
    shop = repositories["shop"]
    remote = tmp_path / "shop.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(shop), str(remote)], check=True)
    subprocess.run(["git", "-C", str(shop), "remote", "add", "origin", f"file://{remote}"], check=True)
    subprocess.run(["git", "-C", str(shop), "fetch", "-q", "origin"], check=True)
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'main is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    file = organisation({"shop": shop})
    described = yaml.safe_load(file.read_text())
    author = {"mode": "push", "author": "Reflect <reflect@example.com>", "pull_request_when_protected": False}
    described["projects"][0]["publish"] = author
    file.write_text(yaml.safe_dump(described))

    night = command_line.json("org", "ingest", "--organisation", file, check=3)
    assert states(night) == {"shop": "partly"}
    assert "its pages were not written back" in night["projects"][0]["reason"]
    assert wiki(shop)

    hook.unlink()
    night = command_line.json("org", "ingest", "--organisation", file)
    assert states(night) == {"shop": "done"}
    landed = subprocess.run(
        ["git", "-C", str(remote), "ls-tree", "-r", "--name-only", "main"], check=True, capture_output=True, text=True
    )
    assert ".reflect/wiki/index.md" in landed.stdout.split()
