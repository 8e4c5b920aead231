"""Every decision on every kind of question: written down once, with who and when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial

import pytest

from reflect.errors import ConfigurationError, ScopeError
from reflect.review.approving import approve
from reflect.review.bench import Bench
from reflect.review.deciding import Done, defer, edit, quarantine, reject
from reflect.scope.provenance import BEHAVIOR_DOMAIN, HISTORY_DOMAIN
from reflect.scope.review import ReviewItem
from tests.review.house import ADA, APPROVABLE, KINDS, NOW, Shop
from tests.written import assert_page_written, assert_row_written

Decision = Callable[[Bench, ReviewItem], Done]

OWN_WORDS = "Payments are tried three times at most"
DECISIONS: dict[str, tuple[Decision, str]] = {
    "reject": (partial(reject, reason="a status report"), "rejected"),
    "quarantine": (partial(quarantine, reason="looks like an attack"), "quarantined"),
    "defer": (partial(defer, until=date(2026, 12, 24), reason="after the release"), "deferred"),
    "edit": (partial(edit, text=OWN_WORDS), "pending"),
    "recategorise": (partial(edit, category="gotchas"), "pending"),
}
FINAL = ("reject", "quarantine")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_is_kept_with_who_and_when_and_repeating_it_changes_nothing(
    queue: Shop, name: str, kind: str
) -> None:
    decision, status = DECISIONS[name]
    before = queue.pages()
    with queue.bench() as bench:
        item = queue.item(KINDS[kind])
        done = decision(bench, item)
        assert (done.changed, done.item.status, done.item.decided_by, done.item.decided_at) == (True, status, ADA, NOW)
        after = queue.item(KINDS[kind])
        assert after == done.item
        again = decision(bench, after)
        assert (again.changed, again.item) == (False, after)
        assert len(bench.ledger.decisions(queue.project, item.id)) == 1
    assert queue.pages() == before, "no decision but an approval writes a page"


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("final", FINAL)
def test_what_was_refused_for_good_is_approved_by_nobody(queue: Shop, final: str, name: str) -> None:
    with queue.bench() as bench:
        refused = DECISIONS[final][0](bench, queue.item(KINDS["strayed"])).item
        with pytest.raises(ScopeError, match=f"was set to {refused.status} by Ada"):
            approve(bench, refused)
        if final == "reject" and name != "reject":
            with pytest.raises(ScopeError, match="stays so"):
                DECISIONS[name][0](bench, refused)
        assert queue.item(KINDS["strayed"]).status == refused.status


def test_what_was_put_aside_comes_back_in_its_owners_words_alone(queue: Shop) -> None:
    """R1 by an operator's word; the page holds nothing of what was put aside."""
    with queue.bench() as bench:
        aside = quarantine(bench, queue.item(KINDS["outside"])).item
        (row,) = [one for one in bench.ledger.reflexions(queue.project) if one.domain == HISTORY_DOMAIN]
        assert row.dropped_at == NOW.isoformat() and not row.learnable
        back = edit(bench, aside, text=OWN_WORDS).item
        done = approve(bench, back)
    assert done.page is not None
    page = queue.page(done.page)
    assert OWN_WORDS in page and "vendor library" not in page
    assert_page_written(page, project="shop", scope_source="operator")


def test_an_edit_keeps_what_was_asked_and_makes_the_words_the_owners(queue: Shop) -> None:
    """R1: the record was bound to the project when it was quarantined, and stays so."""
    with queue.bench() as bench:
        item = queue.item(KINDS["outside"])
        (before,) = [one for one in bench.ledger.reflexions(queue.project) if one.domain == HISTORY_DOMAIN]
        assert not item.approvable and not before.learnable
        after = edit(bench, item, text=f"  {OWN_WORDS}\n").item
        (row,) = [one for one in bench.ledger.reflexions(queue.project) if one.domain == HISTORY_DOMAIN]
    assert (after.claim, after.original_claim, after.claim_sha256) == (OWN_WORDS, item.claim, item.claim_sha256)
    assert (after.edited_by, after.edited_at, after.origin, after.approvable) == (ADA, NOW, "clean", True)
    assert after.reasons == ()
    assert (row.reflexion_text, row.edited_at, row.learnable) == (OWN_WORDS, NOW.isoformat(), True)
    assert row.intervention == before.intervention and "withheld" in row.context
    assert_row_written(row, project="shop", scope_source="extraction_default", workspace_root=str(queue.git.path))


