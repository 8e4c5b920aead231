"""What a run would ask and cost, without asking: every question is counted and then left to the embedded engine."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from reflect.configuration import ClaudeConfig, ModelPrice
from reflect.triage.claude.batches import BATCHED
from reflect.triage.claude.faults import Refused
from reflect.triage.claude.messages import Ask, Reply
from reflect.triage.claude.money import estimated_usage
from reflect.triage.claude.prices import Usage, cost, halved


@dataclass
class Estimate:
    """The questions that were counted, each with its most tokens and its most USD. Safe for several threads."""

    counted: list[tuple[Usage, float]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, usage: Usage, usd: float) -> None:
        with self._lock:
            self.counted.append((usage, usd))


@dataclass(frozen=True, slots=True)
class Estimating:
    """Answers no question. The embedded engine's plan stands in for the model's, so pages to write are counted too."""

    config: ClaudeConfig
    prices: Mapping[str, ModelPrice]
    estimate: Estimate

    def ask(self, ask: Ask) -> Reply:
        """Always raises Refused: that is what hands an item to the embedded engine."""
        usage = estimated_usage(ask)
        price = self.prices[self.config.model_of[ask.purpose]]
        batched = self.config.mode == "batch" and ask.purpose in BATCHED
        self.estimate.add(usage, cost(usage, halved(price) if batched else price))
        raise Refused(f"{ask.purpose} on {ask.subject} was counted, not asked.")
