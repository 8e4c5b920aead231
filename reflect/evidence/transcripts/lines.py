"""Damaged JSON, read as far as it goes.

A transcript is copied while the agent writes it and is rewritten by redactors, so lines are found cut, doubled up,
holding NUL or bytes that are no UTF-8. Each costs itself and nothing more, and is counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

BOM = b"\xef\xbb\xbf"

MAX_REPAIRED_BYTES = 64 * 1024 * 1024
"""Of one JSON document: a damaged one that is larger is not read, for its repair takes several times its size."""

_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<alone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""One escape of a JSON string: a surrogate pair, a surrogate without its twin, or any other."""

_DECODER = json.JSONDecoder(strict=False)


def numbered_lines(chunks: Sequence[bytes], start: int = 0, number: int = 0) -> Iterator[tuple[int, bytes]]:
    """Every line with its number over all chunks, as if they were joined by a line end.

    The first is line `number`, at the byte `start` of the first chunk. Only `\\n` ends a line: U+2028 and U+0085 stand
    raw inside JSON strings.
    """
    for chunk in chunks:
        end = len(chunk)
        while start < end:
            stop = chunk.find(b"\n", start)
            if stop < 0:
                stop = end
            yield number, chunk[start:stop]
            number += 1
            start = stop + 1
        start = 0


class Entry(NamedTuple):
    """One object of a transcript: the line it stands on and its number among the objects of that line."""

    position: int
    number: int
    line: bytes
    value: dict[str, Any]


class JsonLines:
    """Turns lines into objects and counts what it could not read.

    `on_loss` is told the position of each line that was lost in part or whole, once another line comes after it: a
    transcript that was copied while it was written ends in a cut line, and that one lost nothing before it.
    """

    def __init__(self, on_loss: Callable[[int], None] = lambda position: None) -> None:
        self.troubles: Counter[str] = Counter()
        self.lines = 0
        self._on_loss = on_loss
        self._damaged: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the last line was read in full."""
        return self._damaged is None

    def entries(self, chunks: Sequence[bytes], start: int = 0) -> Iterator[Entry]:
        """Every object in file order, from the byte `start` of the first chunk on."""
        for position, line in numbered_lines(chunks, start, self.lines):
            self.lines = position + 1
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError:
                value = None
            if isinstance(value, dict):
                self._goes_on()
                yield Entry(position, 0, line, value)
            elif line.strip():
                self._goes_on()
                for number, found in enumerate(self._recover(line, position)):
                    yield Entry(position, number, line, found)

    def _goes_on(self) -> None:
        if self._damaged is not None:
            self._on_loss(self._damaged)
            self._damaged = None

    def _recover(self, line: bytes, position: int) -> list[dict[str, Any]]:
        """The objects on a line that is not one: several where a line end was lost, none where it cannot be read."""
        text = _repaired(line)
        if not text:
            return []
        found: list[dict[str, Any]] = []
        at = 0
        while at < len(text):
            try:
                value, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                self._lost("could not be read in part" if found else "could not be read", position)
                break
            if isinstance(value, dict):
                found.append(value)
            else:
                self._lost("held no object", position)
            while at < len(text) and text[at].isspace():
                at += 1
        if len(found) > 1:
            self.troubles["held several objects"] += 1
        elif found and self._damaged is None:
            self.troubles["had to be repaired"] += 1
        return found

    def _lost(self, how: str, position: int) -> None:
        self._damaged = position
        self.troubles[how] += 1

    def troubles_in_words(self) -> dict[str, int]:
        """What could not be read, counted."""
        return {f"lines {how}": count for how, count in self.troubles.items()}


def whole_document(data: bytes) -> dict[str, Any] | None:
    """`data` as one JSON object, or None where it is not one."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _repaired_document(data)
    return value if isinstance(value, dict) else None


def _repaired_document(data: bytes) -> Any:
    if len(data) > MAX_REPAIRED_BYTES:
        return None
    text = _repaired(data)
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return None if text[end:].strip() else value


def _repaired(line: bytes) -> str:
    """`line` without what no JSON reader takes: byte-order mark, bytes that are no UTF-8, surrogates without a twin."""
    line = line.replace(b"\0", b"").removeprefix(BOM).strip()
    if b"\\u" in line:
        line = _ESCAPE.sub(lambda escape: b"\\ufffd" if escape["alone"] else escape[0], line)
    return line.decode("utf-8", "replace")
