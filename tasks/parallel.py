"""Calling one task over many items, from a flow or from inside another task.

`Task.map` on a bounded runner waits for ever when the calling code itself runs as a task on that runner. A pool of our
own, with the run context copied into each thread, holds in both places, and one failing item never takes the others
down.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Item, Result]):
    """What became of one item: a result, or the error that stopped it."""

    item: Item
    result: Result | None
    error: Exception | None = None


def over(items: Iterable[Item], call: Callable[[Item], Result], workers: int) -> tuple[Done[Item, Result], ...]:
    """Call `call` (which calls a task) on every item, `workers` at a time, in the order of `items`."""

    def one(item: Item) -> Done[Item, Result]:
        try:
            return Done(item, call(item))
        except Exception as error:  # the caller accounts for it: it is part of the answer
            return Done(item, None, error)

    with ThreadPoolExecutor(workers, thread_name_prefix="reflect") as pool:
        futures = [pool.submit(contextvars.copy_context().run, one, item) for item in items]
        return tuple(future.result() for future in futures)
