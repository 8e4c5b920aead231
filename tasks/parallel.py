"""Calling one task over many items, from a flow or from inside another task.

`Task.map` on a bounded runner waits for ever when the calling code itself runs as a task on that runner. Threads of
our own, with the run context copied into each, hold in both places, and one failing item never takes the others down.
They keep no process alive: an item that hangs for ever must not hold a worker for ever.
"""

from __future__ import annotations

import contextvars
import logging
import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

counting = logging.getLogger("reflect.counting")
counting.propagate = False  # for whoever watches, and no part of a run's log

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Item, Result]):
    """What became of one item: a result, or the error that stopped it."""

    item: Item
    result: Result | None
    error: Exception | None = None


def over(
    items: Iterable[Item], call: Callable[[Item], Result], workers: int, counted: str = ""
) -> tuple[Done[Item, Result], ...]:
    """Call `call` (which calls a task) on every item, `workers` at a time, in the order of `items`.

    `counted` is what they are called where somebody watches how many are done; without it nobody is told.
    """

    def one(item: Item) -> Done[Item, Result]:
        try:
            return Done(item, call(item))
        except Exception as error:  # the caller accounts for it: it is part of the answer
            return Done(item, None, error)

    waiting: queue.SimpleQueue[tuple[int, Item]] = queue.SimpleQueue()
    for numbered in enumerate(items):
        waiting.put(numbered)
    done: dict[int, Done[Item, Result]] = {}
    stopped: list[BaseException] = []

    def work() -> None:
        while True:
            try:
                number, item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done[number] = one(item)
                _tell(counted, len(done), total)
            except BaseException as signal:  # the run is being stopped: the caller must hear of it, on its own thread
                stopped.append(signal)
                return

    total = waiting.qsize()
    _tell(counted, 0, total)
    threads = [_started(work) for _ in range(min(workers, total))]
    for thread in threads:
        thread.join()
    if stopped:
        raise stopped[0]
    return tuple(done[number] for number in sorted(done))


def _tell(counted: str, done: int, total: int) -> None:
    if counted:
        counting.debug("%s: %d of %d", counted, done, total)


def _started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="reflect-parallel", daemon=True)
    thread.start()
    return thread
