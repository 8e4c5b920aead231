"""Reads one stored transcript, whatever agent wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from reflect.errors import EvidenceError
from reflect.evidence.transcripts.claude import read_claude_code
from reflect.evidence.transcripts.recording import Recorder, Transcript

__all__ = ["Transcript", "read_transcript"]


def read_transcript(
    chunks: Sequence[bytes], *, already: AbstractSet[bytes] = frozenset(), start_hint: int = 0
) -> Transcript:
    """Every turn of a transcript, in file order, un-redacted.

    `chunks` are the stored files in order. `already` holds the keys of turns that were taken from earlier checkpoints.
    `start_hint` is the line from which on the checkpoint is new, as recorded: it is believed in one thing only, that a
    file with fewer lines has lost its beginning.

    Raises EvidenceError where the transcript is empty or has no known shape.
    """
    if not any(chunk.strip() for chunk in chunks):
        raise EvidenceError("The transcript is empty.")
    recorder = Recorder("claude-code", already)
    read_claude_code(chunks, recorder, start_hint)
    return recorder.transcript()
