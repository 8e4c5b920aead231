"""The races that the evidence tells of are the races that tests run."""

from __future__ import annotations

import pytest

from benchmarks.faults.races import RACES, Race, table_of_races
from tests.conftest import ROOT


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.who)
def test_a_race_names_a_test_that_exists(race: Race) -> None:
    file, _, function = race.test.partition("::")
    assert f"def {function}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")


def test_the_table_tells_of_every_race() -> None:
    assert len(list(table_of_races())) == len(RACES) + 2
