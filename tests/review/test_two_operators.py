"""Two operators at once: one wins, the other is told who did; on both databases."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from examples.sessions import GitRepository
from reflect.errors import RepositoryBusy, ScopeError
from reflect.review.approving import approve
from reflect.review.deciding import edit, quarantine, reject
from tests.review.house import ADA, KINDS, Shop, asked, night
from tests.written import assert_page_written

MANY = 6


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    """A repository whose ledger several operators reach at once."""
    address = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else None
    return asked(tmp_path / "house", address)


def test_one_of_many_decisions_stands(shared: Shop) -> None:
    item, gate = shared.item(KINDS["outside"]), Barrier(MANY)

    def one(number: int) -> str:
        with shared.bench(f"operator {number}") as bench:
            gate.wait(30)
            try:
                decide = (reject, quarantine, lambda b, i: edit(b, i, text=f"Words of {number}"))[number % 3]
                return "won" if decide(bench, item).changed else "so already"
            except ScopeError as error:
                return str(error)

    with ThreadPoolExecutor(MANY) as pool:
        said = list(pool.map(one, range(MANY)))
    assert said.count("won") >= 1
    with shared.ledger() as ledger:
        history = ledger.decisions("shop", item.id)
    assert len(history) == said.count("won")
    assert all(text in ("won", "so already") or "operator" in text for text in said), said
    after = shared.item(KINDS["outside"])
    assert (after.status, after.decided_by) == (history[-1].status, history[-1].by)


def test_an_approval_and_a_rejection_at_once_leave_one_page_or_none(shared: Shop) -> None:
    """R1 by an operator's word, where the approval won."""
    item, gate = shared.item(KINDS["strayed"]), Barrier(2)

    def one(decide: str) -> str:
        with shared.bench(decide) as bench:
            gate.wait(30)
            try:
                (approve if decide == "approver" else reject)(bench, item)
                return "won"
            except (ScopeError, RepositoryBusy):
                return "lost"

    with ThreadPoolExecutor(2) as pool:
        said = dict(zip(("approver", "rejecter"), pool.map(one, ("approver", "rejecter")), strict=True))
    assert sorted(said.values()) == ["lost", "won"]
    after = shared.item(KINDS["strayed"])
    pages = [text for text in shared.pages().values() if KINDS["strayed"] in text]
    assert (after.status == "approved") == (said["approver"] == "won") == (len(pages) == 1)
    for text in pages:
        assert_page_written(text, project="shop", scope_source="operator")


def test_an_approval_in_one_clone_reaches_the_other_with_its_next_run(shared: Shop, tmp_path: Path) -> None:
    """R1 by an operator's word, in both clones with the same bytes."""
    shutil.copytree(shared.git.path, tmp_path / "clone", symlinks=True)
    clone = Shop(GitRepository(tmp_path / "clone"), shared.settings)
    item = shared.item(KINDS["change"])
    with shared.bench() as here, clone.bench("Bob") as there:
        approved = approve(here, item)
        with pytest.raises(ScopeError, match=r"was set to approved by Ada"):
            reject(there, item)
    assert approved.page is not None
    night(clone.workspace)
    text = clone.page(approved.page)
    assert text == shared.page(approved.page) and KINDS["change"] in text
    assert_page_written(text, project="shop", scope_source="operator")
    assert shared.item(KINDS["change"]).decided_by == ADA
