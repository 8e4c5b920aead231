"""Remembers how far a transcript was read, for the checkpoint that repeats and continues it.

A session stores its whole transcript with every checkpoint, so that of what a repository holds about half is stored
again and again. Where the bytes are the same, what was read of them is too, and reading goes on behind them.
"""

from __future__ import annotations

from dataclasses import dataclass

from reflect.evidence.transcripts.claude import ClaudeReading

MAX_BYTES = 48 * 1024 * 1024
"""Of remembered transcripts; the oldest are forgotten first."""

_START_BYTES = 1024
"""By these a transcript is found again; whether it is continued is then compared byte for byte."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    data: bytes
    reading: ClaudeReading


class TranscriptMemory:
    """What was read last. Of use to one reader of one repository, and to nobody after it."""

    def __init__(self) -> None:
        self._by_start: dict[bytes, _Remembered] = {}
        self._bytes = 0

    def continued_by(self, data: bytes) -> tuple[ClaudeReading, int] | None:
        """The reading that `data` continues and the byte from which on it is new. It is forgotten here."""
        remembered = self._forget(data[:_START_BYTES])
        if remembered is None:
            return None
        old = len(remembered.data)
        if not data.startswith(remembered.data):
            return None
        if len(data) == old or remembered.data.endswith(b"\n"):
            return remembered.reading, old
        # the last line was whole only if it ends where it ended
        return (remembered.reading, old + 1) if data[old] == ord("\n") else None

    def keep(self, data: bytes, reading: ClaudeReading) -> None:
        """Remember a reading of all of `data`, if more can be read behind it as if there had been no break."""
        if not reading.can_go_on or not _START_BYTES <= len(data) <= MAX_BYTES:
            return
        self._forget(data[:_START_BYTES])
        self._by_start[data[:_START_BYTES]] = _Remembered(data, reading)
        self._bytes += len(data)
        while self._bytes > MAX_BYTES:
            self._forget(next(iter(self._by_start)))

    def _forget(self, start: bytes) -> _Remembered | None:
        remembered = self._by_start.pop(start, None)
        if remembered is not None:
            self._bytes -= len(remembered.data)
        return remembered
