"""Whatever a transcript holds goes in and comes out unchanged, on both databases."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from reflect.ledger.entry import LedgerEntry
from reflect.ledger.ledger import Ledger
from reflect.ledger.text import dump, load, restored, storable
from tests.ledger.entries import PROJECT, entry, finding, page, record, reflexion, review_item

any_text = st.text(st.characters(exclude_categories=[]) | st.sampled_from("\x00\x1a\ud800\udfff\ud83d\ude00'\"\\%;"))

JUNK = [
    pytest.param("before\x00after", id="hazard-35-nul"),
    pytest.param("\x00", id="hazard-35-nul-alone"),
    pytest.param("half \ud83d of a pair", id="hazard-34-lone-high-surrogate"),
    pytest.param("\ude00\ud83d", id="hazard-34-surrogates-in-the-wrong-order"),
    pytest.param("\ud83d\ude00", id="hazard-34-a-pair-in-two-halves"),
    pytest.param("\x1a0000 is not a NUL", id="looks-escaped"),
    pytest.param("😀 漢字 \u202e\ufffe", id="other-scripts"),
    pytest.param("'; DROP TABLE runs; --", id="a-quote"),
]


class Note(BaseModel):
    text: str


@given(any_text)
def test_escaping_is_reversible_and_encodes(text: str) -> None:
    stored = storable(text)
    stored.encode("utf-8")
    assert "\x00" not in stored
    assert restored(stored) == text


@given(any_text)
def test_values_survive_their_json(text: str) -> None:
    written = dump(Note(text=text))
    written.encode("utf-8")
    assert load(Note, written) == Note(text=text)


def entry_that_says(text: str, run_id: str = "run-1") -> LedgerEntry:
    """`text` in every place that takes free text."""
    return entry(
        run_id,
        engine=text,
        evidence=(record(reason=text, content=text, tainted_by=text),),
        pending=(finding(text),),
        reflexions=(reflexion(intervention=text, context=text),),
        review_items=(review_item(claim="a claim", note=text),),
        pages=(page(text),),
        report={"notes": [text]},
    )


def assert_it_came_back(ledger: Ledger, text: str, run_id: str = "run-1") -> None:
    said = entry_that_says(text, run_id)
    assert ledger.seen(PROJECT, {run_id}).contents == {said.evidence[0].id: text}
    assert ledger.pending_findings(PROJECT, {run_id}) == said.pending
    assert ledger.reflexions(PROJECT) == said.reflexions
    assert ledger.queue(PROJECT) == said.review_items
    kept = ledger.run(PROJECT, run_id)
    assert kept is not None
    assert (kept.engine, kept.report) == (text, said.report)


@pytest.mark.parametrize("text", JUNK)
def test_junk_comes_back_from_the_database(ledger: Ledger, text: str) -> None:
    ledger.record(entry_that_says(text))
    assert_it_came_back(ledger, text)


@pytest.mark.parametrize("text", JUNK)
def test_junk_comes_back_from_a_journal(text: str) -> None:
    said = entry_that_says(text)
    assert LedgerEntry.from_json(said.to_json().encode().decode()) == said


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=any_text)
def test_any_text_comes_back_from_the_database(ledger: Ledger, text: str) -> None:
    said = entry("run-1", evidence=(record(reason=text, content=text),), pending=(finding(text),), report={text: text})
    ledger.record(said)
    assert ledger.seen(PROJECT, {"run-1"}).contents == {said.evidence[0].id: text}
    assert ledger.pending_findings(PROJECT, {"run-1"}) == said.pending
    kept = ledger.last_run(PROJECT)
    assert kept is not None
    assert kept.report == {text: text}
