"""The calls of a run, in the ledger: what may be spent is asked of it, so that all processes keep one cap."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import timedelta

from reflect.ledger.calls import CallRow
from reflect.ledger.recording import instant
from reflect.report import Spend
from reflect.triage.claude.estimating import Estimate
from reflect.triage.claude.faults import CapReached
from reflect.triage.claude.money import Call, Ended, over
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.triage")

NIGHT = timedelta(hours=12)
"""How far back a call counts towards the caps of a night."""


@dataclass
class Bill:
    """The call log of one run on `workspace`. Once a cap of repository or night is reached, nothing more is asked."""

    workspace: Workspace
    ended: list[Ended] = field(default_factory=list)
    _full: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reserve(self, call: Call, usd: float) -> None:
        """Raises CapReached where the call would pass a cap, and for every later one."""
        if self._full:
            raise CapReached(self._full)
        caps = self.workspace.config.claude.caps
        row = self.row(call, Ended("asked", usd=usd))
        since = instant(self.workspace.settings.now() - NIGHT)
        with self.workspace.ledger() as ledger:
            full = ledger.reserve_call(row, since, caps.repository_usd, caps.night_usd)
        if full is not None:
            self._full = over(full.whose, full.spent, usd, full.cap, call.subject)
            raise CapReached(self._full)

    def settle(self, call: Call, ended: Ended) -> None:
        with self.workspace.ledger() as ledger:
            ledger.settle_call(self.row(call, ended))
        self.note(call, ended)

    def note(self, call: Call, ended: Ended) -> None:
        """Count a call that ended, and is written down, among those of this run."""
        with self._lock:
            self.ended.append(ended)
            spend = self.spend
        logger.info("triage: %s on %s, $%.4f so far in %d calls", call.purpose, call.subject, spend.usd, spend.calls)

    def estimated(self, estimate: Estimate) -> tuple[Spend, tuple[str, ...]]:
        """What a run would cost at most, and the sentence that says so; nothing of it where nothing would be asked."""
        if not estimate.counted:
            return self.spend, ()
        spend = Spend(
            usd=sum(usd for _, usd in estimate.counted),
            input_tokens=sum(usage.sent for usage, _ in estimate.counted),
            output_tokens=sum(usage.output for usage, _ in estimate.counted),
            calls=len(estimate.counted),
        )
        said = (
            f"An estimate, for which nothing was asked: about {spend.calls} calls, {spend.input_tokens} tokens sent, "
            f"at most {spend.output_tokens} answered, at most ${spend.usd:.4f}."
        )
        return spend, (said,)

    @property
    def spend(self) -> Spend:
        """What the calls of this run came to; input counts the tokens to and from a cache as well."""
        return Spend(
            usd=sum(one.usd for one in self.ended),
            input_tokens=sum(one.usage.sent for one in self.ended),
            output_tokens=sum(one.usage.output for one in self.ended),
            calls=len(self.ended),
        )

    def row(self, call: Call, ended: Ended) -> CallRow:
        """The ledger's row for `call`."""
        return CallRow(
            project_id=self.workspace.project.project_id,
            call_id=call.id,
            model=call.model,
            purpose=call.purpose,
            subject=call.subject,
            called_at=instant(self.workspace.settings.now()),
            retries=call.attempt,
            status=ended.status,
            request_id=ended.request_id,
            input_tokens=ended.usage.input,
            output_tokens=ended.usage.output,
            cache_read_tokens=ended.usage.cache_read,
            cache_write_tokens=ended.usage.cache_write,
            usd=ended.usd,
        )
