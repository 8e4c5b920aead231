"""A verdict is only a verdict when every rule was applied to every row."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from expectations.suite import Breach, Rule, answers_by_rule, no_fault, run_suite
from reflect.errors import PlanError

KNOWN = Rule(
    "known",
    "expect_column_values_to_be_in_set",
    {"column": "name", "value_set": ["a", "b"]},
    "{name!r} is not known",
    "Only a and b are known.",
)
NO_FAULT = no_fault("no_fault", "fault", "Nothing is wrong.")


def rows(*names: str | None) -> list[Mapping[str, object]]:
    return [{"name": name, "fault": None, "size": len(name or "")} for name in names]


def test_every_row_has_a_verdict_of_its_own() -> None:
    given: list[Mapping[str, object]] = [
        {"name": "a", "fault": None},
        {"name": "x", "fault": "it is odd"},
        {"name": "b", "fault": "it is late"},
    ]
    assert run_suite("names", [KNOWN, NO_FAULT], given) == (
        Breach(1, "known", "'x' is not known"),
        Breach(1, "no_fault", "it is odd"),
        Breach(2, "no_fault", "it is late"),
    )


@pytest.mark.parametrize("rule", [KNOWN, NO_FAULT], ids=["hazard-137-map", "hazard-138-null"])
def test_a_suite_over_no_rows_is_an_error_and_not_a_pass(rule: Rule) -> None:
    with pytest.raises(PlanError, match="given no rows"):
        run_suite("names", [rule], [])


def test_hazard_141_a_missing_value_is_a_breach_of_its_row() -> None:
    assert run_suite("names", [KNOWN], rows("a", None, "b")) == (Breach(1, "known", "None is not known"),)
    assert [breach.row for breach in run_suite("names", [KNOWN], rows(None, None))] == [0, 1]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (no_fault("elsewhere", "missing", "-"), "could not be applied.*missing"),
        (Rule("table", "expect_table_row_count_to_equal", {"value": 9}, "-", "-"), "no verdict on each of the 2 rows"),
    ],
    ids=["missing-column", "no-row-named"],
)
def test_an_answer_that_names_no_rows_is_an_error(rule: Rule, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        run_suite("names", [KNOWN, rule], rows("a", "x"))


@pytest.mark.parametrize(
    "given", [[], ["known"], ["known", "known"], ["known", "no_fault", "known"], ["no_fault", "x"]]
)
def test_fewer_or_other_results_than_expectations_are_an_error(given: list[str]) -> None:
    results = [{"expectation_config": {"meta": {"rule": name}}} for name in given]
    with pytest.raises(PlanError, match=f"gave {len(given)} results for 2 expectations"):
        answers_by_rule("names", [KNOWN, NO_FAULT], results)


def test_frames_of_many_threads_do_not_mix() -> None:
    def breaches(number: int) -> tuple[int, ...]:
        names = ["a"] * 6
        names[number % 6] = "x"
        return tuple(breach.row for breach in run_suite(f"names-{number}", [KNOWN, NO_FAULT], rows(*names)))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(breaches, range(24))) == [(number % 6,) for number in range(24)]


def test_nothing_heavy_is_imported_and_nothing_is_left_behind(tmp_path: Path) -> None:
    program = (
        "import sys, expectations.plan, expectations.pages\n"
        "print(sorted({'great_expectations', 'pandas', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []


def test_a_run_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    run_suite("names", [KNOWN], rows("a", "x"))
    assert capfd.readouterr() == ("", "")
