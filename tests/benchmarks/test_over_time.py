"""A history replayed night by night: what is counted, and what would be caught."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.over_time.night import Night, _stirred, spend_night
from benchmarks.over_time.picture import draw
from benchmarks.over_time.replay import Replay
from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession
from reflect.model import Source, SourceKind
from reflect.wiki.page import Page, parse_page

COMMITS = 6


@pytest.fixture
def source(tmp_path: Path) -> Path:
    git = GitRepository.create(tmp_path / "source")
    for number in range(COMMITS):
        at = START + timedelta(days=number)
        why = f"Part {number} was read twice because the lease of part {number} was taken after it."
        git.commit(f"fix: take lease {number} first\n\n{why}", {f"part{number}.py": "1", ".reflect/theirs": "1"}, at=at)
    said = ClaudeTranscript("s", at=START).reply("Shall I?").prompt("no, never read the lease after the slot")
    git.checkpoint_branch([("a1b2c3d4e5f6", [StoredSession(said.encode(), "s")])], START + timedelta(days=2, hours=1))
    return git.path


def test_the_nights_together_read_the_whole_history_once(source: Path, tmp_path: Path) -> None:
    replay = Replay(source, tmp_path / "clone")
    nights = [spend_night(replay, evening, tmp_path / "state") for evening in replay.evenings(3)]
    assert [night.evidence for night in nights] == [2, 3, 2]
    assert nights[-1].pages == sum(night.created for night in nights) > 0
    assert not any(night.stirred or night.again for night in nights)
    assert not (replay.folder / ".reflect" / "theirs").exists()


def test_a_page_rewritten_for_nothing_is_caught() -> None:
    before, after = page("> It was cold. (commit 0123456789ab)"), page("> It was warm. (commit 0123456789ab)")
    cited = Source(kind=SourceKind.COMMIT, id="0123456789ab")
    assert list(_stirred({"a/b.md": before}, {"a/b.md": after}, set())) == ["a/b.md"]
    assert not list(_stirred({"a/b.md": before}, {"a/b.md": after}, {cited}))
    assert not list(_stirred({"a/b.md": before}, {"a/b.md": before}, set()))


def test_the_picture_is_the_same_for_the_same_nights(tmp_path: Path) -> None:
    night = Night(3, 1, 2, 0, 0, 4, 1, 900, 50_000, 0.5, (), 0)
    nights = [night, replace(night, created=2)]
    draw(nights, tmp_path / "one.svg")
    draw(nights, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "pages a night" in (tmp_path / "one.svg").read_text(encoding="utf-8")


def page(body: str) -> Page:
    return parse_page(f'---\nsources:\n  - commit: "0123456789ab"\n---\n\n# B\n\n{body}\n'.encode(), "a/b.md")
