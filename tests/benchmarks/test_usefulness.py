"""Blind judging: the judge sees no origin, the controls are nobody's pages, and the figures are right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.usefulness.__main__ import main
from benchmarks.usefulness.agreement import agreement, disagreements, read_verdicts
from benchmarks.usefulness.cards import CONTROL
from examples.sessions import GitRepository
from reflect.errors import ReflectError

ORIGINS = {"1": "decisions/a.md", "2": "decisions/b.md", "3": CONTROL}


def judged(path: Path, *verdicts: str) -> Path:
    path.write_text("\n".join(("card,item,verdict,why", *verdicts)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git = GitRepository.create(tmp_path / "origin")
    git.commit(
        "fix: read the lease before the slot\n\nThe slot was taken twice because the lease was read after it.\n"
        "Never read the lease after the slot.",
        {"lease.py": "1"},
    )
    git.commit("docs: name the fields\n\nThe fields of the form are listed in the order they are shown in.", {"a": "1"})
    return git.path


def test_the_sheet_tells_no_judge_where_a_card_is_from(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "judging"
    assert main(["sheet", str(repository), str(folder), "--controls", "1"]) == 0
    origins = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    cards = (folder / "cards.md").read_text(encoding="utf-8")
    assert sorted(origins.values())[0] == CONTROL and len(origins) == 2
    assert not any(origin in cards.split("# The cards")[1] for origin in origins.values())
    control = next(number for number, origin in origins.items() if origin == CONTROL)
    assert f"## Card {control}: The fields of the form" in cards


def test_agreement_is_counted_beyond_chance(tmp_path: Path) -> None:
    one = read_verdicts(judged(tmp_path / "1.csv", "1,card,1,", "2,card,1,", "3,card,0,rule 1"))
    two = read_verdicts(judged(tmp_path / "2.csv", "1,card,1,", "2,card,0,rule 2: torn", "3,card,0,rule 1"))
    pages = agreement(one, two, ORIGINS, cards=True, controls=False)
    assert (pages.items, pages.first, pages.second, pages.both, pages.either) == (2, 2, 1, 1, 2)
    assert pages.kappa == pytest.approx(0.0)
    assert agreement(one, one, ORIGINS, cards=True, controls=False).kappa == 1.0
    assert disagreements(one, two, ORIGINS) == ["card 2 (decisions/b.md), the card: rule 2: torn"]


def test_the_score_falls_below_its_floor(tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(json.dumps(ORIGINS), encoding="utf-8")
    good = judged(tmp_path / "1.csv", "1,card,1,", "2,card,1,", "3,card,0,")
    poor = judged(tmp_path / "2.csv", "1,card,1,", "2,card,0,", "3,card,0,")
    assert main(["score", str(tmp_path), str(good), str(good)]) == 0
    assert main(["score", str(tmp_path), str(good), str(poor)]) == 1


@pytest.mark.parametrize("line", ["1,card,yes,", "1,,1,", ",card,1,", "1"])
def test_what_is_no_verdict_is_named(line: str, tmp_path: Path) -> None:
    with pytest.raises(ReflectError, match=r"1\.csv, line 2"):
        read_verdicts(judged(tmp_path / "1.csv", line))


def test_what_one_judge_left_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(json.dumps(ORIGINS), encoding="utf-8")
    one, two = judged(tmp_path / "1.csv", "1,card,1,"), judged(tmp_path / "2.csv", "1,card,1,", "2,card,1,")
    with pytest.raises(ReflectError, match="judged by one judge alone"):
        main(["score", str(tmp_path), str(one), str(two)])
