"""Asking a provider: money set aside first, a few tries, a limit on the time, everything written down."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflect.configuration import ClaudeConfig, ModelPrice
from reflect.deadline import call_within, check
from reflect.errors import TimeLimitReached
from reflect.triage.claude.breaker import Breaker
from reflect.triage.claude.faults import CapReached, ProviderFault, Refused, Unreadable
from reflect.triage.claude.messages import Ask, Reply
from reflect.triage.claude.money import Call, CallLog, Ended, estimate, over
from reflect.triage.claude.prices import cost
from reflect.triage.claude.reading import Failure, Message, failure
from reflect.triage.claude.sdk import Answered, Lost, Unsent, Wire

LONGEST_WAIT_S = 30.0
"""How long any wait between two tries may be; who asks for more is asked again by the next run."""
_FIRST_WAIT_S = 0.5
_LONGEST_OWN_WAIT_S = 8.0


@dataclass(frozen=True)
class Clock:
    """The time and how to let it pass."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class Messages:
    """Puts questions over `wire`. Safe for several threads.

    `prices` holds the price of every model in `config`. `dice` gives the jitter of the waits.
    """

    wire: Callable[[], Wire]
    config: ClaudeConfig
    prices: Mapping[str, ModelPrice]
    calls: CallLog
    breaker: Breaker = field(default_factory=Breaker)
    clock: Clock = Clock()
    dice: random.Random = field(default_factory=lambda: random.Random(0))

    def ask(self, ask: Ask) -> Reply:
        """The answer to `ask`. Raises ProviderFault, CapReached, Refused or Unreadable."""
        self.breaker.check()
        try:
            reply = self._tried(ask)
        except ProviderFault as fault:
            self.breaker.failed(fault)
            raise
        except (Refused, Unreadable):
            self.breaker.answered()
            raise
        self.breaker.answered()
        return reply

    def request(self, ask: Ask) -> dict[str, Any]:
        """What is sent for `ask`. The instructions are marked to be cached: they are the same for many questions."""
        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(ask.schema)}}
        if effort := self.config.effort_of[ask.purpose]:
            output["effort"] = effort
        return {
            "model": self.config.model_of[ask.purpose],
            "max_tokens": ask.max_tokens,
            "system": [{"type": "text", "text": ask.system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": _sendable(ask.content)}],
            "output_config": output,
        }

    def _tried(self, ask: Ask) -> Reply:
        ends = self.clock.now() + self.config.deadline_s
        attempt = 0
        while True:
            got = self._once(ask, attempt, ends)
            if isinstance(got, Reply):
                return got
            wait = self._wait(got, attempt)
            if not got.again or attempt >= self.config.retries or wait is None or self.clock.now() + wait >= ends:
                raise got.fault
            self.clock.sleep(wait)
            check()
            attempt += 1

    def _once(self, ask: Ask, attempt: int, ends: float) -> Reply | Failure:
        """One request, written down as it ends however it ends."""
        model = self.config.model_of[ask.purpose]
        call = Call(uuid.uuid4().hex, ask.purpose, ask.subject, model, attempt)
        worst = estimate(ask, self.prices[model])
        if worst > self.config.caps.call_usd:
            raise CapReached(over("call", 0.0, worst, self.config.caps.call_usd, ask.subject))
        wire = self.wire()
        self.calls.reserve(call, worst)
        ended = Ended("lost", usd=worst)
        try:
            answered = self._send(wire, ask, ends)
            if (failed := failure(answered, ask)) is not None:
                ended = Ended("failed", request_id=answered.request_id)
                return failed
            ended = Ended("lost", usd=worst, request_id=answered.request_id)
            message = Message.of(answered, ask)
            paid = cost(message.usage, self.prices[model])
            ended = Ended("unusable", message.usage, paid, message.request_id)
            reply = message.reply(ask)
            ended = Ended("ok", message.usage, paid, message.request_id)
            return reply
        except Refused:
            ended = Ended("refused", ended.usage, ended.usd, ended.request_id)
            raise
        except Unsent as unsent:
            ended = Ended("failed")
            text = f"The provider could not be asked for {ask.purpose} on {ask.subject} ({unsent}); it waits."
            return Failure(ProviderFault(text, hopeless=True), again=False)
        except Lost as lost:
            ended = ended if lost.sent else Ended("failed")
            text = f"The provider gave no answer to {ask.purpose} on {ask.subject} ({lost}); it waits for the next run."
            return Failure(ProviderFault(text), again=True)
        finally:
            self.calls.settle(call, ended)

    def _send(self, wire: Wire, ask: Ask, ends: float) -> Answered:
        left = max(ends - self.clock.now(), 0.001)
        request = self.request(ask)
        try:
            return call_within(left, lambda: wire.send(request, left))
        except TimeLimitReached:
            check()  # the work around this one may be what has no time left
            raise ProviderFault(
                f"The provider gave no answer to {ask.purpose} on {ask.subject} within {self.config.deadline_s:g} s; "
                "it waits for the next run."
            ) from None

    def _wait(self, failed: Failure, attempt: int) -> float | None:
        """How long to wait before the next try; None where the provider asks for more than is worth waiting."""
        if failed.wait_s is not None:
            return failed.wait_s if failed.wait_s <= LONGEST_WAIT_S else None
        longest = min(_FIRST_WAIT_S * float(2**attempt), _LONGEST_OWN_WAIT_S)
        return longest * self.dice.uniform(0.75, 1.0)


def once(make: Callable[[], Wire]) -> Callable[[], Wire]:
    """`make`, called at the first use and never again, whichever thread comes first."""
    lock = threading.Lock()
    made: list[Wire] = []

    def wire() -> Wire:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return wire


def _sendable(text: str) -> str:
    """`text` without halves of surrogate pairs, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
