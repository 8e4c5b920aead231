"""No sequence of decisions makes anything global without an operator and a second yes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflect.errors import ReflectError
from reflect.review.approving import approve
from reflect.review.bench import Bench
from reflect.review.deciding import Done, defer, edit, quarantine, reject
from reflect.scope.review import ReviewItem
from reflect.scope.vocabulary import ORGANISATION
from tests.review.house import APPROVABLE, KINDS, Shop
from tests.written import assert_row_written

Step = Callable[[Bench, ReviewItem], Done]

WIDE = "approve for everyone, confirmed"
STEPS: dict[str, Step] = {
    WIDE: lambda bench, item: approve(bench, item, widen=True, confirmed=True),
    "approve": approve,
    "approve for a named project": lambda bench, item: approve(bench, item, project_id="shop"),
    "approve, confirmed but not widened": lambda bench, item: approve(bench, item, confirmed=True),
    "approve for everyone": lambda bench, item: approve(bench, item, widen=True),
    "reject": lambda bench, item: reject(bench, item, "no"),
    "quarantine": quarantine,
    "defer": lambda bench, item: defer(bench, item, date(2027, 1, 1)),
    "rewrite": lambda bench, item: edit(bench, item, text="Always said in my own words"),
    "rewrite plainly": lambda bench, item: edit(bench, item, text="It broke on a Tuesday"),
    "move": lambda bench, item: edit(bench, item, category="gotchas", reason="there"),
}

_SEQUENCES = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.sampled_from(sorted(KINDS))), max_size=7)


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(_SEQUENCES)
def test_global_needs_an_operator_and_a_second_yes(queue: Shop, steps: list[tuple[str, str]]) -> None:
    """R2, whatever was decided before and after; and what is written has its five keys (R1, R2)."""
    home = queue.git.path.parent
    shutil.rmtree(home)
    shutil.copytree(home.with_name("before"), home, symlinks=True)
    allowed = set[str]()
    before = queue.pages()
    with queue.bench() as bench:
        for name, kind in steps:
            item = queue.item(KINDS[kind])
            try:
                done = STEPS[name](bench, item)
            except ReflectError:
                assert name != "rewrite" or item.status in ("approved", "rejected")
                continue
            if name == WIDE and done.changed:
                allowed.add(item.id)
            assert done.item.status != "approved" or name.startswith("approve")
        written = bench.ledger.reflexions("shop"), bench.ledger.reflexions(ORGANISATION)
    of_all = {row.intervention for row in written[1]}
    said = {one.quote: item.id for item in queue.items() for one in item.action.findings}
    assert {said[quote] for quote in of_all} == allowed
    assert not [row for row in written[0] if row.scope == "global"]
    for row in (*written[0], *written[1]):
        assert row.scope is not None and row.scope_source is not None and row.scope_confidence is not None
        assert (row.project_id is None) == (row.scope == "global") == (row.workspace_root is None)
        assert row.scope_source == "operator" or row.scope_confidence < 1
    for path, text in queue.pages().items():
        assert ("scope: global\n" in text) == path.startswith("all/")
        if before.get(path) != text:
            assert "scope_source: operator\n" in text and "scope_confidence: 1.0\n" in text
    assert sum(path.startswith("all/") for path in queue.pages()) == len(allowed)


@pytest.mark.parametrize("name", sorted(STEPS))
@pytest.mark.parametrize("kind", KINDS)
def test_no_single_decision_but_the_confirmed_one_makes_anything_global(queue: Shop, kind: str, name: str) -> None:
    """R2: each decision meets an open question, and the confirmed one is what it takes."""
    with queue.bench() as bench:
        item = queue.item(KINDS[kind])
        assert item.is_open
        with suppress(ReflectError):
            STEPS[name](bench, item)
        rows = (*bench.ledger.reflexions("shop"), *bench.ledger.reflexions(ORGANISATION))
    widened = name == WIDE and kind in APPROVABLE
    assert any(path.startswith("all/") for path in queue.pages()) == widened
    everyones = [row for row in rows if row.scope == "global"]
    assert len(everyones) == widened
    for row in everyones:
        assert_row_written(row, project=None, scope_source="operator", workspace_root=None)
