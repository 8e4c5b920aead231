"""A large run: a first one over years of history."""

from __future__ import annotations

import time

from reflect.ledger.ledger import Ledger
from tests.ledger.entries import PROJECT, entry, finding, key, record, reflexion, review_item

EVIDENCE = 10_000
TURNS_EACH = 10
MAX_RECORD_S = 3.0


def test_a_run_of_ten_thousand_is_recorded_in_seconds_and_comes_back(ledger: Ledger) -> None:
    ids = [f"{number:012x}/0" for number in range(EVIDENCE)]
    items = tuple(
        record(name, content=name, keys=[key(number * TURNS_EACH + turn) for turn in range(TURNS_EACH)])
        for number, name in enumerate(ids)
    )
    large = entry(evidence=items)
    start = time.perf_counter()
    ledger.record(large)
    assert time.perf_counter() - start < MAX_RECORD_S
    seen = ledger.seen(PROJECT, {"run-1"})
    assert seen.contents == {name: name for name in ids}
    assert seen.turn_keys == {key(number) for number in range(EVIDENCE * TURNS_EACH)}


def test_every_kind_of_row_may_outgrow_one_statement(ledger: Ledger) -> None:
    many = range(2_100)
    found = [finding(f"quote {number}") for number in many]
    ledger.record(
        entry(
            pending=tuple(found),
            reflexions=tuple(reflexion(f"r-{number}") for number in many),
            review_items=tuple(review_item(f"claim {number}") for number in many),
        )
    )
    counts = ledger.counts(PROJECT)
    assert (counts.pending_findings, counts.reflexions, counts.review["pending"]) == (2_100, 2_100, 2_100)
