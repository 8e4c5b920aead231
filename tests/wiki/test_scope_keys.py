"""What a page says about its scope is read back as meant, so that its next update is not taken for a stranger's."""

from __future__ import annotations

import pytest

from reflect.scope.stored import resolve_stored_scope
from reflect.wiki.page import parse_page

PAGE = """\
---
created: 2026-03-18
scope: project
project_id: "infra"
scope_confidence: {confidence}
scope_source: extraction_default
always_on: {flag}
learnable: false
proposal_id: "1234567"
---

# A page
"""


def keys(confidence: str = "0.6", flag: str = "true") -> dict[str, object]:
    page = parse_page(PAGE.format(confidence=confidence, flag=flag).encode(), "decisions/a-page.md")
    return page.summary().scope_keys


def test_a_page_of_ours_is_settled() -> None:
    assert resolve_stored_scope(keys()).is_settled
    assert keys()["always_on"] is True
    assert keys()["learnable"] is False


def test_ids_stay_text() -> None:
    assert keys()["proposal_id"] == "1234567"


@pytest.mark.parametrize("confidence", ["yes", "1e999", ".nan", "-1", "1.5", "[0.6]", "٠.٦"])
def test_a_confidence_that_is_none_is_not_trusted(confidence: str) -> None:
    assert not resolve_stored_scope(keys(confidence)).is_settled


def test_a_flag_that_is_none_is_no_flag() -> None:
    assert keys(flag="perhaps")["always_on"] == "perhaps"
