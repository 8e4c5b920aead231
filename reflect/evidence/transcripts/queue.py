"""Messages a person typed while the agent worked.

One message may leave three traces: a queue operation, an attachment, and later a line of its own. It is said once,
where the agent got it. A trace that an earlier checkpoint already gave lends its key, so that the message is not new
again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

from reflect.evidence.transcripts import harness
from reflect.evidence.transcripts.recording import Recorder, Spot
from reflect.model import Channel


@dataclass(slots=True)
class _Waiting:
    """A message in the queue: its text, the turn it gave (None: none), the key of that turn."""

    text: str
    turn: int | None
    key: bytes


class Queue:
    """The queue of one session while its transcript is walked."""

    def __init__(self, recorder: Recorder) -> None:
        self._record = recorder
        self._waiting: deque[_Waiting] = deque()
        self._given: dict[str, _Waiting] = {}

    def operation(self, entry: dict[str, Any], spot: Spot) -> None:
        """A `queue-operation` line. Only what is pulled back for editing was not sent."""
        kind, content = entry.get("operation"), entry.get("content")
        if kind == "enqueue" and isinstance(content, str):
            self._enqueue(content, spot)
        elif kind in ("dequeue", "remove") and self._waiting:
            self._waiting.popleft()
        elif kind == "popAll":
            for waiting in self._waiting:
                self._withdraw(waiting)
            self._waiting.clear()

    def _enqueue(self, content: str, spot: Spot) -> None:
        text = "" if harness.is_harness_text(content) else harness.person_text(content)
        if text.startswith("/"):
            text = ""  # a slash command: its own line says what it was
        turn = self._say(text, spot) if text else None
        waiting = _Waiting(text, turn, spot.key)
        self._waiting.append(waiting)
        if text:
            self._given[_folded(text)] = waiting

    def delivered(self, text: str, spot: Spot) -> None:
        """The attachment by which the agent got a message."""
        words = harness.person_text(text)
        if words:
            waiting = _Waiting(words, None, self._taken_over(words, spot.key))
            waiting.turn = self._say(words, replace(spot, key=waiting.key))
            self._given[_folded(words)] = waiting

    def prompt(self, text: str, spot: Spot) -> None:
        """A line of the person's own: the queue may have held it before."""
        self._record.person(Channel.PROMPT, text, replace(spot, key=self._taken_over(text, spot.key)))

    def _taken_over(self, text: str, key: bytes) -> bytes:
        """Withdraw the trace that `text` left before; the key its new trace goes under."""
        before = self._given.pop(_folded(text), None)
        if before is None:
            return key
        self._withdraw(before)
        return before.key if before.key in self._record.already else key

    def _withdraw(self, waiting: _Waiting) -> None:
        if waiting.turn is not None:
            self._record.turns[waiting.turn] = None
            waiting.turn = None
        self._given.pop(_folded(waiting.text), None)

    def _say(self, text: str, spot: Spot) -> int:
        return self._record.person(Channel.QUEUED, text, spot)


def _folded(text: str) -> str:
    return " ".join(text.split())
