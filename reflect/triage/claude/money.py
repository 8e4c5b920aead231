"""What calls may cost and did cost. An amount is set aside before a call is made, and settled when it has ended."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Protocol

from reflect.configuration import Caps, ModelPrice
from reflect.triage.claude.faults import CapReached
from reflect.triage.claude.messages import Ask
from reflect.triage.claude.prices import Usage, cost

CHARS_PER_TOKEN = 3
_OVERHEAD = 400
"""Tokens of a request beside its texts: roles, and the grammar that is made of the schema."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request that is about to be sent. `id` is ours; `attempt` counts from 0 for one question."""

    id: str
    purpose: str
    subject: str
    model: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a request ended: `status` is ok, refused, unusable, failed or lost (perhaps billed, nobody knows)."""

    status: str
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    request_id: str = ""


class CallLog(Protocol):
    """Where every request is written down, before it is sent and when it has ended. Safe for several threads."""

    def reserve(self, call: Call, usd: float) -> None:
        """Set `usd` aside. Raises CapReached, with nothing set aside, where that would pass a cap."""

    def settle(self, call: Call, ended: Ended) -> None:
        """Write down how `call` ended, in the place of what was set aside."""


@dataclass
class CallsInMemory:
    """The calls of one process, under the caps of a repository and a night alike."""

    caps: Caps = field(default_factory=Caps)
    ended: list[tuple[Call, Ended]] = field(default_factory=list)
    _reserved: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reserve(self, call: Call, usd: float) -> None:
        most = min(self.caps.repository_usd, self.caps.night_usd)
        with self._lock:
            spent = sum(self._reserved.values()) + sum(one.usd for _, one in self.ended)
            if spent + usd > most:
                raise CapReached(over("run", spent, usd, most, call.subject))
            self._reserved[call.id] = usd

    def settle(self, call: Call, ended: Ended) -> None:
        with self._lock:
            self._reserved.pop(call.id, None)
            self.ended.append((call, ended))


def over(what: str, spent: float, next_usd: float, cap: float, subject: str) -> str:
    """The sentence for a cap that the next call would pass."""
    return (
        f"The call on {subject} may cost ${next_usd:.4f}, and with ${spent:.4f} spent or set aside that would pass the "
        f"cap of ${cap:.2f} per {what}; it was not made, and what it was about waits for the next run; raise "
        "`claude.caps` in config.yaml to go on sooner."
    )


def estimate(ask: Ask, price: ModelPrice) -> float:
    """The most `ask` should cost: nothing from a cache, and every token of the answer used."""
    return cost(estimated_usage(ask), price)


def estimated_usage(ask: Ask) -> Usage:
    """Tokens by the length of the texts; the answer as long as it may be."""
    schema = len(str(dict(ask.schema)))
    sent = _tokens(ask.content) + _OVERHEAD + schema // CHARS_PER_TOKEN
    return Usage(input=sent, output=ask.max_tokens, cache_write=_tokens(ask.system))


def _tokens(text: str) -> int:
    """Never too few: three bytes a token holds for prose, and other scripts have more bytes per letter."""
    return len(text.encode("utf-8", "replace")) // CHARS_PER_TOKEN + 1
