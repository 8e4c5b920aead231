"""What is answered at once is what the full command would have said, for as long as that holds and no longer."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plain import ingest_without_prefect
from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.cli import session_start_at_once, status_at_once
from reflect.cli.app import run
from reflect.ledger.ledger import Ledger
from reflect.search.place import search_folder
from reflect.settings import Settings
from reflect.workspace import Workspace

RULE = "no, never store prices as floats, use integer cents everywhere"


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("at-once")
    repository = GitRepository.create(folder / "shop")
    repository.commit("feat: take orders", {"shop.py": "ORDERS = []\n"})
    transcript = ClaudeTranscript("s1", cwd=str(folder / "shop")).prompt("add a cart").reply("Done.").prompt(RULE)
    repository.checkpoint_branch([("aaaaaaaaaaaa", [StoredSession(transcript.encode(), "s1")])])
    ingest_without_prefect(Workspace.open(repository.path, Settings(state_dir=folder / "state")))
    return folder


@pytest.fixture
def shop(ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository after a night, whose ledger was written a while ago."""
    folder = tmp_path / "copy"
    shutil.copytree(ingested, folder, symlinks=True)
    monkeypatch.setenv("REFLECT_STATE_DIR", str(folder / "state"))
    monkeypatch.chdir(folder / "shop")
    for name in ("REFLECT_ORGANISATION", "REFLECT_QMD_DIR", "REFLECT_QMD_MODEL", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)
    old = time.time() - 60
    os.utime(folder / "state" / "ledger.db", (old, old))
    return folder / "shop"


def at_once(capsys: pytest.CaptureFixture[str], *arguments: str) -> str | None:
    """What is answered at once; None where it is left to the full command."""
    answered = status_at_once.answered_at_once(list(arguments))
    said = capsys.readouterr().out
    assert answered or not said
    return said if answered else None


def in_full(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["status", *arguments]) == 0
    return capsys.readouterr().out


def test_the_second_status_is_the_first_to_the_letter(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert at_once(capsys) is None
    for arguments in ([], ["--json"], ["--repo", str(shop)]):
        full = in_full(capsys, *arguments)
        time.sleep(0.03)  # pages that were just written are looked at again
        full = in_full(capsys, *arguments)
        assert at_once(capsys, *arguments) == full
    assert at_once(capsys, "--colour") is None


def _another_run(shop: Path) -> None:
    repository = GitRepository(shop)
    repository.commit("fix: round half up", {"shop.py": "ORDERS = [1]\n"})


def _dropped(shop: Path) -> None:
    with Ledger.open(f"sqlite:///{shop.parent / 'state' / 'ledger.db'}") as ledger:
        project = Workspace.open(shop).project.project_id
        ledger.begin_night(project, "night", "2026-03-01T00:00:00+00:00")


def _configured(shop: Path) -> None:
    (shop / ".reflect" / "config.yaml").write_text("project_id: other\n")


def _another_page(shop: Path) -> None:
    place = shop / ".reflect" / "wiki" / "gotchas" / "by-hand.md"
    place.parent.mkdir(exist_ok=True)
    place.write_text("# By hand\n\nWords.\n")


def _archived_by_hand(shop: Path) -> None:
    page = next((shop / ".reflect" / "wiki").glob("[a-z]*/*.md"))
    place = shop / ".reflect" / "wiki" / "_archive" / page.parent.name / page.name
    place.parent.mkdir(parents=True)
    page.rename(place)


def _log_lost(shop: Path) -> None:
    (shop / ".reflect" / "wiki" / "log.md").unlink()


def _qmd_installed(shop: Path) -> None:
    package = shop.parent / "state" / "qmd" / "node_modules" / "@tobilu" / "qmd" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "9.9.9"}')


def _ledger_lost(shop: Path) -> None:
    (shop.parent / "state" / "ledger.db").unlink()


def _page_broken(shop: Path) -> None:
    next((shop / ".reflect" / "wiki").glob("[a-z]*/*.md")).write_bytes(b"---\n\xff\n---\n")


CHANGES = [
    _another_run,
    _dropped,
    _configured,
    _another_page,
    _archived_by_hand,
    _log_lost,
    _qmd_installed,
    _ledger_lost,
    _page_broken,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_whatever_changes_is_worked_out_again(
    shop: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None]
) -> None:
    in_full(capsys)
    assert at_once(capsys) is not None
    change(shop)
    assert at_once(capsys) is None


@pytest.mark.parametrize("name", ["config.yaml", "format.yaml"])
def test_a_setting_behind_a_link_is_refused_also_by_the_answer_at_once(
    shop: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (shop / ".reflect" / name).unlink(missing_ok=True)
    in_full(capsys)
    assert at_once(capsys) is not None
    (shop / ".reflect" / name).symlink_to("nowhere")
    assert at_once(capsys) is None


def test_an_open_question_grows_older_by_itself(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_full(capsys, "--json")
    kept = search_folder(shop.parent / "state", shop) / status_at_once.KEPT
    said: dict[str, Any] = json.loads(kept.read_text())
    said["found"]["review_oldest"] = {"created_at": "2026-03-01T00:00:00+00:00", "days": 0}
    kept.write_text(json.dumps(said))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1773100800")  # the tenth
    assert json.loads(at_once(capsys, "--json") or "")["review_oldest"]["days"] == 9


@pytest.mark.parametrize("written", [b"", b"[]", b"{", b'{"key": 1}', b"[" * 100_000, b"\xff"])
def test_a_damaged_answer_is_none(shop: Path, capsys: pytest.CaptureFixture[str], written: bytes) -> None:
    in_full(capsys)
    (search_folder(shop.parent / "state", shop) / status_at_once.KEPT).write_bytes(written)
    assert at_once(capsys) is None
    assert "shop" in in_full(capsys)


@pytest.mark.parametrize(
    ("config", "is_auto"),
    [
        ("", True),
        ("session_start: auto\n", True),
        ("session_start: manual\n", False),
        ("max_lines: 100\nsession_start:   'manual'   # ask me\n", False),
        ('session_start: "auto"\r\n', True),
        ("{session_start: manual}\n", False),
        ("session_start:\n  manual\n", False),
        ("# session_start: manual\n", True),
        ("other:\n  session_start: manual\n", True),
        (": not yaml [session_start", True),
    ],
)
def test_the_hook_goes_by_the_configuration(shop: Path, config: str, is_auto: bool) -> None:
    (shop / ".reflect" / "config.yaml").write_text(config, newline="")
    said = session_start_at_once.lines_for(shop)
    assert (session_start_at_once.SIGNAL in said) is is_auto
    assert "reflect ingest" in said[-1]


def test_the_hook_says_nothing_new_and_nowhere_nothing(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest_without_prefect(Workspace.open(shop))
    assert session_start_at_once.answered_at_once([])
    (said,) = capsys.readouterr().out.splitlines()
    assert "index.md" in said
    assert session_start_at_once.answered_at_once(["--repo", str(tmp_path)])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("kind", ["pipe", "folder", "dangling"])
def test_the_hook_waits_for_no_file_and_fails_at_none(shop: Path, kind: str) -> None:
    config = shop / ".reflect" / "config.yaml"
    config.unlink(missing_ok=True)
    {"pipe": os.mkfifo, "folder": os.mkdir, "dangling": lambda place: place.symlink_to("nowhere")}[kind](config)
    assert session_start_at_once.SIGNAL in session_start_at_once.lines_for(shop)
