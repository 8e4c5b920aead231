"""Tells by their bytes which lines of Claude Code carry nothing, so that nobody has to parse them.

Tool output is more than half of all bytes and gives no turn. A line may be passed over only where that is certain; to
parse one in vain costs a little time, to miss one would lose what somebody said. What makes it certain: a quote inside
a JSON string is written `\\"`, so the bytes `"text"` stand in a line only as a token of its own structure, however
often the tool's output speaks of such keys (or where a string ends in `\\"text`, which costs one parse in vain).
"""

from __future__ import annotations

import re

from reflect.evidence.transcripts.recording import Recorder

_WORTH_A_LOOK = 1024
"""Bytes of a line below which parsing is as quick as looking."""

_HEAD_BYTES = 2048
"""How far into a line its message may begin."""

_MESSAGE = b'"message"'
_BLOCKS = re.compile(rb'"message"\s*:\s*\{(?:\s*"role"\s*:\s*"user"\s*,)?\s*"content"\s*:\s*\[\s*\{')
_RESULT_AGAIN = b'"toolUseResult"'
_TELLING = re.compile(rb'"(?=[ti])(?:text"|is_error"\s*:\s*true|toolUseResult"|tool_use_id"(?:\s*:\s*"([^"\\]*)")?)')
"""Tokens that tell: a block of text, an error, the calls that are answered, and where the message has ended."""

_MISPLACED = re.compile(rb'\{(?<![:,\[]\{)(?<![:,\[] \{)\s*"')
"""The beginning of an object where a line that is one object has none: a line end was lost before it."""


class Silence:
    """Knows the state of the walk, because what a line carries depends on it."""

    def __init__(self, record: Recorder) -> None:
        self._record = record

    def covers(self, data: bytes, start: int, stop: int) -> bool:
        """Whether the line from `start` to `stop` holds results of known calls without an error, and nothing else."""
        if stop - start < _WORTH_A_LOOK or self._record.awaits_results or not self._record.workspace:
            return False
        begin = _first_block(data, start, stop)
        return (
            begin >= 0
            and data[stop - 1] == ord("}")
            and self._holds_only_results(data, begin, stop)
            and _MISPLACED.search(data, begin, stop) is None
        )

    def _holds_only_results(self, data: bytes, begin: int, stop: int) -> bool:
        answered = False
        for token in _TELLING.finditer(data, begin, stop):
            if token[1] is not None:
                # a result may precede its call; what such a one says is known only when the call has been read
                if self._record.called(token[1].decode("utf-8", "replace")) is None:
                    return False
                answered = True
            elif token[0] == _RESULT_AGAIN:
                # the second, parsed form of the result stands beside the message and repeats all of it
                break
            else:
                return False
        return answered


def _first_block(data: bytes, start: int, stop: int) -> int:
    """Where the blocks of a line's message begin, if nothing but plain values stands before it; else -1."""
    message = data.find(_MESSAGE, start, min(stop, start + _HEAD_BYTES))
    if message < 0 or data.find(b"{", start + 1, message) >= 0 or data.find(b"[", start, message) >= 0:
        return -1
    opened = _BLOCKS.match(data, message, stop)
    return -1 if opened is None else opened.end()
