"""What `reflect doctor` finds, and what it never shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.triage.claude.fake_answers import Served
from reflect.triage.claude.fake_api import FakeApi
from tests.conftest import CommandLine, command_line_in

KEY = "sk-never-to-be-shown"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = GitRepository.create(tmp_path / "shop")
    made.commit("feat: begin", {"a.txt": "a"})
    return made.path


def _doctor(state: Path, **environment: str) -> CommandLine:
    line = command_line_in(state, None)
    clean = {name: value for name, value in line.environment.items() if not name.startswith("ANTHROPIC_")}
    return CommandLine(state, {**clean, "NO_PROXY": "127.0.0.1", **environment})


def _by_name(told: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {one["what"]: one for one in told["checks"]}


def test_everything_in_order_without_a_key(repository: Path, tmp_path: Path) -> None:
    found = _by_name(_doctor(tmp_path / "state").json("doctor", "--repo", repository))
    assert {"python", "git", "prefect", "anthropic", "ledger", "key", "prices", "caps"} <= set(found)
    assert found["key"]["said"].startswith("none")
    assert found["ledger"]["said"].endswith("ledger.db")
    assert found["checkpoints"]["state"] == "note" and "git fetch origin" in found["checkpoints"]["said"]
    said = ClaudeTranscript("s").prompt("add a cart")
    GitRepository(repository).checkpoint_branch([("a" * 12, [StoredSession(said.encode(), "s")])])
    again = _by_name(_doctor(tmp_path / "state").json("doctor", "--repo", repository))
    assert (again["checkpoints"]["state"], again["checkpoints"]["said"]) == ("ok", "1")


def test_a_live_call_and_the_models(repository: Path, tmp_path: Path) -> None:
    with FakeApi(lambda body: "ok") as api:
        reflect = _doctor(tmp_path / "state", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url)
        done = reflect("doctor", "--repo", repository, "--live", "--json")
        found = _by_name(json.loads(done.stdout))
        assert found["live"]["state"] == "ok" and len(api.asked) == 1
        assert found["claude-sonnet-5-5"]["said"] == "active"
        assert found["key"]["said"] == "ANTHROPIC_API_KEY"
        assert KEY not in done.stdout + done.stderr


def test_faults_are_an_exit_code(repository: Path, tmp_path: Path) -> None:
    with FakeApi(lambda body: Served(status=401)) as api:
        reflect = _doctor(tmp_path / "state", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url)
        found = _by_name(reflect.json("doctor", "--repo", repository, "--live", check=1))
        assert "401" in found["live"]["said"]
    no_key = _by_name(_doctor(tmp_path / "state").json("doctor", "--repo", repository, "--live", check=1))
    assert no_key["live"]["state"] == "fault"
    broken = _doctor(tmp_path / "state", REFLECT_ORGANISATION=str(tmp_path / "none.yaml"))
    assert _by_name(broken.json("doctor", "--repo", repository, check=1))["organisation file"]["state"] == "fault"
    elsewhere = tmp_path / "empty"
    elsewhere.mkdir()
    assert _by_name(broken.json("doctor", "--repo", elsewhere, check=1))["repository"]["state"] == "fault"
