"""Items in parallel: order kept, failures kept apart, context carried."""

from __future__ import annotations

import contextvars
import threading

from tasks.parallel import over

_WHERE: contextvars.ContextVar[str] = contextvars.ContextVar("where")


def test_results_come_in_the_order_of_the_items_and_failures_stay_alone() -> None:
    gate = threading.Barrier(3)

    def call(item: int) -> int:
        gate.wait(5)
        if item == 2:
            raise ValueError(item)
        return item * 10

    done = over([1, 2, 3], call, workers=3)
    assert [(one.item, one.result) for one in done] == [(1, 10), (2, None), (3, 30)]
    assert isinstance(done[1].error, ValueError)


def test_the_context_of_the_caller_reaches_every_thread() -> None:
    _WHERE.set("in the flow")
    assert [one.result for one in over(range(3), lambda _: _WHERE.get(), workers=2)] == ["in the flow"] * 3
