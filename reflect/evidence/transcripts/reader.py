"""Reads one stored transcript, whatever agent wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from reflect.errors import EvidenceError
from reflect.evidence.transcripts.claude import ClaudeReading
from reflect.evidence.transcripts.codex import read_codex
from reflect.evidence.transcripts.compact import read_compact
from reflect.evidence.transcripts.copilot import read_copilot
from reflect.evidence.transcripts.cursor import read_cursor
from reflect.evidence.transcripts.droid import read_droid
from reflect.evidence.transcripts.gemini import read_gemini
from reflect.evidence.transcripts.memory import TranscriptMemory
from reflect.evidence.transcripts.opencode import read_opencode
from reflect.evidence.transcripts.pi import read_pi
from reflect.evidence.transcripts.recording import Recorder, Transcript
from reflect.evidence.transcripts.sniffing import shape_of

__all__ = ["Transcript", "TranscriptMemory", "read_transcript"]

_OF_LINES: dict[str, Callable[[Sequence[bytes], Recorder], None]] = {
    "codex": read_codex,
    "compact": read_compact,
    "copilot-cli": read_copilot,
    "cursor": read_cursor,
    "factory-droid": read_droid,
    "pi": read_pi,
}
_OF_DOCUMENTS: dict[str, Callable[[Sequence[dict[str, Any] | None], Recorder], None]] = {
    "gemini-cli": read_gemini,
    "opencode": read_opencode,
}


def read_transcript(
    chunks: Sequence[bytes],
    *,
    already: AbstractSet[bytes] = frozenset(),
    start_hint: int = 0,
    memory: TranscriptMemory | None = None,
) -> Transcript:
    """Every turn of a transcript, in file order, un-redacted.

    `chunks` are the stored files in order. `already` holds the keys of turns that were taken from earlier checkpoints:
    a message that was taken from the queue then keeps that key when it stands on a line of its own now. `start_hint` is
    the line from which on the checkpoint is new, as recorded: it is believed in one thing only, that a file with fewer
    lines has lost its beginning. With a `memory`, one that continues an earlier transcript is read from there on, with
    the same outcome.

    Raises EvidenceError where the transcript is empty or has no known shape.
    """
    if all(not chunk or chunk.isspace() for chunk in chunks):
        raise EvidenceError("The transcript is empty.")
    continued = memory.continued_by(chunks[0]) if memory and len(chunks) == 1 else None
    if continued is not None:
        reading, start = continued
        reading.go_on(already)
        return _read_claude_code(reading, chunks, start, start_hint, memory)
    shape = shape_of(chunks)
    if shape.format == "claude-code":
        return _read_claude_code(ClaudeReading(already), chunks, 0, start_hint, memory)
    record = Recorder(shape.format, already, unit="message" if shape.documents else "line")
    if shape.format in _OF_DOCUMENTS:
        _OF_DOCUMENTS[shape.format](shape.documents, record)
    else:
        _OF_LINES[shape.format](chunks, record)
    return record.transcript()


def _read_claude_code(
    reading: ClaudeReading, chunks: Sequence[bytes], start: int, start_hint: int, memory: TranscriptMemory | None
) -> Transcript:
    reading.read(chunks, start)
    if memory is not None and len(chunks) == 1:
        memory.keep(chunks[0], reading)
    return reading.transcript(start_hint)
