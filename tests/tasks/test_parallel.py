"""Items in parallel: order kept, failures kept apart, context carried."""

from __future__ import annotations

import contextvars
import threading

import pytest

from tasks.parallel import counting, over

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


def test_whoever_watches_is_told_how_many_are_done(caplog: pytest.LogCaptureFixture) -> None:
    counting.addHandler(caplog.handler)
    counting.setLevel("DEBUG")
    try:
        over(range(3), str, workers=2, counted="things")
        over(range(3), str, workers=2)
    finally:
        counting.removeHandler(caplog.handler)
        counting.setLevel("NOTSET")
    assert [record.getMessage() for record in caplog.records] == [f"things: {done} of 3" for done in range(4)]
