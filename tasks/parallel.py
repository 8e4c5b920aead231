"""Calling one task over many items, from a flow or from inside another task.

`Task.map` on a bounded runner waits for ever when the calling code itself runs as a task on that runner. Threads of
our own, with the run context copied into each, hold in both places, and one failing item never takes the others down.
They keep no process alive: an item that hangs for ever must not hold a worker for ever.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Iterable
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
            except BaseException as signal:  # the run is being stopped: the caller must hear of it, on its own thread
                stopped.append(signal)
                return

    threads = [_started(work) for _ in range(min(workers, waiting.qsize()))]
    for thread in threads:
        thread.join()
    if stopped:
        raise stopped[0]
    return tuple(done[number] for number in sorted(done))


def _started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="reflect-parallel", daemon=True)
    thread.start()
    return thread
