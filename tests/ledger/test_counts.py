"""What `reflect status` is told."""

from __future__ import annotations

from reflect.ledger.entry import ModelCall, RunState
from reflect.ledger.ledger import Ledger
from reflect.model import EvidenceMode, Origin, Outcome
from tests.ledger.entries import PROJECT, SHA, entry, finding, page, record, reflexion, review_item


def test_an_unknown_project_has_counted_nothing(ledger: Ledger) -> None:
    assert ledger.counts("unknown").model_dump(exclude_defaults=True) == {"project": "unknown"}


def test_every_table_is_counted(ledger: Ledger) -> None:
    ledger.record(
        entry(
            "run-1",
            evidence=(
                record("aaaaaaaaaaaa/0", mode=EvidenceMode.FULL),
                record("bbbbbbbbbbbb/0", mode=EvidenceMode.USER_TURNS, tainted_by="WebFetch"),
                record("cccccccccccc/0", Outcome.SKIPPED, reason="nothing new"),
                record(SHA, Outcome.PENDING, content=SHA),
            ),
            pending=(finding("later", SHA),),
            pages=(page("gotchas/a.md"), page("gotchas/b.md")),
            reflexions=(reflexion("r-1"), reflexion("r-2", origin=Origin.UNTRUSTED)),
            review_items=(review_item(),),
            calls=(ModelCall(id="m-1", model="claude", input_tokens=10, output_tokens=2, usd=0.5),),
            counts={"compiled": 2},
        )
    )
    ledger.record(entry("run-2", evidence=(), pages=(page("gotchas/b.md"),)))
    counts = ledger.counts(PROJECT)
    assert counts.runs == 2
    assert counts.evidence == {"commit": {"pending": 1}, "session": {"compiled": 2, "skipped": 1}}
    assert counts.taught == {"full": 1, "user_turns": 1}
    assert counts.tainted_by == {"WebFetch": 1}
    assert (counts.pending_findings, counts.pages) == (1, 2)
    assert (counts.reflexions, counts.learnable, counts.dropped) == (2, 1, 0)
    assert counts.review == {"pending": 1}
    assert counts.spend.model_dump() == {"usd": 0.5, "input_tokens": 10, "output_tokens": 2, "calls": 1}
    assert counts.last_run is not None
    assert counts.last_run.run_id == "run-2"
    assert ledger.run(PROJECT, "run-1").counts == {"compiled": 2}  # type: ignore[union-attr]


def test_each_piece_of_evidence_is_counted_once_as_it_ended_last(ledger: Ledger) -> None:
    ledger.record(entry("run-1", evidence=(record(outcome=Outcome.PENDING),)))
    ledger.record(entry("run-2", evidence=(record(outcome=Outcome.COMPILED),)))
    assert ledger.counts(PROJECT).evidence == {"session": {"compiled": 1}}


def test_only_runs_of_the_asking_wiki_are_counted(ledger: Ledger) -> None:
    ledger.record(entry("run-1"))
    assert ledger.counts(PROJECT, {"run-1"}).pages == 1
    assert ledger.counts(PROJECT, set()).pages == 0


def test_a_failed_run_is_shown_as_the_last(ledger: Ledger) -> None:
    ledger.record(entry("run-1"))
    ledger.record(entry("run-2", state=RunState.FAILED, evidence=(), pages=()))
    last = ledger.last_run(PROJECT)
    assert last is not None
    assert (last.run_id, last.state, last.started_at) == ("run-2", RunState.FAILED, "2026-03-02T12:00:00.000000+00:00")
