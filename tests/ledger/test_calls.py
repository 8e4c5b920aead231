"""Rows of calls on both databases: caps hold between connections, and a row is settled in its place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from reflect.ledger.calls import CallRow, Full
from reflect.ledger.ledger import Ledger

ROW = CallRow(
    "shop", "c0", "claude-haiku-5-5", "reflect", "checkpoint a/0", "2026-03-02T01:00:00.000000+00:00", usd=1.0
)
SINCE = "2026-03-01T18:00:00.000000+00:00"


def _rows(count: int) -> list[CallRow]:
    return [replace(ROW, call_id=f"c{number}") for number in range(count)]


def test_connections_at_once_do_not_pass_a_cap(url: str) -> None:
    Ledger.open(url).close()

    def reserve(row: CallRow) -> Full | None:
        with Ledger.open(url) as ledger:
            return ledger.reserve_call(row, SINCE, 3.5, 100.0)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(reserve, _rows(8)))
    assert told.count(None) == 3
    assert {full for full in told if full is not None} == {Full("repository", 3.0, 3.5)}
    with Ledger.open(url) as ledger:
        assert len(ledger.model_calls("shop")) == 3


def test_the_night_counts_all_projects_and_the_repository_one(ledger: Ledger) -> None:
    other = replace(ROW, project_id="other")
    assert ledger.reserve_call(other, SINCE, 1.0, 10.0) is None
    assert ledger.reserve_call(ROW, SINCE, 1.0, 10.0) is None
    assert ledger.reserve_call(replace(ROW, call_id="c1"), SINCE, 1.0, 10.0) == Full("repository", 1.0, 1.0)
    assert ledger.reserve_call(replace(ROW, call_id="c1"), SINCE, 9.0, 2.5) == Full("night", 2.0, 2.5)
    assert ledger.reserve_call(replace(ROW, call_id="c1"), "2026-03-02T02:00:00", 1.0, 1.0) is None, "another night"


@pytest.mark.parametrize("times", [1, 2])
def test_a_row_is_settled_in_its_place(ledger: Ledger, times: int) -> None:
    ledger.reserve_call(ROW, SINCE, 10.0, 10.0)
    settled = replace(ROW, status="ok", input_tokens=7, cache_read_tokens=3, output_tokens=2, usd=0.1, request_id="r")
    for _ in range(times):
        ledger.settle_call(settled)
    assert ledger.model_calls("shop") == (settled,)
    assert ledger.model_calls("other") == ()
    assert ledger.counts("shop").spend.usd == pytest.approx(0.1)
