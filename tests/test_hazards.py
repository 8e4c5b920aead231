"""`docs/hazards.md` and the tests that carry a hazard's number in their names say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.conftest import ROOT

SERIOUS = frozenset(
    map(
        int,
        """
    1 2 3 4 7 8 9 10 11 12 14 15 17 18 20 21 22 23 26 27 28 29 31 32 34 35 37 39 40 41 43 44 45 47 48 49 53 54 56
    57 61 64 65 66 67 68 69 73 74 75 76 78 80 81 83 85 87 88 89 91 93 94 95 97 99 102 104 105 106 109 110 112 115
    116 117 118 120 122 123 124 125 129 131 132 134 135 137 138 141 142 143 144 145 146 147 148 149 152 154 155
    156 157 159 161 162
        """.split(),
    )
)
"""The rows that must never happen here: those of the first two of three priorities."""

NAMED = re.compile(r"def test_hazard_(\d+(?:_(?:and_|to_)?\d+)*)_|hazard-(\d+(?:-\d+)?)-(?!\d)")
LISTED = re.compile(r"^\| (\d+) \| .+ \| (`tests/.+`) \|$", re.MULTILINE)


def test_every_row_names_tests_that_carry_its_number() -> None:
    carried = _carried()
    for row, files in _listed().items():
        assert files <= carried.get(row, set()), f"row {row} is not tested in {sorted(files - carried.get(row, set()))}"


def test_no_serious_row_is_without_a_test_or_a_reason() -> None:
    listed = _listed().keys()
    assert _excused() & listed == set()
    assert SERIOUS - listed == _excused()


def _excused() -> set[int]:
    table = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8").partition("## Without a test")[2]
    return {int(row) for row in re.findall(r"^\| (\d+) \| .+ \|$", table, re.MULTILINE)}


def _listed() -> dict[int, set[str]]:
    table = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8")
    return {int(row): set(re.findall(r"`([^`]+)`", files)) for row, files in LISTED.findall(table)}


def _carried() -> dict[int, set[str]]:
    carried: dict[int, set[str]] = {}
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for match in NAMED.finditer(file.read_text(encoding="utf-8")):
            for row in _rows(match[1] or match[2]):
                carried.setdefault(row, set()).add(file.relative_to(ROOT).as_posix())
    return carried


def _rows(written: str) -> Iterator[int]:
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    yield from range(numbers[0], numbers[-1] + 1) if "_to_" in written else numbers
