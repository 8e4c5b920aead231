"""The operator's document names everything an operator can meet."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import pytest

from reflect.model import EvidenceMode, Origin, ReflectionKind
from reflect.review.reclassify import Disposition
from reflect.scope.page_keys import PageKeys
from reflect.scope.provenance import PASS_DOMAINS, RUN_DOMAINS
from reflect.scope.reflexion import STATED_SCOPE
from reflect.scope.vocabulary import WRITTEN_SOURCES, Decision, MemoryType, Reason, Scope

DOCUMENT = (Path(__file__).parents[2] / "docs" / "memory-model.md").read_text(encoding="utf-8")

NOT_FOR_OPERATORS = {Scope.TASK, *Decision}


@pytest.mark.parametrize("words", [Reason, MemoryType, ReflectionKind, Origin, EvidenceMode, Scope])
def test_every_word_is_explained(words: type[StrEnum]) -> None:
    missing = [word for word in words if word not in NOT_FOR_OPERATORS and f"`{word}`" not in DOCUMENT]
    assert missing == []


def test_every_key_of_a_page_is_explained_in_its_order() -> None:
    at = [DOCUMENT.find(f"| `{name}` |") for name in PageKeys.__dataclass_fields__]
    assert -1 not in at
    assert at == sorted(at)


def test_every_reason_stands_in_the_order_in_which_it_is_looked_for() -> None:
    table = DOCUMENT[DOCUMENT.index("### The order of the checks") : DOCUMENT.index("A separate scope reasoner")]
    at = [table.find(f"`{reason}`") for reason in Reason if not reason.endswith("_origin")]
    assert -1 not in at
    assert at == sorted(at)


def test_files_and_what_is_done_with_them_are_explained() -> None:
    for word in (STATED_SCOPE, *Disposition):
        assert f"`{word}`" in DOCUMENT
    for command in ("reflexions export", "reflexions import", "reflexions drop", "reclassify", "org synthesise"):
        assert f"`reflect {command}" in DOCUMENT


def test_what_is_refused_and_what_remains_a_risk_is_stated() -> None:
    refused, risks = DOCUMENT.split("## What the product refuses to do")[1].split("## What remains a risk")
    assert refused.count("\n- ") >= 5
    assert risks.count("\n- **") >= 5


def test_sources_and_domains_are_explained() -> None:
    for word in (*WRITTEN_SOURCES, *RUN_DOMAINS, *PASS_DOMAINS):
        assert f"`{word}`" in DOCUMENT
