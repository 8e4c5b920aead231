"""The command line as a person and a program meet it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.wiki.lock import repository_lock
from reflect.workspace import Workspace
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


def test_a_second_run_at_the_same_time_is_turned_away(reflect: CommandLine, repository: GitRepository) -> None:
    reflect("init", "--repo", repository.path)
    before = {path: path.read_bytes() for path in (repository.path / ".reflect").rglob("*") if path.is_file()}
    with repository_lock(Workspace.open(repository.path).lock):
        done = reflect("ingest", "--repo", repository.path, check=5)
    assert str(os.getpid()) in done.stderr
    assert {path: path.read_bytes() for path in (repository.path / ".reflect").rglob("*") if path.is_file()} == before


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
        ("config.yaml", "weights: {publish: .nan}", "publish"),
        ("config.yaml", "weights: {publish: .inf}", "publish"),
        ("config.yaml", "default_branch: nosuch", "nosuch"),
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


@pytest.mark.parametrize("name", ["config.yaml", "format.yaml"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "dangling"])
def test_a_setting_that_is_no_file_is_refused_and_never_waited_for(
    reflect: CommandLine, repository: GitRepository, tmp_path: Path, name: str, kind: str
) -> None:
    place = repository.path / ".reflect" / name
    place.parent.mkdir()
    (tmp_path / "elsewhere").write_text("max_lines: 100\n")
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "link":
            place.symlink_to(tmp_path / "elsewhere")
        case _:
            place.symlink_to(tmp_path / "nowhere")
    said = reflect("status", "--repo", repository.path, check=2).stderr
    assert said.startswith("reflect: ") and name in said and "Traceback" not in said


@pytest.mark.parametrize(
    "content", ['{"refs": 5}', "[]", "[" * 100_000, '{"run": 1}'], ids=["number", "list", "deep", "few-keys"]
)
def test_a_last_run_of_any_shape_is_no_answer(reflect: CommandLine, repository: GitRepository, content: str) -> None:
    folder = repository.path / ".reflect"
    reflect("init", "--repo", repository.path)
    (folder / ".last_run").write_text(content)
    assert "reflect ingest" in reflect("session-start", "--repo", repository.path).stdout


@pytest.mark.parametrize("key", ["run", "ledger", "engine", "timestamp", "project"])
def test_a_last_run_with_a_value_of_another_kind_is_no_answer(
    reflect: CommandLine, repository: GitRepository, key: str
) -> None:
    reflect("init", "--repo", repository.path)
    texts = dict.fromkeys(("timestamp", "run", "project", "engine", "fingerprint", "ledger"), "x")
    rest: dict[str, object] = {"last_checkpoint": None, "last_git_sha": None, "refs": [], "pending": 0, "landed": True}
    written = {**texts, **rest, "unfinished": False, key: 5}
    (repository.path / ".reflect" / ".last_run").write_text(json.dumps(written))
    assert "reflect ingest" in reflect("session-start", "--repo", repository.path).stdout


def test_an_empty_state_folder_is_none_and_a_relative_one_stands_where_it_was_said(
    reflect: CommandLine, repository: GitRepository, tmp_path: Path
) -> None:
    home = {**reflect.environment, "HOME": str(tmp_path / "home"), "XDG_STATE_HOME": ""}
    unset = CommandLine(tmp_path, {**home, "REFLECT_STATE_DIR": ""})
    found = unset.json("status", "--repo", repository.path)
    assert found["ledger"] == str(tmp_path / "home" / ".local" / "state" / "reflect" / "ledger.db")


def test_an_environment_variable_that_cannot_be_used_is_one_sentence(
    reflect: CommandLine, repository: GitRepository
) -> None:
    wrong = CommandLine(reflect.state, {**reflect.environment, "SOURCE_DATE_EPOCH": "yesterday"})
    said = wrong("status", "--repo", repository.path, check=2).stderr
    assert "SOURCE_DATE_EPOCH" in said and "yesterday" in said and "Traceback" not in said


def test_a_server_that_does_not_answer_is_one_sentence(reflect: CommandLine, repository: GitRepository) -> None:
    nowhere = CommandLine(reflect.state, {**reflect.environment, "PREFECT_API_URL": "http://127.0.0.1:9/api"})
    said = nowhere("ingest", "--json", "--repo", repository.path, check=4)
    assert "http://127.0.0.1:9/api" in said.stderr and "Traceback" not in said.stderr and said.stdout == ""
    assert not (repository.path / ".reflect").exists()


def test_two_shallow_clones_of_one_name_are_two_projects(reflect: CommandLine, tmp_path: Path) -> None:
    names = set()
    for owner in ("ann", "bob"):
        made = GitRepository.create(tmp_path / owner / "api")
        for number in range(3):
            made.commit(f"chore: {owner} {number}", {"n": str(number)})
        clone = tmp_path / f"{owner}-clone" / "api"
        subprocess.run(["git", "clone", "-q", "--depth", "1", made.path.as_uri(), str(clone)], check=True)
        names.add(reflect.json("status", "--repo", clone)["project"])
    assert len(names) == 2 and not any(name.endswith("-000000") for name in names)


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    done = command_line_in(tmp_path, None)("--version")
    assert done.stdout == f"reflect {metadata.version('reflect-wiki')}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("status", "--json"), ("ingest", "--json"), ("lint",)])
def test_a_reader_that_leaves_early_is_no_fault(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    made = GitRepository.create(tmp_path / "shop")
    made.commit("feat: begin", {"a.py": "1\n"})
    reading, writing = os.pipe()
    os.close(reading)
    environment = command_line_in(tmp_path, None).environment
    command = [sys.executable, "-m", "reflect.cli.main", *arguments]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment, cwd=made.path)
    os.close(writing)
    assert done.returncode == 1 and "Traceback" not in done.stderr and "fault of the product" not in done.stderr