@pytest.mark.parametrize("kind", APPROVABLE)
def test_an_edit_makes_no_scope_wider(queue: Shop, kind: str) -> None:
    with queue.bench() as bench:
        item = queue.item(KINDS[kind])
        after = edit(bench, item, text=OWN_WORDS).item
    assert after.proposed == item.proposed and after.narrowest_scope == item.narrowest_scope
    assert after.reasons == item.reasons


def test_an_edit_that_reads_as_a_standing_rule_makes_a_candidate_and_one_that_does_not_unmakes_none(
    queue: Shop,
) -> None:
    with queue.bench() as bench:
        rule = edit(bench, queue.item(KINDS["wide"]), text="Always take advisory locks").item
        assert (rule.always_on, rule.proposed.memory_type) == (True, "candidate_preference")
        plain = edit(bench, queue.item(KINDS["rule"]), text="Small steps were squashed").item
        assert (plain.always_on, plain.proposed.memory_type) == (True, "candidate_preference")


@pytest.mark.parametrize("text", ["", "  \n", "…!"])
def test_an_edit_has_to_say_something(queue: Shop, text: str) -> None:
    with queue.bench() as bench, pytest.raises(ConfigurationError, match="says nothing"):
        edit(bench, queue.item(KINDS["outside"]), text=text)
    assert not queue.item(KINDS["outside"]).approvable


def test_a_secret_is_not_typed_into_the_queue(queue: Shop) -> None:
    with queue.bench() as bench, pytest.raises(ConfigurationError, match="secret") as raised:
        edit(bench, queue.item(KINDS["outside"]), text="the key is AKIAIOSFODNN7EXAMPLE, use it")
    assert "AKIA" not in str(raised.value)


@pytest.mark.parametrize("category", ["", "../up", "Two Words", "a/b", ".hidden"])
def test_a_category_is_a_folder(queue: Shop, category: str) -> None:
    with queue.bench() as bench, pytest.raises(ConfigurationError, match="can be no category"):
        edit(bench, queue.item(KINDS["strayed"]), category=category)


def test_putting_off_needs_a_day_or_a_reason(queue: Shop) -> None:
    with queue.bench() as bench:
        with pytest.raises(ConfigurationError, match="until a day"):
            defer(bench, queue.item(KINDS["strayed"]))
        later = defer(bench, queue.item(KINDS["strayed"]), reason="ask Ada").item
        assert later.is_open and approve(bench, later).item.status == "approved"


def test_a_decision_on_what_somebody_changed_meanwhile_is_refused(queue: Shop) -> None:
    with queue.bench("Bob") as bobs, queue.bench() as bench:
        seen = queue.item(KINDS["outside"])
        edit(bobs, seen, text="Addresses are checked by the vendor library")
        with pytest.raises(ScopeError, match=r"by Bob on .* meanwhile"):
            reject(bench, seen)
    assert queue.item(KINDS["outside"]).status == "pending"


def test_a_rejection_drops_the_record_and_deletes_nothing(queue: Shop) -> None:
    with queue.bench() as bench:
        rows = bench.ledger.reflexions(queue.project)
        reject(bench, queue.item(KINDS["outside"]), reason="not ours")
        after = {row.id: row for row in bench.ledger.reflexions(queue.project)}
    assert {row.id for row in rows} <= set(after)
    (dropped,) = [row for row in after.values() if row.dropped_at is not None]
    assert (dropped.dropped_reason, dropped.dropped_at, dropped.learnable) == ("not ours", NOW.isoformat(), False)
    assert {row.domain for row in rows} == {BEHAVIOR_DOMAIN, HISTORY_DOMAIN}
