"""Real runs of the `claude` engine against the local server: a fault leaves all as if nothing had been asked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examples.obedient_model import answer
from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.settings import Settings
from reflect.triage.claude.fake_answers import Served
from reflect.triage.claude.fake_api import FakeApi, by_answer
from reflect.workspace import Workspace
from tests.conftest import CommandLine

pytestmark = pytest.mark.xdist_group("prefect")

OBEY = by_answer(answer)


def _repository(path: Path, sessions: int = 2) -> GitRepository:
    made = GitRepository.create(path)
    made.commit("feat: take orders", {"shop.py": "ORDERS = []\n"})
    said = ["never use floats in the cart", "always escape the queue names", "please use the ledger for every refund"]
    stored = []
    for number in range(sessions):
        transcript = ClaudeTranscript(f"s{number}").prompt("look at the shop").reply("Done.").prompt(said[number])
        stored.append((f"{number:012x}", [StoredSession(transcript.encode(), f"s{number}")]))
    made.checkpoint_branch(stored)
    return made


def _with(command_line: CommandLine, api: FakeApi) -> CommandLine:
    told = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": api.url, "NO_PROXY": "127.0.0.1"}
    return replace(command_line, environment={**command_line.environment, **told})


def _pages(repository: GitRepository) -> dict[str, bytes]:
    wiki = repository.path / ".reflect" / "wiki"
    return {str(path.relative_to(wiki)): path.read_bytes() for path in sorted(wiki.glob("*/*.md"))}


def test_a_night_with_faults_then_one_without(command_line: CommandLine, tmp_path: Path) -> None:
    """scenario-1, scenario-15, scenario-21: what failed is pending, stands nowhere, and is made up."""
    repository = _repository(tmp_path / "shop")
    down = True

    def script(body: Mapping[str, Any]) -> Any:
        if down and "escape the queue" in body["messages"][0]["content"]:
            return Served(status=400)
        return OBEY(body)

    with FakeApi(script) as api:
        reflect = _with(command_line, api)
        first = reflect.json("ingest", "--repo", repository.path, "--engine", "claude")
        assert first["outcomes"]["pending"] == 1
        assert not any(b"escape the queue" in page for page in _pages(repository).values())
        assert any(b"never use floats" in page for page in _pages(repository).values())
        assert first["spend"]["calls"] == len(api.asked) and first["spend"]["usd"] > 0

        down = False
        second = reflect.json("ingest", "--repo", repository.path, "--engine", "claude")
        assert second["outcomes"]["pending"] == 0
        assert any(b"escape the queue" in page for page in _pages(repository).values())

        calls = len(api.asked)
        assert not reflect.json("ingest", "--repo", repository.path, "--engine", "claude")["pages"]
        assert len(api.asked) == calls

        workspace = Workspace.open(repository.path, Settings(state_dir=command_line.state))
        with workspace.ledger() as ledger:
            rows = ledger.model_calls(workspace.project.project_id)
        assert len(rows) == calls
        assert sum(row.output_tokens for row in rows) == api.total("output_tokens")
        assert sum(row.input_tokens for row in rows) == api.total("input_tokens")
        assert "sk-test" not in "".join(
            path.read_text(errors="replace") for path in command_line.state.rglob("*") if path.is_file()
        )


@pytest.mark.parametrize(
    "served",
    [
        pytest.param(Served(status=401), id="scenario-13"),
        pytest.param(Served(status=429, headers={"retry-after": "3600"}), id="scenario-10"),
        pytest.param(Served(status=400, error={"type": "billing_error"}), id="scenario-12"),
        pytest.param(Served(body=b"<html>sign in</html>"), id="scenario-14"),
    ],
)
def test_a_provider_that_is_away_leaves_everything_to_the_next_run(
    command_line: CommandLine, tmp_path: Path, served: Served
) -> None:
    repository = _repository(tmp_path / "shop")
    with FakeApi(lambda body: served) as api:
        report = _with(command_line, api).json("ingest", "--repo", repository.path, "--engine", "claude")
        assert (report["pages"], report["failed_pages"]) == ([], [])
        assert report["outcomes"]["pending"] == sum(report["collected"].values()) > 0
        assert not _pages(repository)
        assert report["spend"]["output_tokens"] == 0


def test_a_reached_cap_ends_the_run_cleanly(command_line: CommandLine, tmp_path: Path) -> None:
    repository = _repository(tmp_path / "shop")
    folder = repository.path / ".reflect"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(json.dumps({"claude": {"caps": {"repository_usd": 0.000001}}}))
    with FakeApi(OBEY) as api:
        report = _with(command_line, api).json("ingest", "--repo", repository.path, "--engine", "claude")
        assert api.asked == []
        assert report["outcomes"]["pending"] == sum(report["collected"].values())
        assert any("cap of" in item["reason"] for item in report["evidence"])


def test_two_processes_at_once_pay_for_each_checkpoint_once(command_line: CommandLine, tmp_path: Path) -> None:
    repository = _repository(tmp_path / "shop", 3)
    copy = tmp_path / "copy"
    shutil.copytree(repository.path, copy)

    def slowly(body: Mapping[str, Any]) -> Served:
        return Served(OBEY(body), slow_s=0.2)

    with FakeApi(slowly) as api:
        reflect = _with(command_line, api)
        runs = [
            reflect.start("ingest", "--repo", path, "--engine", "claude", "--json") for path in (repository.path, copy)
        ]
        for run in runs:
            out, err = run.communicate(timeout=200)
            assert run.returncode == 0, out + err
        asked = [request.body["messages"][0]["content"] for request in api.asked]
        assert len([content for content in asked if "| person" in content and "look at the shop" in content]) == 3


def test_a_dry_run_counts_and_asks_nothing(command_line: CommandLine, tmp_path: Path) -> None:
    repository = _repository(tmp_path / "shop")
    with FakeApi(OBEY) as api:
        reflect = _with(command_line, api)
        told = [
            reflect.json("ingest", "--repo", repository.path, "--engine", "claude", "--dry-run")["spend"] for _ in "ab"
        ]
        assert api.asked == [] and told[0] == told[1]
        assert told[0]["calls"] >= 4 and told[0]["usd"] > 0, "two sessions, a plan, and a page at least"
        report = reflect.json("ingest", "--repo", repository.path, "--engine", "claude")
        assert report["pages"] and report["spend"]["calls"] == len(api.asked)
        assert report["spend"]["usd"] <= told[0]["usd"], "an estimate is the most it may come to"


def test_three_runs_with_batches_land_the_pages(command_line: CommandLine, tmp_path: Path) -> None:
    repository = _repository(tmp_path / "shop")
    folder = repository.path / ".reflect"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text("claude: {mode: batch}\nengine: claude\n")
    with FakeApi(OBEY, at_once=True) as api:
        reflect = _with(command_line, api)
        told = [reflect.json("ingest", "--repo", repository.path) for _ in range(3)]
        assert [report["outcomes"]["pending"] for report in told] == [3, 2, 0]
        assert "went out as the batch msgbatch_1" in "\n".join(told[0]["notes"])
        assert len(_pages(repository)) == 2
        assert told[2]["spend"]["calls"] == 2 and len(api.asked) == 1
