"""The floors of `python -m benchmarks.integrity`; of the served pages the suite takes two of each family."""

from __future__ import annotations

from collections import Counter

from benchmarks.integrity.extractive import cases, failures
from benchmarks.integrity.served import uncaught


def test_hazard_89_pages_say_what_was_said_and_the_newest_statement_wins() -> None:
    assert failures(cases()) == {}


def test_hazard_89_a_wrong_page_of_a_model_is_turned_away_for_what_is_wrong() -> None:
    assert uncaught([case for case in cases() if case.number < 2]) == {}


def test_eight_families_of_ten_cases() -> None:
    assert sorted(Counter(case.family for case in cases()).values()) == [10] * 8
