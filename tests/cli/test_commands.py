"""The command line as a person and a program meet it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from tests.conftest import ROOT, CommandLine, command_line_in


@pytest.fixture
def reflect(tmp_path: Path) -> CommandLine:
    """The command line without a Prefect server: for commands that must not need one."""
    return command_line_in(tmp_path / "state", server=None)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.create(tmp_path / "shop")
    made.commit("feat: take orders", {"shop.py": "ORDERS = []\n"})
    transcript = ClaudeTranscript("s1").prompt("add a cart").reply("Done.").prompt("no, never store prices as floats")
    made.checkpoint_branch([("aaaaaaaaaaaa", [StoredSession(transcript.encode(), "s1")])])
    return made


def test_init_makes_what_is_missing_and_can_be_repeated(reflect: CommandLine, repository: GitRepository) -> None:
    first = reflect.json("init", "--repo", repository.path)
    assert set(first["made"]) == {".reflect/", ".reflect/wiki/", ".reflect/format.yaml", ".reflect/.gitignore"}
    assert ".last_run" in (repository.path / ".reflect" / ".gitignore").read_text()
    before = {path: path.read_bytes() for path in repository.path.rglob("*") if path.is_file()}
    assert reflect.json("init", "--repo", repository.path)["made"] == []
    assert {path: path.read_bytes() for path in repository.path.rglob("*") if path.is_file()} == before


def test_init_adds_the_hook_beside_what_stands_there_and_once(reflect: CommandLine, repository: GitRepository) -> None:
    settings = repository.path / ".claude" / "settings.json"
    settings.parent.mkdir()
    mine = {"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"SessionStart": [{"hooks": [{"command": "mine"}]}]}}
    settings.write_text(json.dumps(mine))
    assert ".claude/settings.json" in reflect.json("init", "--hook", "--repo", repository.path)["made"]
    reflect("init", "--hook", "--repo", repository.path)
    written = json.loads(settings.read_text())
    assert written["permissions"] == mine["permissions"]
    commands = [hook["command"] for entry in written["hooks"]["SessionStart"] for hook in entry["hooks"]]
    assert commands == ["mine", "reflect session-start"]


@pytest.mark.parametrize("broken", ["{", "[]", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}'])
def test_settings_that_cannot_take_the_hook_are_left_as_they_are(
    reflect: CommandLine, repository: GitRepository, broken: str
) -> None:
    settings = repository.path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(broken)
    done = reflect("init", "--hook", "--repo", repository.path, check=2)
    assert "left as it is" in done.stderr or "left as it was" in done.stderr
    assert settings.read_text() == broken


def test_status_before_the_first_run(reflect: CommandLine, repository: GitRepository) -> None:
    status = reflect.json("status", "--repo", repository.path)
    assert status["sources"]["checkpoints"] == 1
    assert status["wiki"]["pages"] == 0
    assert status["fresh"] is False
    assert status["sources"]["default_branch"] == "main"
    shown = reflect("status", "--repo", repository.path).stdout
    assert "main" in shown and "reflect ingest" in shown


@pytest.mark.parametrize("command", ["ingest", "init", "status"])
def test_a_folder_that_is_no_repository_is_one_plain_sentence(
    reflect: CommandLine, tmp_path: Path, command: str
) -> None:
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    done = reflect(command, "--repo", nowhere, check=4)
    assert done.stderr.startswith("reflect: ") and str(nowhere) in done.stderr
    assert "Traceback" not in done.stderr
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("config.yaml", "max_new_pages: many", "max_new_pages"),
        ("config.yaml", "redact: ['(']", "redact"),
        ("config.yaml", "- a list", "list"),
        ("config.yaml", "engine: [", "YAML"),
        ("format.yaml", "sections: [{name: A, recency: soon}]", "recency"),
    ],
)
def test_a_setting_that_cannot_be_used_names_file_key_and_value(
    reflect: CommandLine, repository: GitRepository, name: str, content: str, named: str
) -> None:
    folder = repository.path / ".reflect"
    folder.mkdir()
    (folder / name).write_text(content)
    done = reflect("ingest", "--repo", repository.path, check=2)
    assert name in done.stderr and named in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in folder.iterdir()] == [name]


def test_an_unknown_engine_is_wrong_usage(reflect: CommandLine, repository: GitRepository) -> None:
    done = reflect("ingest", "--engine", "oracle", "--repo", repository.path, check=2)
    assert "oracle" in done.stderr and "extractive" in done.stderr
    assert not (repository.path / ".reflect").exists()


def test_an_unknown_option_is_wrong_usage(reflect: CommandLine, repository: GitRepository) -> None:
    assert "--colour" in reflect("ingest", "--colour", "--repo", repository.path, check=2).stderr


def test_session_start_says_nothing_where_there_is_no_wiki(reflect: CommandLine, repository: GitRepository) -> None:
    assert reflect("session-start", "--repo", repository.path).stdout == ""
    reflect("init", "--repo", repository.path)
    said = reflect("session-start", "--repo", repository.path).stdout
    assert ".reflect/wiki/index.md" in said and "reflect ingest" in said


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import reflect.cli.main", "dataclasses typing subprocess pydantic typer prefect sqlalchemy"),
        ("import reflect", "pydantic prefect pandas great_expectations anthropic"),
        ("import reflect.cli.app", "prefect pandas great_expectations anthropic alembic"),
        ("import reflect.pipeline.index, reflect.pipeline.recovery", "prefect pandas great_expectations anthropic"),
    ],
)
def test_what_a_door_must_not_load(statement: str, forbidden: str) -> None:
    code = f"import sys; {statement}; print(*[name for name in {forbidden.split()} if name in sys.modules])"
    bare = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {[str(ROOT), *sys.path]!r}; {code}"]
    done = subprocess.run(bare, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
