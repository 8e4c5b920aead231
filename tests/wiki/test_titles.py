"""A title states nothing: what it names still stands below it, with its citation."""

from __future__ import annotations

import pytest

from reflect.wiki.passages import Standing


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("# Which library should hold the cart's state? Zustand\n", "Zustand"),
        ("# use tabs\n", "use tabs"),
    ],
)
def test_a_title_is_no_statement(body: str, text: str) -> None:
    assert not Standing(body).has(text)


def test_a_statement_below_a_title_is() -> None:
    assert Standing("# use tabs\n\nuse tabs (commit 993631c0abcd)\n").has("use tabs")
