"""Writing a run down, once, whatever happens."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from reflect.errors import LedgerError
from reflect.ledger.entry import LedgerEntry, ModelCall, RunState
from reflect.ledger.ledger import Ledger
from reflect.model import Outcome
from reflect.scope.review import ReviewStatus
from tests.ledger.entries import (
    NOON,
    OTHER,
    PROJECT,
    SESSION,
    SHA,
    commit,
    entry,
    finding,
    key,
    page,
    record,
    reflexion,
    review_item,
)

CALL = ModelCall(id="msg_1", model="claude", input_tokens=1000, output_tokens=50, usd=0.25)


def full_entry(run_id: str = "run-1") -> LedgerEntry:
    return entry(
        run_id,
        seeded=True,
        floor=(commit(3),),
        evidence=(record(keys=[key(1), key(2)]), record(SHA, Outcome.PENDING, content=SHA)),
        pending=(finding("Use tabs", SHA),),
        reflexions=(reflexion(),),
        review_items=(review_item(),),
        calls=(CALL,),
        counts={"compiled": 1},
        report={"notes": ["a note"]},
    )


def everything(ledger: Ledger, *landed: str) -> tuple[object, ...]:
    return (
        ledger.seen(PROJECT, landed),
        ledger.pending_findings(PROJECT, landed),
        ledger.queue(PROJECT),
        ledger.reflexions(PROJECT),
        ledger.last_run(PROJECT),
        ledger.counts(PROJECT, landed),
    )


def test_an_entry_survives_its_journal() -> None:
    written = full_entry()
    assert LedgerEntry.from_json(written.to_json()) == written


def test_recording_twice_changes_nothing(ledger: Ledger) -> None:
    assert ledger.record(full_entry())
    before = everything(ledger, "run-1")
    assert not ledger.record(LedgerEntry.from_json(full_entry().to_json()))
    assert everything(ledger, "run-1") == before


def test_the_same_run_at_another_time_is_the_same_run(ledger: Ledger) -> None:
    ledger.record(full_entry())
    later = full_entry().model_copy(update={"started_at": NOON + timedelta(days=1)})
    assert not ledger.record(later)


def test_a_run_that_says_something_else_replaces_itself(ledger: Ledger) -> None:
    ledger.record(full_entry())
    ledger.record(entry(evidence=(record(content="tree-9"),), pages=(page("gotchas/other.md"),)))
    assert ledger.seen(PROJECT, {"run-1"}).contents == {SESSION: "tree-9"}
    assert ledger.pending_findings(PROJECT, {"run-1"}) == ()
    assert ledger.counts(PROJECT).runs == 1


def test_a_failed_attempt_takes_nothing_from_a_run_that_landed(ledger: Ledger) -> None:
    ledger.record(full_entry())
    second = CALL.model_copy(update={"id": "msg_2"})
    ledger.record(entry(state=RunState.FAILED, pages=(), evidence=(), calls=(second,)))
    assert ledger.seen(PROJECT, {"run-1"}).contents == {SESSION: "tree-1", SHA: SHA}
    assert ledger.counts(PROJECT).spend.calls == 2


def test_a_run_that_landed_replaces_its_failed_attempt_and_keeps_what_that_spent(ledger: Ledger) -> None:
    ledger.record(entry(state=RunState.FAILED, pages=(), evidence=(), calls=(CALL,)))
    ledger.record(full_entry())
    assert ledger.seen(PROJECT, {"run-1"}).contents[SESSION] == "tree-1"  # type: ignore[index]
    spent = ledger.counts(PROJECT).spend
    assert (spent.usd, spent.input_tokens, spent.output_tokens, spent.calls) == (0.25, 1000, 50, 1)


def test_archiving_is_noted_and_survives_a_repeated_record(ledger: Ledger) -> None:
    ledger.record(full_entry())
    ledger.mark_archived(PROJECT, "run-1")
    ledger.record(full_entry())
    last = ledger.last_run(PROJECT)
    assert last is not None
    assert last.state is RunState.ARCHIVED


def test_decisions_on_a_reflexion_survive_a_repeated_record(ledger: Ledger) -> None:
    dropped = reflexion().dropped("not ours", "2026-03-03T00:00:00Z")
    ledger.record(entry("run-1", reflexions=(dropped,)))
    ledger.record(entry("run-2", reflexions=(reflexion(),)))
    assert ledger.reflexions(PROJECT) == (dropped,)
    counts = ledger.counts(PROJECT)
    assert (counts.reflexions, counts.learnable, counts.dropped) == (1, 0, 1)


def test_a_claim_whose_evidence_had_changed_is_asked_again_on_what_it_is_now(ledger: Ledger) -> None:
    asked_again = review_item(note="on new evidence")
    ledger.record(entry("run-1", review_items=(review_item(status=ReviewStatus.EXPIRED_EVIDENCE),)))
    ledger.record(entry("run-2", review_items=(asked_again,)))
    assert ledger.queue(PROJECT) == (asked_again,)


@pytest.mark.parametrize("status", [status for status in ReviewStatus if status != "expired_evidence"])
def test_a_claim_that_was_asked_once_is_known_whatever_was_decided(ledger: Ledger, status: ReviewStatus) -> None:
    item = review_item(status=status)
    assert ledger.item_statuses(PROJECT) == {}
    ledger.record(entry("run-1", review_items=(item,)))
    ledger.record(entry("run-2", review_items=(review_item(),)))
    assert ledger.item_statuses(PROJECT) == {item.id: status}
    assert [found.status for found in ledger.queue(PROJECT)] == [status]


def test_a_claim_on_more_evidence_supersedes_the_pending_one(ledger: Ledger) -> None:
    first, wider = review_item(), review_item(evidence_ids=(SESSION, SHA))
    ledger.record(entry("run-1", review_items=(first,)))
    ledger.record(entry("run-2", review_items=(wider,)))
    assert [item.id for item in ledger.queue(PROJECT, "pending")] == [wider.id]
    assert [item.id for item in ledger.queue(PROJECT, "superseded")] == [first.id]
    assert ledger.counts(PROJECT).review == {"pending": 1, "superseded": 1}


def test_a_claim_on_other_evidence_supersedes_nothing(ledger: Ledger) -> None:
    ledger.record(entry("run-1", review_items=(review_item(),)))
    ledger.record(entry("run-2", review_items=(review_item(evidence_ids=(SHA,)),)))
    assert len(ledger.queue(PROJECT, "pending")) == 2


def test_a_decision_is_not_superseded(ledger: Ledger) -> None:
    ledger.record(entry("run-1", review_items=(review_item(status=ReviewStatus.REJECTED),)))
    ledger.record(entry("run-2", review_items=(review_item(evidence_ids=(SESSION, SHA)),)))
    assert ledger.counts(PROJECT).review == {"pending": 1, "rejected": 1}


def test_the_queue_comes_back_whole(ledger: Ledger) -> None:
    item = review_item()
    ledger.record(entry(review_items=(item,)))
    assert ledger.queue(PROJECT) == (item,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"evidence": (record(), record(content="tree-2"))},
        {"reflexions": (reflexion(project_id=OTHER),)},
        {"review_items": (review_item(project_id=OTHER),)},
        {"run_id": ""},
        {"project": "Not An Id"},
    ],
    ids=["two-outcomes", "foreign-reflexion", "foreign-review-item", "no-run", "no-project"],
)
def test_an_entry_that_contradicts_itself_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        entry(**wrong)  # type: ignore[arg-type]


def test_hazard_112_old_reports_are_emptied_and_nothing_else(ledger: Ledger) -> None:
    for number in range(102):
        ledger.record(entry(f"run-{number}", evidence=(record(f"{number:012x}/0"),), report={"number": number}))
    assert len(ledger.seen(PROJECT, {f"run-{number}" for number in range(102)}).contents) == 102
    assert ledger.run(PROJECT, "run-1").report == {}  # type: ignore[union-attr]
    assert ledger.run(PROJECT, "run-2").report == {"number": 2}  # type: ignore[union-attr]


_KILLED_AT_COMMIT = """
import os, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine
from reflect.ledger.entry import LedgerEntry
from reflect.ledger.ledger import Ledger

