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

_RESULTS_FIRST = re.compile(
    rb'\{(?:\s*"[^"\\]+"\s*:\s*(?:"[^"\\]*"|null|true|false|[0-9.]+)\s*,)*'
    rb'\s*"message"\s*:\s*\{(?:\s*"role"\s*:\s*"user"\s*,)?\s*"content"\s*:\s*\[\s*\{'
)
"""A line whose message holds a list of blocks, with nothing but plain values before it."""

_CALL = b'"tool_use_id"'
_NAME = re.compile(rb'\s*:\s*"([^"\\]*)"')
_ERROR = b'"is_error"'
_IS_AN_ERROR = re.compile(rb"\s*:\s*true")


class Silence:
    """Knows the state of the walk, because what a line carries depends on it."""

    def __init__(self, record: Recorder) -> None:
        self._record = record

    def covers(self, line: bytes) -> bool:
        """Whether `line` is a user line of nothing but results of known calls that came back without an error."""
        if len(line) < _WORTH_A_LOOK:
            return False
        if self._record.awaits_results or not self._record.workspace:
            return False
        start = _RESULTS_FIRST.match(line)
        if start is None:
            return False
        begin = start.end()
        # the second, parsed form of the result stands beside the message, and repeats all of it
        end = line.find(b'"toolUseResult"', begin)
        if end < 0:
            end = len(line)
        if line.find(b'"text"', begin, end) >= 0 or _has_error(line, begin, end):
            return False
        return self._answers_known_calls(line, begin, end)

    def _answers_known_calls(self, line: bytes, begin: int, end: int) -> bool:
        """Results may precede their call; what such a one says is known only when the call has been read."""
        found = False
        at = line.find(_CALL, begin, end)
        while at >= 0:
            call = _NAME.match(line, at + len(_CALL))
            if call is None or self._record.called(call[1].decode("utf-8", "replace")) is None:
                return False
            found = True
            at = line.find(_CALL, at + len(_CALL), end)
        return found


def _has_error(line: bytes, begin: int, end: int) -> bool:
    at = line.find(_ERROR, begin, end)
    while at >= 0:
        if _IS_AN_ERROR.match(line, at + len(_ERROR)):
            return True
        at = line.find(_ERROR, at + len(_ERROR), end)
    return False
