"""Nothing of one project is reached, changed or deleted through another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from reflect.errors import LedgerError
from reflect.ledger.entry import LedgerEntry, ModelCall
from reflect.ledger.ledger import Ledger
from reflect.ledger.rebuild import WikiSources
from reflect.ledger.tables import metadata
from reflect.model import Source
from tests.ledger.entries import OTHER, PROJECT, SESSION, entry, finding, key, record, reflexion, review_item, summary


def of(project: str, content: str = "tree-1") -> LedgerEntry:
    """The same run, page, finding and reflexion ids, in whichever project."""
    return entry(
        project=project,
        evidence=(record(content=content, keys=[key(len(project))]),),
        pending=(finding(),),
        reflexions=(reflexion(project_id=project),),
        review_items=(review_item(project_id=project),),
        calls=(ModelCall(id="msg_1", model="claude", usd=1.0),),
        seeded=True,
    )


def state(ledger: Ledger, project: str) -> tuple[object, ...]:
    return (
        ledger.seen(project, {"run-1"}),
        ledger.pending_findings(project, {"run-1"}),
        ledger.queue(project),
        ledger.reflexions(project),
        ledger.counts(project),
    )


def test_hazard_104_a_question_of_one_project_never_sees_another(ledger: Ledger) -> None:
    ledger.record(of(PROJECT))
    assert ledger.counts(OTHER).model_dump(exclude_defaults=True) == {"project": OTHER}
    assert ledger.seen(OTHER, {"run-1"}).contents == {}
    assert ledger.seen(OTHER, {"run-1"}).first_run
    assert (ledger.queue(OTHER), ledger.reflexions(OTHER), ledger.pending_findings(OTHER, {"run-1"})) == ((), (), ())
    assert ledger.item_statuses(OTHER) == {}
    assert ledger.reflexion(OTHER, "r-1") is None and ledger.reflexion(PROJECT, "r-1") is not None
    assert ledger.run(OTHER, "run-1") is None


@pytest.mark.parametrize(
    "change",
    [
        lambda ledger: ledger.record(of(OTHER, "tree-2")),
        lambda ledger: ledger.mark_archived(OTHER, "run-1"),
        lambda ledger: ledger.rebuild(WikiSources(OTHER, [summary("a/b.md", Source.of(SESSION))], [], {SESSION: "t"})),
    ],
    ids=["hazard-102-record", "hazard-102-archive", "hazard-102-rebuild"],
)
def test_hazard_102_a_change_in_one_project_leaves_the_other(ledger: Ledger, change: Callable[[Ledger], None]) -> None:
    ledger.record(of(PROJECT))
    ledger.record(of(OTHER))
    before = state(ledger, PROJECT)
    change(ledger)
    assert state(ledger, PROJECT) == before


@contextmanager
def statements() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_hazard_102_every_statement_names_the_project(ledger: Ledger) -> None:
    with statements() as seen:
        for content in ("tree-1", "tree-2"):
            ledger.record(of(PROJECT, content))
        ledger.mark_archived(PROJECT, "run-1")
        ledger.rebuild(WikiSources(PROJECT, [summary("a/b.md", Source.of(SESSION))], [], {SESSION: "t"}))
        ledger.item_statuses(PROJECT)
        ledger.reflexion(PROJECT, "r-1")
        ledger.run(PROJECT, "run-1")
        state(ledger, PROJECT)
    tables = "|".join(metadata.tables)
    touching = [text for text in seen if re.search(rf"(FROM|INTO|UPDATE) ({tables})\b", text)]
    assert {text.split()[0] for text in touching} == {"SELECT", "INSERT", "UPDATE", "DELETE"}
    for text in touching:
        keyed = text.partition("VALUES")[0] if text.startswith("INSERT") else text.partition("WHERE")[2]
        assert "project_id" in keyed, text


@pytest.mark.parametrize(
    "ask",
    [
        lambda ledger: ledger.seen("", set()),
        lambda ledger: ledger.pending_findings("", set()),
        lambda ledger: ledger.queue(""),
        lambda ledger: ledger.item_statuses(""),
        lambda ledger: ledger.reflexions(""),
        lambda ledger: ledger.reflexion("", "x"),
        lambda ledger: ledger.last_run(""),
        lambda ledger: ledger.run("", "x"),
        lambda ledger: ledger.counts(""),
        lambda ledger: ledger.mark_archived("", "x"),
        lambda ledger: ledger.rebuild(WikiSources("", [], [], {})),
    ],
)
def test_hazard_149_no_project_is_an_error_and_no_answer(ledger: Ledger, ask: Callable[[Ledger], object]) -> None:
    with pytest.raises(LedgerError, match="without a project"):
        ask(ledger)
