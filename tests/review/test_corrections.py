"""An operator's corrections to plans teach the triage step, and nobody else."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from reflect.model import Origin
from reflect.review.corrections import triage_lessons
from reflect.review.deciding import defer, edit, quarantine, reject
from reflect.scope import provenance
from reflect.scope.projects import Registry
from reflect.scope.provenance import TRIAGE_DOMAIN
from reflect.scope.reflexion import Reflexion
from tests.review.house import KINDS, Shop
from tests.written import assert_row_written

WHY = "a plan for one day is no lesson"


def lessons(queue: Shop) -> list[Reflexion]:
    with queue.ledger() as ledger:
        return [row for row in ledger.reflexions("shop") if row.domain == TRIAGE_DOMAIN]


def told(queue: Shop) -> tuple[str, ...]:
    with queue.ledger() as ledger:
        return triage_lessons(ledger, "shop")


@pytest.mark.parametrize("kind", KINDS)
def test_each_correction_with_a_reason_is_a_lesson_in_the_operators_words_alone(queue: Shop, kind: str) -> None:
    """R1 by an operator's word: the lesson is the project's."""
    with queue.bench() as bench:
        item = queue.item(KINDS[kind])
        moved = edit(bench, item, category="gotchas", reason=f"{WHY} 1").item
        mine = edit(bench, moved, text="Said better", reason=f"{WHY} 2").item
        reject(bench, mine, f"{WHY} 3")
    rows = lessons(queue)
    assert [row.trigger for row in sorted(rows, key=lambda row: row.intervention)] == ["recategorise", "edit", "reject"]
    for row in rows:
        assert_row_written(row, project="shop", scope_source="operator", workspace_root=str(queue.git.path))
        assert WHY in row.reflexion_text and KINDS[kind] not in row.reflexion_text
        assert KINDS[kind] in row.context or row.context == "Said better"
        assert row.evidence_ids == item.action.evidence_ids


def test_without_a_reason_and_for_other_decisions_there_is_no_lesson(queue: Shop) -> None:
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS["outside"]))
        edit(bench, queue.item(KINDS["derived"]), text="Said better", category="gotchas")
        quarantine(bench, queue.item(KINDS["wide"]), WHY)
        defer(bench, queue.item(KINDS["rule"]), reason=WHY)
    assert lessons(queue) == [] and told(queue) == ()


def test_where_memory_is_off_a_correction_is_decided_and_teaches_nothing(queue: Shop) -> None:
    with queue.bench() as bench:
        asleep = bench.registry.projects[0].model_copy(update={"memory_enabled": False})
        done = reject(replace(bench, registry=Registry((asleep,))), queue.item(KINDS["strayed"]), WHY)
    assert done.item.status == "rejected"
    assert lessons(queue) == []


def test_the_triage_step_is_told_what_may_be_learned_there(queue: Shop) -> None:
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS["strayed"]), "clean")
        reject(bench, queue.item(KINDS["outside"]), "untrusted")
        reject(bench, queue.item(KINDS["derived"]), "derived")
    assert {row.origin for row in lessons(queue)} == set(Origin)
    category = queue.item(KINDS["outside"]).action.category
    assert sorted(text.rsplit(": ", 1)[1] for text in told(queue)) == ["clean", "untrusted"]
    assert f"A claim planned for {category} was rejected: untrusted" in told(queue)


def test_the_day_triage_reaches_a_run_an_outsiders_correction_stops_being_learnable(
    queue: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS["strayed"]), "clean")
        reject(bench, queue.item(KINDS["outside"]), "untrusted")
    assert len(told(queue)) == 2
    monkeypatch.setattr(provenance, "RUN_DOMAINS", provenance.RUN_DOMAINS | {TRIAGE_DOMAIN})
    (left,) = told(queue)
    assert left.endswith("clean")


@pytest.mark.parametrize(
    ("origin", "dropped", "edited", "in_runs"), list(product(Origin, [False, True], [False, True], [False, True]))
)
def test_every_row_of_the_truth_table_for_a_triage_lesson(
    queue: Shop,
    monkeypatch: pytest.MonkeyPatch,
    origin: Origin,
    dropped: bool,
    edited: bool,
    in_runs: bool,
) -> None:
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS["strayed"]), WHY)
        (row,) = lessons(queue)
        row = row.model_copy(update={"origin": origin})
        row = row.edited("Mine", "2026-03-03T00:00:00Z") if edited else row
        row = row.dropped("no", "2026-03-03T00:00:00Z") if dropped else row
        bench.ledger.change_reflexions("shop", {row.id: lambda _: row})
    if in_runs:
        monkeypatch.setattr(provenance, "RUN_DOMAINS", provenance.RUN_DOMAINS | {TRIAGE_DOMAIN})
    may = edited or origin is Origin.CLEAN or (origin is Origin.UNTRUSTED and not in_runs)
    assert bool(told(queue)) == (may and not dropped)
