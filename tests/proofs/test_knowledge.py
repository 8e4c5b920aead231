"""The floors of `python -m benchmarks.knowledge`, held on every change."""

from __future__ import annotations

import pytest

from benchmarks.knowledge.__main__ import CATEGORIES, PRECISION, RECALL, measure
from benchmarks.knowledge.planted import HALVES, NEVER, Half
from benchmarks.knowledge.score import Score

pytestmark = pytest.mark.xdist_group("knowledge")


@pytest.fixture(scope="module", params=HALVES)
def score(request: pytest.FixtureRequest) -> Score:
    return measure("extractive", Half.load(request.param))


def test_hazard_74_what_may_stand_nowhere_stands_nowhere(score: Score) -> None:
    assert score.forbidden == []


def test_hazard_147_what_is_published_is_mostly_right_and_mostly_all(score: Score) -> None:
    if score.half.name == "test":
        assert score.precision >= PRECISION
        assert score.recall >= RECALL
        assert score.category_accuracy >= CATEGORIES
        assert score.doubled == []


def test_the_corpus_is_as_large_as_it_is_said_to_be() -> None:
    halves = [Half.load(name) for name in HALVES]
    assert sum(len(half.lessons) for half in halves) == sum(len(half.decoys) for half in halves) == 60
    for half in halves:
        assert {decoy.family for decoy in half.decoys} > NEVER
        assert len({lesson.kind for lesson in half.lessons}) == 7
    words = [one.words for half in halves for one in half.lessons]
    words += [one.words for half in halves for one in half.decoys]
    assert len(set(words)) == len(words)
