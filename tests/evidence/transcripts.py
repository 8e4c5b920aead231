"""What the tests of transcripts share: reading, picking turns, and encoding lines as agents do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reflect.evidence.transcripts.reader import Transcript, read_transcript
from reflect.model import Channel, Speaker, Turn

DATA = Path(__file__).parent.parent / "data" / "transcripts"


def stored(name: str) -> Transcript:
    """One of the input files, read."""
    return read_transcript([(DATA / name).read_bytes()])


def person(transcript: Transcript) -> list[tuple[Channel, str]]:
    """What the person said or did, in order."""
    return [(turn.channel, turn.text) for turn in transcript.turns if turn.speaker is Speaker.PERSON]


def at(transcript: Transcript, position: int) -> list[Turn]:
    return [turn for turn in transcript.turns if turn.position == position]


def saying(transcript: Transcript, words: str) -> Turn:
    """The one turn that says `words`."""
    (turn,) = [turn for turn in transcript.turns if turn.text == words]
    return turn


def encode(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines)


def decode(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.split(b"\n") if line]


def read_lines(lines: Iterable[dict[str, Any]]) -> Transcript:
    return read_transcript([encode(*lines)])
