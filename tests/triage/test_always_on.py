"""Standing rules are recognised by their wording, in several languages."""

from __future__ import annotations

import pytest

from reflect.triage.always_on import is_always_on, languages


@pytest.mark.parametrize(
    "claim",
    [
        "Always use tabs.",
        "never push to main",
        "From now on, commits are signed",
        "We must not call it directly.",
        "don’t advertise the vendor everywhere",
        "also dont mock the clock",
        "use pnpm instead of npm",
        "Prefer composition over inheritance.",
        "please keep the changelog short",
        "In all projects the default branch is main.",
        "Immer Tabs verwenden",
        "il ne faut jamais le faire",
        "Siempre con pruebas",
        "常にタブを使う",
        "总是使用制表符",
        "всегда использовать",
    ],
)
def test_standing_rules(claim: str) -> None:
    assert is_always_on(claim)


@pytest.mark.parametrize(
    "claim",
    ["The build failed because the disk was full.", "we chose PostgreSQL for the queue", "i am puzzled", "", "…"],
)
def test_what_is_no_standing_rule(claim: str) -> None:
    assert not is_always_on(claim)


def test_languages_are_a_choice() -> None:
    assert "en" in languages()
    assert is_always_on("immer Tabs", ["de"])
    assert not is_always_on("immer Tabs", ["en"])
    assert not is_always_on("always tabs", ["xx"])
