"""Reads one stored transcript, whatever agent wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from reflect.errors import EvidenceError
from reflect.evidence.transcripts.claude import read_claude_code
from reflect.evidence.transcripts.codex import read_codex
from reflect.evidence.transcripts.compact import read_compact
from reflect.evidence.transcripts.copilot import read_copilot
from reflect.evidence.transcripts.cursor import read_cursor
from reflect.evidence.transcripts.droid import read_droid
from reflect.evidence.transcripts.gemini import read_gemini
from reflect.evidence.transcripts.opencode import read_opencode
from reflect.evidence.transcripts.pi import read_pi
from reflect.evidence.transcripts.recording import Recorder, Transcript
from reflect.evidence.transcripts.sniffing import shape_of

__all__ = ["Transcript", "read_transcript"]

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
    chunks: Sequence[bytes], *, already: AbstractSet[bytes] = frozenset(), start_hint: int = 0
) -> Transcript:
    """Every turn of a transcript, in file order, un-redacted.

    `chunks` are the stored files in order. `already` holds the keys of turns that were taken from earlier checkpoints:
    a message that was taken from the queue then keeps that key when it stands on a line of its own now. `start_hint` is
    the line from which on the checkpoint is new, as recorded: it is believed in one thing only, that a file with fewer
    lines has lost its beginning.

    Raises EvidenceError where the transcript is empty or has no known shape.
    """
    if all(not chunk or chunk.isspace() for chunk in chunks):
        raise EvidenceError("The transcript is empty.")
    shape = shape_of(chunks)
    record = Recorder(shape.format, already, unit="message" if shape.documents else "line")
    if shape.format in _OF_DOCUMENTS:
        _OF_DOCUMENTS[shape.format](shape.documents, record)
    elif shape.format in _OF_LINES:
        _OF_LINES[shape.format](chunks, record)
    else:
        read_claude_code(chunks, record, start_hint)
    return record.transcript()
