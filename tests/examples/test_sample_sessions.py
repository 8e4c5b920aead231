"""The sample sessions read as what they are meant to show."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.infra import POISONED_RULE
from examples.organisation import NAMES, build, next_night
from reflect.evidence.transcripts.reader import Transcript, read_transcript
from reflect.model import Channel, Speaker, Taint, Turn

PERSON_CHANNELS = {
    "payments-api": {Channel.PROMPT, Channel.DENIAL, Channel.QUEUED, Channel.PLAN_APPROVED},
    "storefront": {Channel.PROMPT, Channel.INTERRUPTION, Channel.STEER, Channel.ANSWER, Channel.PLAN_REJECTED},
    "infra": {Channel.PROMPT, Channel.DENIAL},
}


def stored(path: Path) -> Iterator[Transcript]:
    """Every transcript in the repository, oldest last turn first."""
    listed = subprocess.run(
        ["git", "-C", str(path), "rev-list", "--objects", "--all"], capture_output=True, check=True, text=True
    ).stdout
    found = []
    for line in listed.splitlines():
        name, _, place = line.partition(" ")
        if place.endswith("full.jsonl"):
            blob = subprocess.run(["git", "-C", str(path), "cat-file", "blob", name], capture_output=True, check=True)
            found.append(read_transcript([blob.stdout]))
    return iter(sorted(found, key=lambda transcript: str(transcript.turns[-1].at)))


def words(transcript: Transcript) -> list[Turn]:
    return [turn for turn in transcript.turns if turn.speaker is Speaker.PERSON]


def saying(path: Path, text: str) -> tuple[Transcript, Turn]:
    """The first transcript in which a person says `text`, and that turn."""
    return next((whole, turn) for whole in stored(path) for turn in words(whole) if text in turn.text)


@pytest.mark.parametrize("name", NAMES)
def test_every_session_reads_whole_and_shows_its_channels(organisation: tuple[Path, ...], name: str) -> None:
    transcripts = list(stored(organisation[NAMES.index(name)]))
    assert all(transcript.complete and not transcript.notes for transcript in transcripts)
    assert {turn.channel for transcript in transcripts for turn in words(transcript)} == PERSON_CHANNELS[name]


def test_one_session_is_gemini(organisation: tuple[Path, ...]) -> None:
    transcript, turn = saying(organisation[0], "use 2s for reads")
    assert transcript.format == "gemini-cli"
    assert turn.channel is Channel.PROMPT
    assert transcript.taint is Taint.CLEAN


def test_a_denial_keeps_its_reason(organisation: tuple[Path, ...]) -> None:
    _, turn = saying(organisation[0], "use alembic revision --autogenerate")
    assert (turn.channel, turn.tool, turn.taint) == (Channel.DENIAL, "Write", Taint.CLEAN)


def test_an_answer_is_the_person_and_the_question_is_not(organisation: tuple[Path, ...]) -> None:
    transcript = next(
        whole for whole in stored(organisation[1]) if any(turn.channel is Channel.ANSWER for turn in whole.turns)
    )
    answer = next(turn for turn in transcript.turns if turn.channel is Channel.ANSWER)
    assert (answer.text, answer.speaker) == ("Zustand", Speaker.PERSON)
    assert "Which library" in answer.about


def test_a_correction_follows_the_interruption(organisation: tuple[Path, ...]) -> None:
    transcript, correction = saying(organisation[1], "dont turn off ssr")
    said = words(transcript)
    assert said[said.index(correction) - 1].channel is Channel.INTERRUPTION


def test_what_a_model_wrote_at_a_compaction_is_not_a_person(organisation: tuple[Path, ...]) -> None:
    said = [turn.text for whole in stored(organisation[0]) for turn in words(whole)]
    assert any("ten_euros" in text for text in said)
    assert not [text for text in said if "Rust" in text]


@pytest.mark.parametrize(("text", "culprit"), [("never switch off tls", "WebFetch"), ("dont retry at all", "curl")])
def test_a_session_that_fetched_is_tainted_from_there_on(
    organisation: tuple[Path, ...], text: str, culprit: str
) -> None:
    transcript, turn = saying(organisation[2], text)
    assert turn.taint is Taint.UNTRUSTED
    assert culprit in transcript.tainted_by
    assert words(transcript)[0].taint is Taint.CLEAN


def test_no_person_says_the_poisoned_rule(organisation: tuple[Path, ...]) -> None:
    assert not [turn for whole in stored(organisation[2]) for turn in words(whole) if POISONED_RULE in turn.text]


def test_one_session_moves_into_another_repository(organisation: tuple[Path, ...]) -> None:
    transcript, turn = saying(organisation[2], "always read env variables")
    assert transcript.workspace is not None
    assert Path(transcript.workspace).name == "infra"
    assert turn.cwd is not None
    assert Path(turn.cwd).name == "storefront"


def test_a_later_checkpoint_repeats_the_earlier_one(organisation: tuple[Path, ...]) -> None:
    first, second = (
        whole for whole in stored(organisation[0]) if any("double charges when the app" in t.text for t in whole.turns)
    )
    assert [turn.key for turn in second.turns[: len(first.turns)]] == [turn.key for turn in first.turns]
    assert len(second.turns) > len(first.turns)


def test_the_second_night_continues_a_session_of_the_first(tmp_path: Path) -> None:
    path = build(tmp_path)[0]
    known = {turn.key for whole in stored(path) for turn in whole.turns}
    next_night(tmp_path)
    whole, said = saying(path, "oldest first and one merchant at a time")
    assert said.key not in known
    assert whole.turns[0].key in known
