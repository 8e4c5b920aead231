"""Messages a person typed while the agent worked.

One message may leave three traces: a queue operation, an attachment, and later a line of its own. It is said once,
where the agent got it. A trace that an earlier checkpoint already gave lends its key, so that the message is not new
again.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Any

from reflect.evidence.transcripts import harness
from reflect.evidence.transcripts.recording import Recorder, Spot
from reflect.model import Channel

_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|$)")


@dataclass(slots=True)
class _Waiting:
    """A message in the queue: its text, the turn it gave (None: none), the key of that turn, whether it has left."""

    text: str
    turn: int | None
    key: bytes
    left: bool = False


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
            self._waiting.popleft().left = True
        elif kind == "popAll":
            for waiting in self._waiting:
                self._withdraw(waiting)
            self._waiting.clear()

    def _enqueue(self, content: str, spot: Spot) -> None:
        text = "" if harness.is_harness_text(content) else harness.person_text(content)
        if _COMMAND.match(text):
            text = ""  # its own line says what it was
        waiting = _Waiting(text, self._say(text, spot) if text else None, spot.key)
        self._waiting.append(waiting)
        if text:
            self._given[_folded(text)] = waiting

    def delivered(self, text: str, spot: Spot) -> None:
        """The attachment by which the agent got a message."""
        words = harness.person_text(text)
        if words:
            key = self._taken_over(words, spot.key)
            turn = self._say(words, Spot(spot.position, key, spot.at))
            self._given[_folded(words)] = _Waiting(words, turn, key, left=True)

    def prompt(self, text: str, spot: Spot) -> None:
        """A line of the person's own: the queue may have held it before."""
        key = self._taken_over(text, spot.key)
        self._record.person(Channel.PROMPT, text, Spot(spot.position, key, spot.at))

    def moved_on(self) -> None:
        """The agent answered: what had left the queue by now leaves no further trace, the same words are new ones."""
        if self._given:
            self._given = {text: waiting for text, waiting in self._given.items() if not waiting.left}

    def _taken_over(self, text: str, key: bytes) -> bytes:
        """Withdraw the trace that `text` left before; the key its new trace goes under."""
        if not self._given:
            return key
        before = self._given.pop(_folded(text), None)
        if before is None:
            return key
        self._withdraw(before)
        return before.key if before.key in self._record.already else key

    def _withdraw(self, waiting: _Waiting) -> None:
        if waiting.turn is not None:
            self._record.turns[waiting.turn] = None
            waiting.turn = None
        if self._given.get(_folded(waiting.text)) is waiting:
            del self._given[_folded(waiting.text)]

    def _say(self, text: str, spot: Spot) -> int:
        return self._record.person(Channel.QUEUED, text, spot)


def _folded(text: str) -> str:
    return " ".join(text.split())
