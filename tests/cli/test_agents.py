"""What tells agents of the wiki: put in place on request, brought up to date, and never at the cost of an edit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import frontmatter
import pytest

from examples.sessions import GitRepository
from reflect.cli import skill
from reflect.cli.app import run
from reflect.cli.session_start_at_once import SIGNAL
from reflect.errors import ConfigurationError, WikiError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFLECT_STATE_DIR", str(tmp_path / "state"))
    return GitRepository.create(tmp_path / "shop").path


def newer(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the product have a newer skill; its text."""
    text = skill._text() + "\nOne more line.\n"
    monkeypatch.setattr(skill, "_text", lambda: text)
    return text


def test_a_skill_is_installed_once_and_says_what_the_hook_says(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert run(["init", "--skill", "--hook", "--repo", str(root)]) == 0
    first = capsys.readouterr().out
    assert first.count(skill.SKILL) == 1
    written = frontmatter.load(str(root / skill.SKILL))
    assert written["name"] == "reflect" and len(str(written["description"])) <= 1024
    assert SIGNAL in written.content and SIGNAL in str(written["description"])


def test_an_untouched_skill_is_replaced_by_a_newer_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill.offer_skill(root)
    assert skill.upgrade_skill(root) is skill.Upgrade.UP_TO_DATE
    text = newer(monkeypatch)
    assert skill.upgrade_skill(root) is skill.Upgrade.REPLACED
    assert (root / skill.SKILL).read_text().startswith(text)
    assert skill.upgrade_skill(root) is skill.Upgrade.UP_TO_DATE


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text + "Ours too.\n",
        lambda text: text.replace("background", "foreground", 1),
        lambda text: "# Ours alone\n",
        lambda text: "",
    ],
    ids=["added", "changed", "replaced", "emptied"],
)
def test_an_edited_skill_stays_and_the_newer_one_is_put_beside_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, edit: object
) -> None:
    skill.offer_skill(root)
    file = root / skill.SKILL
    file.write_text(edit(file.read_text()))  # type: ignore[operator]
    edited = file.read_bytes()
    text = newer(monkeypatch)
    for _ in range(2):
        assert skill.upgrade_skill(root) is skill.Upgrade.KEPT
    assert file.read_bytes() == edited
    assert (root / skill.BESIDE).read_text().startswith(text)
    (root / skill.BESIDE).replace(file)
    assert skill.upgrade_skill(root) is skill.Upgrade.UP_TO_DATE and not (root / skill.BESIDE).exists()


def test_line_ends_of_another_system_are_no_edit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill.offer_skill(root)
    file = root / skill.SKILL
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert skill.upgrade_skill(root) is skill.Upgrade.UP_TO_DATE
    newer(monkeypatch)
    assert skill.upgrade_skill(root) is skill.Upgrade.REPLACED


def test_nothing_is_installed_by_an_upgrade(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["upgrade", "--repo", str(root)]) == 0
    assert "reflect init --hook --skill" in capsys.readouterr().out
    assert not (root / ".claude").exists()


def test_no_skill_is_written_through_a_link_or_over_what_cannot_be_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / ".claude").symlink_to(tmp_path / "outside")
    with pytest.raises(WikiError, match="symbolic link"):
        skill.offer_skill(root)
    assert list((tmp_path / "outside").iterdir()) == []
    (root / ".claude").unlink()
    skill.offer_skill(root)
    (root / skill.SKILL).write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="left as it is"):
        skill.upgrade_skill(root)


def test_a_shell_completes_commands_and_options() -> None:
    def completed(words: str, at: int) -> set[str]:
        environment = {"_REFLECT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at), "PATH": ""}
        command = [sys.executable, "-m", "reflect.cli.main"]
        return set(subprocess.run(command, env=environment, capture_output=True, text=True).stdout.split())

    assert completed("reflect ses", 1) == {"sessions", "session-start"}
    assert {"list", "approve", "reject"} <= completed("reflect review ", 2)
    assert completed("reflect ingest --dry", 2) == {"--dry-run"}
