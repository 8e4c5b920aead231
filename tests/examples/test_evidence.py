"""`docs/evidence.md` is what the commands wrote: whole sections, of commands that exist, without a floor missed."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^<!-- ([a-z-]+) -->\n(.*?)^<!-- end of \1 -->$", TEXT, re.DOTALL | re.MULTILINE))


def test_everything_below_the_head_belongs_to_a_section() -> None:
    rest = re.sub(r"^<!-- ([a-z-]+) -->\n.*?^<!-- end of \1 -->$", "", TEXT, flags=re.DOTALL | re.MULTILINE)
    assert SECTIONS and "##" not in rest and "|" not in rest


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_says_how_when_and_where_and_misses_no_floor(name: str) -> None:
    stamp = re.search(
        r"^`python -m (benchmarks\.[a-z_.]+)[^`]*`, \d{4}-\d{2}-\d{2}, .+, commit [0-9a-f]{12}", SECTIONS[name], re.M
    )
    assert stamp is not None and find_spec(stamp[1]) is not None
    held = re.findall(r"^\| .+ \| (yes|\*\*no\*\*) \|$", SECTIONS[name], re.MULTILINE)
    assert held and set(held) == {"yes"}


def test_what_make_evidence_runs_is_there() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nevidence:")[2].partition("\n\n")[0]
    commands = set(re.findall(r"-m (benchmarks\.[a-z_.]+) --record", recipe))
    told = {
        found for text in SECTIONS.values() for found in re.findall(r"^`python -m (benchmarks\.[a-z_.]+)", text, re.M)
    }
    assert commands and commands <= told