ledger = Ledger.open(sys.argv[1])
event.listen(Engine, "commit", lambda connection: os._exit(9))
ledger.record(LedgerEntry.from_json(open(sys.argv[2], encoding="utf-8").read()))
"""


def test_a_process_killed_before_its_commit_leaves_nothing(url: str, tmp_path: Path) -> None:
    journal = tmp_path / "entry.json"
    journal.write_text(full_entry().to_json(), encoding="utf-8")
    killed = subprocess.run([sys.executable, "-c", _KILLED_AT_COMMIT, url, str(journal)], check=False, timeout=60)
    assert killed.returncode == 9
    with Ledger.open(url) as ledger:
        assert ledger.last_run(PROJECT) is None
        assert ledger.counts(PROJECT).spend.calls == 0
        assert ledger.record(LedgerEntry.from_json(journal.read_text(encoding="utf-8")))
        assert set(ledger.seen(PROJECT, {"run-1"}).contents) == {SESSION, SHA}


def test_a_finding_another_version_wrote_has_its_evidence_read_again(ledger: Ledger) -> None:
    items = (record(SESSION, Outcome.PENDING, keys=[key(1)]), record(SHA, content=SHA))
    ledger.record(entry(evidence=items, pending=(finding("a"),)))
    _execute(ledger, "UPDATE findings SET payload = '{\"from\": \"the future\"}' WHERE project_id = 'payments'")
    seen = ledger.seen(PROJECT, {"run-1"})
    assert (seen.contents, seen.turn_keys) == ({SHA: SHA}, frozenset())
    assert ledger.pending_findings(PROJECT, {"run-1"}) == ()


def test_a_review_item_another_version_wrote_is_named(ledger: Ledger) -> None:
    item = review_item()
    ledger.record(entry(review_items=(item,)))
    _execute(ledger, "UPDATE review_items SET payload = '{}' WHERE project_id = 'payments'")
    with pytest.raises(LedgerError, match=f"ReviewItem '{item.id}'.*update reflect-wiki"):
        ledger.queue(PROJECT)
    assert ledger.item_statuses(PROJECT) == {item.id: item.status}


def _execute(ledger: Ledger, statement: str) -> None:
    with ledger._database.write() as connection:
        connection.exec_driver_sql(statement)
