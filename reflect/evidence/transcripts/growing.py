"""Reads the transcripts of sessions that go on.

A checkpoint normally stores its session's transcript from the beginning, so that each holds all that the one before
held. Where it does, byte for byte, reading goes on where it stopped: what a session costs grows with its length and
not with its length times its checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from reflect.evidence.transcripts.claude import ClaudeCode
from reflect.evidence.transcripts.reader import read_transcript
from reflect.evidence.transcripts.recording import Transcript
from reflect.evidence.transcripts.sniffing import shape_of

KEPT_BYTES = 64 << 20
"""Of transcripts that may go on; beyond it the one that waited longest is read from its beginning again."""


@dataclass(frozen=True, slots=True)
class _Stopped:
    """A transcript as it was, and the reading that stopped at its end."""

    content: bytes
    reading: ClaudeCode

    def goes_on_in(self, content: bytes) -> bool:
        """Whether `content` is this transcript and more, with no line of it continued."""
        if not content.startswith(self.content):
            return False
        end = len(self.content)
        return end == len(content) or self.content.endswith(b"\n") or content[end : end + 1] == b"\n"


class GrowingSessions:
    """Transcripts of many sessions in the order they were written.

    `already` holds the keys of turns that were taken from earlier checkpoints; the caller adds to it.
    """

    def __init__(self, already: AbstractSet[bytes], kept_bytes: int = KEPT_BYTES) -> None:
        self._already = already
        self._kept_bytes = kept_bytes
        self._stopped: dict[str, _Stopped] = {}

    def read(self, chunks: Sequence[bytes], session: str, *, start_hint: int = 0, has_more: bool = True) -> Transcript:
        """As `read_transcript`. `has_more`: another transcript of `session` is to come."""
        before = self._stopped.pop(session, None)
        if len(chunks) != 1 or not session or (before is None and not has_more):
            return read_transcript(chunks, already=self._already, start_hint=start_hint)
        (content,) = chunks
        if before is not None and before.goes_on_in(content):
            reading = before.reading
            reading.read(chunks, len(before.content))
        elif content.strip() and shape_of(chunks).format == "claude-code":
            reading = ClaudeCode(self._already)
            reading.read(chunks)
        else:
            return read_transcript(chunks, already=self._already, start_hint=start_hint)
        if has_more and reading.can_go_on:
            self._keep(session, _Stopped(content, reading))
        return reading.transcript(start_hint)

    def _keep(self, session: str, stopped: _Stopped) -> None:
        self._stopped[session] = stopped
        while sum(len(one.content) for one in self._stopped.values()) > self._kept_bytes:
            del self._stopped[next(iter(self._stopped))]
