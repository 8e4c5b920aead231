"""Planted lessons are found and planted traps are not."""

from __future__ import annotations

import pytest

from tests.triage.planted import Score, cases, run

PRECISION = 0.85
RECALL = 0.60


@pytest.fixture(scope="module", params=["planted", "held_out", "mended"])
def score(request: pytest.FixtureRequest) -> Score:
    return run(cases(request.param))


def test_what_is_published_is_right(score: Score) -> None:
    assert score.precision >= PRECISION, score.wrong


def test_what_was_said_is_found(score: Score) -> None:
    assert score.recall >= RECALL, score.missed


def test_categories_are_mostly_right(score: Score) -> None:
    assert len(score.wrong_category) <= 0.2 * len(score.found), score.wrong_category


def test_no_decoy_has_a_page_of_its_own(score: Score) -> None:
    assert score.decoys_published == []


def test_hazard_74_75_jokes_finished_work_harness_and_wiki_text_stand_on_no_page_at_all(score: Score) -> None:
    assert score.decoys_never_allowed == []


def test_the_sets_are_large_enough_to_mean_something() -> None:
    for name in ("planted", "held_out"):
        planted = cases(name)
        assert sum("lesson" in case for case in planted) >= 25
        assert sum(bool(case.get("text")) for case in planted) >= 25
