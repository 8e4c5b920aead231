"""What can go wrong when a model is asked. Every fault is an outcome of its own; none ever looks like an answer."""

from __future__ import annotations

from reflect.errors import EngineError
from reflect.triage.engine import Later


class ProviderFault(EngineError):
    """The provider gave no answer: what was asked about stays pending. `request_id` is the provider's, if it gave one.

    `hopeless` says that no other question would fare better tonight: the key, the bill or the right to ask is at fault.
    """

    def __init__(self, message: str, *, request_id: str = "", hopeless: bool = False) -> None:
        super().__init__(message)
        self.request_id = request_id
        self.hopeless = hopeless


class SpendLimit(ProviderFault):
    """The provider's own limit on spending is reached: not asked again tonight."""


class Garbled(ProviderFault):
    """What came back is not a message: a cut body, a page of HTML, an answer without its usage."""


class Stopped(ProviderFault):
    """The provider failed too often in this run: nothing more is asked."""


class InBatch(Later):
    """The question went out in a batch, or goes with this run's: its answer is there for a later run."""


class CapReached(Later):
    """The next call would pass a cap: nothing more is asked, and what is left stays pending."""


class Refused(EngineError):
    """The model declined to answer: the item falls back to the extractive engine."""


class Unreadable(EngineError):
    """The answer cannot be used: asked again once with the reason, then quarantined."""
