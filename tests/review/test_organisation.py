"""The queues of several projects at one bench, and the organisation's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from examples.sessions import GitRepository
from reflect.errors import ScopeError
from reflect.ledger.entry import LedgerEntry, RunState
from reflect.review.approving import approve
from reflect.review.bench import Bench
from reflect.review.deciding import reject
from reflect.review.listing import Filter, listed, named
from reflect.review.words import in_full
from reflect.scope.projects import Project, Registry
from reflect.scope.review import ReviewEvidence, ReviewItem, review_id, text_sha256
from reflect.scope.vocabulary import ORGANISATION, Reason, Scope, ScopeSource
from reflect.workspace import Workspace
from tests.review.house import ADA, KINDS, Shop, asked
from tests.written import assert_page_written, assert_row_written


@dataclass(frozen=True)
class Two:
    """A shop with every kind of question, and a store beside it; one ledger, one home."""

    shop: Shop
    store: Shop
    home: Path
    here: tuple[str, ...] = ("shop", "store")

    @contextmanager
    def bench(self, by: str = ADA, **maintainers: tuple[str, ...]) -> Iterator[Bench]:
        roots = {"shop": self.shop.git.path, "store": self.store.git.path}
        registry = Registry(
            tuple(Project(project_id=name, workspace_roots=(str(root),)) for name, root in roots.items())
        )
        with self.shop.ledger() as ledger:
            yield Bench.of_organisation(
                ledger, registry, self._opened, self.shop.settings, by, home=self.home, maintainers=maintainers
            )

    def _opened(self, project: str) -> Workspace | None:
        place = {"shop": self.shop, "store": self.store}.get(project)
        return place.workspace if place is not None and project in self.here else None

    def pages_of_all(self) -> list[str]:
        return [path.read_text() for path in (self.home / ".reflect" / "wiki").rglob("*/*.md")]


@pytest.fixture
def two(tmp_path: Path) -> Two:
    shop = asked(tmp_path / "one")
    store = GitRepository.create(tmp_path / "store")
    store.commit("feat: shelves", {"store.py": "", ".reflect/config.yaml": "project_id: store\n"})
    return Two(shop, Shop(store, shop.settings), tmp_path / "home")


def recurring(two: Two) -> ReviewItem:
    """A question of the organisation itself: a lesson that a session of the shop and a commit of the store teach."""
    known = two.shop.item(KINDS["wide"])
    sha = two.store.git.git("rev-parse", "HEAD")
    claim = known.claim
    evidence = [
        replace_evidence(known.evidence_items[0], project="shop"),
        ReviewEvidence(
            id=sha,
            scope=Scope.PROJECT,
            scope_source=ScopeSource.EXTRACTION_DEFAULT,
            project_id="store",
            sha256=text_sha256(sha),
            excerpt="feat: shelves",
        ),
    ]
    both = known.action.findings[0].model_copy(update={"corroborated_by": (sha,)})
    item = known.model_copy(
        update={
            "id": review_id(ORGANISATION, [claim], [one.id for one in evidence]),
            "project_id": ORGANISATION,
            "evidence_items": tuple(evidence),
            "action": known.action.model_copy(update={"findings": (both,)}),
            "reasons": (Reason.CROSS_PROJECT_EVIDENCE,),
        }
    )
    entry = LedgerEntry(
        project=ORGANISATION, run_id="synthesis", engine="t", state=RunState.EMPTY, review_items=(item,)
    )
    with two.shop.ledger() as ledger:
        ledger.record(entry)
    return item


def replace_evidence(one: ReviewEvidence, *, project: str) -> ReviewEvidence:
    return one.model_copy(update={"project_id": project})


def test_one_bench_shows_every_queue_and_the_organisations_own(two: Two) -> None:
    item = recurring(two)
    with two.bench() as bench:
        found = listed(bench, Filter())
        assert {one.project_id for one in found} == {"shop", ORGANISATION}
        assert [one for one in found if one.project_id == ORGANISATION] == [item]
        assert named(bench, [item.id]) == (item,)
        assert "in the organisation's own wiki" in in_full(bench, item)
    with two.shop.bench() as bench:
        assert {one.project_id for one in listed(bench, Filter())} == {"shop"}


def test_a_lesson_of_several_projects_lands_in_the_organisations_wiki(two: Two) -> None:
    """R2 with an operator and a second yes."""
    before = (two.shop.pages(), two.store.pages())
    with two.bench() as bench:
        done = approve(bench, recurring(two), widen=True, confirmed=True)
        (row,) = bench.ledger.reflexions(ORGANISATION)
    assert done.folder == str(two.home / ".reflect")
    (text,) = two.pages_of_all()
    assert_page_written(text, project=None, scope_source="operator")
    assert_row_written(row, project=None, scope_source="operator", workspace_root=None)
    assert (two.shop.pages(), two.store.pages()) == before


def test_approved_for_a_project_it_was_not_said_in_it_needs_a_second_yes(two: Two) -> None:
    """R1 by an operator's word, wider than the evidence."""
    item = two.shop.item(KINDS["strayed"])
    with two.bench() as bench:
        with pytest.raises(ScopeError, match="second yes"):
            approve(bench, item, project_id="store")
        done = approve(bench, item, project_id="store", confirmed=True)
    assert done.page is not None
    text = two.store.page(done.page)
    assert_page_written(text, project="store", scope_source="operator")
    assert item.claim not in "".join(two.shop.pages()[path] for path in two.shop.pages() if "theirs" not in path)


@pytest.mark.parametrize("gone", ["shop", "store"])
def test_what_is_not_on_this_machine_is_not_guessed(two: Two, gone: str) -> None:
    item = recurring(two)
    here = replace(two, here=tuple(name for name in two.here if name != gone))
    with here.bench() as bench:
        with pytest.raises(ScopeError, match="not here"):
            approve(bench, item, widen=True, confirmed=True)
        assert bench.ledger.item(ORGANISATION, item.id) == item, "could not tell is no drift"
        if gone == "shop":
            with pytest.raises(ScopeError, match="approve it where it is"):
                approve(bench, two.shop.item(KINDS["strayed"]))
        assert reject(bench, item, "no").item.status == "rejected", "what needs no repository can be decided here"
    assert not two.home.exists()


def test_each_project_is_answered_for_by_its_own_maintainers(two: Two) -> None:
    """R1 by an operator's word."""
    with two.bench(shop=("grace@example.com",), organisation=("grace@example.com",)) as bench:
        for widen in (False, True):
            with pytest.raises(ScopeError, match="does not answer for"):
                approve(bench, two.shop.item(KINDS["strayed"]), widen=widen, confirmed=True)
    with two.bench("Grace <grace@example.com>", shop=("grace@example.com",)) as bench:
        done = approve(bench, two.shop.item(KINDS["strayed"]))
    assert done.page is not None
    text = two.shop.page(done.page)
    assert_page_written(text, project="shop", scope_source="operator")


def test_a_project_cannot_be_called_what_the_organisation_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="kept for what belongs to the organisation"):
        Project(project_id=ORGANISATION, workspace_roots=(str(tmp_path),))
