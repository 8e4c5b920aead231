"""The page on lint lists what the code checks, word for word."""

from __future__ import annotations

from pathlib import Path

from reflect.lint.catalogue import CHECKS
from tests.lint.test_lint import FAULTS

PAGE = Path(__file__).parents[2] / "docs" / "lint.md"


def test_every_check_is_documented_and_every_documented_one_exists() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert rows == [f"| `{c.code}` | {c.severity} | {c.explanation} | {c.fix or '–'} |" for c in CHECKS]


def test_every_check_has_a_wiki_that_breaks_it() -> None:
    assert list(FAULTS) == [check.code for check in CHECKS]
