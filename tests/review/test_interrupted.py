"""Killed anywhere between the decision and the page, and done again: the same bytes as if nothing had happened."""

from __future__ import annotations

import shutil

import pytest

from reflect.freshness import fresh
from reflect.pipeline.approved import land_waiting
from reflect.review.approving import approve
from reflect.review.bench import Bench
from tests.review.house import KINDS, Shop, night
from tests.written import assert_page_written


class Killed(BaseException):
    """Stands for a process that is gone at this step: nothing after it runs."""


class Until:
    """Lets a number of steps pass, then kills."""

    def __init__(self, steps: int) -> None:
        self.steps, self.names = steps, list[str]()

    def __call__(self, step: str) -> None:
        self.names.append(step)
        if len(self.names) > self.steps:
            raise Killed(step)


def state(queue: Shop) -> dict[str, str]:
    wikis = (queue.folder / "wiki", queue.settings.organisation_wiki() / "wiki")
    files = {str(file): file.read_text() for wiki in wikis for file in sorted(wiki.rglob("*.md"))}
    return files | {item.id: item.model_dump_json() for item in queue.items()}


def approve_one(bench: Bench, queue: Shop, kind: str, until: Until | None = None) -> None:
    wide = kind == "wide"
    approve(bench, queue.item(KINDS[kind]), widen=wide, confirmed=wide, fault=until)


@pytest.mark.parametrize(("kind", "each"), [("change", 1), ("wide", 4)])
def test_killed_at_any_step_and_approved_again_gives_the_same_bytes(queue: Shop, kind: str, each: int) -> None:
    """R1 and R2 by an operator's word: the page's keys are part of the bytes."""
    with queue.bench() as bench:
        approve_one(bench, queue, kind)
    undisturbed = state(queue)
    steps = 0
    while killed := _killed_after(queue, kind, steps):
        assert queue.item(KINDS[kind]).status == "approved", "an intent is written down before anything else"
        with queue.bench() as bench:
            approve_one(bench, queue, kind)
        assert state(queue) == undisturbed, f"killed at {killed!r}"
        steps += each
    assert steps > 8 and state(queue) == undisturbed


@pytest.mark.parametrize("steps", [0, 4, 8])
def test_what_was_killed_is_landed_by_the_next_run_too(queue: Shop, steps: int) -> None:
    """R1 by an operator's word."""
    root = queue.git.path
    assert fresh(root) is not None
    with queue.bench() as bench, pytest.raises(Killed):
        approve_one(bench, queue, "strayed", Until(steps))
    assert fresh(root) is None, "no run may take this for a night in which nothing happened"
    night(queue.workspace)
    (page,) = [text for text in queue.pages().values() if KINDS["strayed"] in text]
    assert_page_written(page, project="shop", scope_source="operator")
    before = state(queue)
    report = night(queue.workspace)
    assert fresh(root) is not None
    assert not [note for note in report.notes if "review" in note] and state(queue) == before


def test_a_wiki_that_was_thrown_away_gets_what_was_approved_again(queue: Shop) -> None:
    """R1 by an operator's word."""
    with queue.bench() as bench:
        page = approve(bench, queue.item(KINDS["strayed"])).page
        assert page is not None
        standing = queue.page(page)
        (queue.folder / "wiki" / page).unlink()
        (queue.folder / "wiki" / "log.md").unlink()
        assert land_waiting(bench.ledger, bench.registry, bench.destination("shop") or bench.organisation)
    assert queue.page(page) == standing
    assert_page_written(standing, project="shop", scope_source="operator")


def _killed_after(queue: Shop, kind: str, steps: int) -> str | None:
    """The step at which an approval was killed; None for one that came to its end."""
    home = queue.git.path.parent
    shutil.rmtree(home)
    shutil.copytree(home.with_name("before"), home, symlinks=True)
    with queue.bench() as bench:
        try:
            approve_one(bench, queue, kind, Until(steps))
        except Killed as killed:
            return str(killed)
    return None
