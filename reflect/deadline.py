"""How long the work at hand may take, known to everything in it that waits for something outside.

The limit travels with the context, like a cancellation: git and the engines ask `time_left` before they wait, a run
asks `check` before it lands, and so nothing that is late can still change anything.
"""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from reflect.errors import ReflectError, TimeLimitReached

T = TypeVar("T")

GRACE_S = 2.0
"""How much longer a call is waited for than it may take: what heeds the limit says itself what it was stopped at."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """`ends` on the monotonic clock, `limit_s` seconds after the work began."""

    ends: float
    limit_s: float

    @property
    def left(self) -> float:
        return self.ends - time.monotonic()


_CURRENT: contextvars.ContextVar[Deadline | None] = contextvars.ContextVar("reflect_deadline", default=None)


@contextmanager
def within(limit_s: float) -> Iterator[None]:
    """Let the body take `limit_s` seconds, and less where the work around it ends earlier."""
    around = _CURRENT.get()
    ends = time.monotonic() + limit_s
    token = _CURRENT.set(around if around is not None and around.ends < ends else Deadline(ends, limit_s))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def time_left(most: float) -> float:
    """`most` seconds, or what the work at hand has left of its own. Raises TimeLimitReached where that is nothing."""
    current = _CURRENT.get()
    if current is None:
        return most
    check()
    return min(most, max(current.left, 0.001))


def check() -> None:
    """Raise TimeLimitReached where the work at hand has no time left."""
    current = _CURRENT.get()
    if current is not None and current.left <= 0:
        raise _reached(current.limit_s)


def call_within(limit_s: float, call: Callable[[], T]) -> T:
    """What `call` returns within `limit_s` seconds.

    Raises TimeLimitReached where it does not come back: it is left behind on a thread that keeps no process alive, and
    whatever it does next ends at its first look at the time.
    """
    began = time.monotonic()
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            with within(limit_s):
                answers.put((call(), None))
        except BaseException as error:  # it belongs to the caller, on whose thread it is raised again
            answers.put((None, error))

    threading.Thread(target=contextvars.copy_context().run, args=(work,), name="reflect-limited", daemon=True).start()
    try:
        result, error = answers.get(timeout=limit_s + GRACE_S)
    except queue.Empty:
        raise _reached(limit_s) from None
    if error is not None:
        raise _reached(limit_s, error) if _is_late(error, began + limit_s) else error
    return result  # type: ignore[return-value]  # no error, so there is a result


def _is_late(error: BaseException, ends: float) -> bool:
    """Whether `error` is what stopping the work at its limit looks like from inside: git was killed, say."""
    return isinstance(error, ReflectError) and time.monotonic() >= ends


def _reached(limit_s: float, stopped: BaseException | None = None) -> TimeLimitReached:
    if isinstance(stopped, TimeLimitReached):
        return stopped
    said = f" ({str(stopped).rstrip('.')})" if stopped is not None else ""
    return TimeLimitReached(
        f"The work took longer than its limit of {limit_s:g} s and was stopped{said}; what had not landed by then is "
        "left to the next run."
    )
