"""What can go wrong when a model is asked. Every fault is an outcome of its own; none ever looks like an answer."""

from __future__ import annotations

from reflect.errors import EngineError


class ProviderFault(EngineError):
    """The provider gave no answer: what was asked about stays pending."""


class CapReached(EngineError):
    """The next call would pass a cap: nothing more is asked, and what is left stays pending."""


class Refused(EngineError):
    """The model declined to answer: the item falls back to the extractive engine."""


class Unreadable(EngineError):
    """The answer cannot be used: asked again once with the reason, then quarantined."""
