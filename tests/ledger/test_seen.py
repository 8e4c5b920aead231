"""What counts as settled, for which wiki."""

from __future__ import annotations

import pytest

from reflect.ledger.entry import RunState
from reflect.ledger.ledger import Ledger
from reflect.model import Outcome
from tests.ledger.entries import CHECKPOINT, PROJECT, SESSION, SHA, commit, entry, finding, key, page, record


def test_nothing_is_seen_before_the_first_run(ledger: Ledger) -> None:
    seen = ledger.seen(PROJECT, set())
    assert (seen.contents, seen.turn_keys, seen.floor, seen.first_run) == ({}, frozenset(), (), True)


def test_contents_keys_and_floor_come_back(ledger: Ledger) -> None:
    items = (record(SESSION, content="tree-1", keys=[key(2), key(1), key(2)]), record(SHA, content=SHA))
    ledger.record(entry(evidence=items, seeded=True, floor=(commit(7), commit(5))))
    seen = ledger.seen(PROJECT, {"run-1"})
    assert seen.contents == {SESSION: "tree-1", SHA: SHA}
    assert seen.turn_keys == {key(1), key(2)}
    assert seen.floor == (commit(5), commit(7))
    assert not seen.first_run


def test_a_run_that_landed_counts_only_while_it_stands_in_the_log(ledger: Ledger) -> None:
    ledger.record(entry("landed", seeded=True, floor=(commit(1),)))
    thrown_away = ledger.seen(PROJECT, set())
    assert thrown_away.contents == {}
    assert thrown_away.floor == ()
    assert thrown_away.first_run


def test_a_run_that_landed_nothing_always_counts(ledger: Ledger) -> None:
    skipped = record(outcome=Outcome.SKIPPED, reason="nothing in it reads as a lesson")
    ledger.record(entry("empty", state=RunState.EMPTY, pages=(), evidence=(skipped,), seeded=True))
    seen = ledger.seen(PROJECT, set())
    assert seen.contents == {SESSION: "tree-1"}
    assert not seen.first_run


def test_the_seed_window_is_open_again_when_the_run_that_opened_it_is_gone(ledger: Ledger) -> None:
    ledger.record(entry("seeding", seeded=True, floor=(commit(1),)))
    ledger.record(entry("later", state=RunState.EMPTY, pages=(), evidence=(record(SHA, content=SHA),)))
    seen = ledger.seen(PROJECT, set())
    assert seen.contents == {SHA: SHA}
    assert seen.first_run


def test_the_newest_content_wins(ledger: Ledger) -> None:
    ledger.record(entry("run-1", evidence=(record(content="tree-1", keys=[key(1)]),)))
    ledger.record(entry("run-2", evidence=(record(content="tree-2", keys=[key(2)]),)))
    seen = ledger.seen(PROJECT, {"run-1", "run-2"})
    assert seen.contents == {SESSION: "tree-2"}
    assert seen.turn_keys == {key(1), key(2)}


def test_an_outcome_without_content_leaves_the_content(ledger: Ledger) -> None:
    ledger.record(entry("run-1", evidence=(record(outcome=Outcome.PENDING, keys=[key(1)]),), pending=(finding(),)))
    ledger.record(entry("run-2", evidence=(record(content=None),), taken=(finding().id,)))
    assert ledger.seen(PROJECT, {"run-1", "run-2"}).contents == {SESSION: "tree-1"}
    assert ledger.counts(PROJECT).evidence == {"session": {"compiled": 1}}


def test_evidence_that_never_had_content_is_not_seen(ledger: Ledger) -> None:
    unread = record(outcome=Outcome.QUARANTINED, content=None, reason="its blob is not in this clone")
    ledger.record(entry(evidence=(unread,)))
    assert ledger.seen(PROJECT, {"run-1"}).contents == {}


def test_pending_evidence_is_seen_and_its_findings_wait(ledger: Ledger) -> None:
    left = finding()
    ledger.record(entry(evidence=(record(outcome=Outcome.PENDING),), pending=(left,)))
    assert ledger.seen(PROJECT, {"run-1"}).contents == {SESSION: "tree-1"}
    assert ledger.pending_findings(PROJECT, {"run-1"}) == (left,)
    assert ledger.pending_findings(PROJECT, set()) == ()


def test_a_finding_that_was_taken_up_waits_no_longer(ledger: Ledger) -> None:
    first, second = finding("Use tabs"), finding("Use spaces")
    ledger.record(entry("run-1", pending=(first, second)))
    ledger.record(entry("run-2", taken=(first.id, second.id), pending=(second,)))
    assert ledger.pending_findings(PROJECT, {"run-1", "run-2"}) == (second,)


def test_a_finding_waits_again_when_the_run_that_took_it_up_is_gone(ledger: Ledger) -> None:
    left = finding()
    ledger.record(entry("run-1", state=RunState.EMPTY, pages=(), pending=(left,)))
    ledger.record(entry("run-2", taken=(left.id,)))
    assert ledger.pending_findings(PROJECT, {"run-2"}) == ()
    assert ledger.pending_findings(PROJECT, set()) == (left,)


def test_hazard_94_a_failed_run_settles_nothing(ledger: Ledger) -> None:
    ledger.record(entry(state=RunState.FAILED, pages=(), pending=(finding(),), seeded=True, floor=(commit(1),)))
    seen = ledger.seen(PROJECT, {"run-1"})
    assert (seen.contents, seen.turn_keys, seen.floor, seen.first_run) == ({}, frozenset(), (), True)
    assert ledger.pending_findings(PROJECT, {"run-1"}) == ()


def test_hazard_95_two_clones_on_one_ledger_do_not_undo_each_other(ledger: Ledger) -> None:
    ledger.record(entry("first", evidence=(record(SESSION),)))
    ledger.record(entry("second", evidence=(record(SHA, content=SHA),)))
    ledger.record(entry("of-the-other-clone", evidence=(record(SESSION), record(SHA, content=SHA))))
    assert set(ledger.seen(PROJECT, {"first", "second"}).contents) == {SESSION, SHA}
    assert set(ledger.seen(PROJECT, {"of-the-other-clone"}).contents) == {SESSION, SHA}
    assert ledger.seen(PROJECT, set()).contents == {}


@pytest.mark.parametrize("archived", [False, True], ids=["hazard-99-landed", "hazard-99-archived"])
def test_hazard_99_evidence_of_an_archived_page_stays_settled(ledger: Ledger, archived: bool) -> None:
    ledger.record(entry(pages=(page("gotchas/old.md", [CHECKPOINT + "/0"]),)))
    if archived:
        ledger.mark_archived(PROJECT, "run-1")
    assert ledger.seen(PROJECT, {"run-1"}).contents == {SESSION: "tree-1"}
