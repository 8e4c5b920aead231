"""What tests of the plumbing share: a clock that nobody waits for, a question, and an asking over a local server."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflect.configuration import Caps, ClaudeConfig
from reflect.triage.claude.asking import Clock, Messages, once
from reflect.triage.claude.breaker import Breaker
from reflect.triage.claude.fake_answers import Served
from reflect.triage.claude.fake_api import FakeApi
from reflect.triage.claude.messages import Ask
from reflect.triage.claude.money import CallLog, CallsInMemory
from reflect.triage.claude.prices import priced
from reflect.triage.claude.schemas import reflect_schema
from reflect.triage.claude.sdk import SdkWire

KEY = "sk-test-of-our-own"
ASK = Ask("reflect", "checkpoint a/0", "Read.", "<evidence>\n</evidence>", reflect_schema(), 1_000, "1")
GOOD: dict[str, Any] = {"findings": []}


@dataclass
class Waits:
    """A clock on which every sleep is over at once; `slept` are the waits it was asked for."""

    at: float = 0.0
    slept: list[float] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.at, self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


def asking(
    api: FakeApi,
    *,
    calls: CallLog | None = None,
    waits: Waits | None = None,
    url: str | None = None,
    caps: Mapping[str, float] | None = None,
    claude: ClaudeConfig | None = None,
    **config: Any,
) -> Messages:
    claude = claude or ClaudeConfig(caps=Caps(**(caps or {})), **config)
    return Messages(
        once(lambda: SdkWire(claude, KEY, url or api.url)),
        claude,
        priced(claude.model_of.values(), claude.prices),
        calls if calls is not None else CallsInMemory(claude.caps),
        Breaker(),
        (waits or Waits()).clock,
        random.Random(1),
    )


def in_turn(*served: Served | Any) -> Callable[[Mapping[str, Any]], Served | Any]:
    """One answer after another, the last one again and again."""
    waiting = list(served)
    return lambda body: waiting.pop(0) if len(waiting) > 1 else waiting[0]
