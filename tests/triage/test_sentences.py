"""Prose is taken apart without changing a character of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflect.triage.extractive.sentences import paragraphs, sentences, typed_by_hand


def _prose(text: str) -> list[str]:
    return [sentence for line in paragraphs(text) for sentence in sentences(line.text)]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("It failed. We fixed it.", ["It failed.", "We fixed it."]),
        ("no we need it. self reporting does not work", ["no we need it.", "self reporting does not work"]),
        ("Use a tool, e.g. `qmd`, for this.", ["Use a tool, e.g. `qmd`, for this."]),
        ("v1.0.0 is out and lib/init.py moved.", ["v1.0.0 is out and lib/init.py moved."]),
        ("Drop 'Do NOT use for...' from it. Done.", ["Drop 'Do NOT use for...' from it.", "Done."]),
        ("Entire . Io is the site", ["Entire . Io is the site"]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("キャッシュは使わない。理由は順序。", ["キャッシュは使わない。", "理由は順序。"]),
    ],
)
def test_sentences_are_whole(text: str, whole: list[str]) -> None:
    assert list(sentences(text)) == whole


def test_hand_wrapped_prose_is_joined_and_lists_are_not() -> None:
    text = (
        "The retry loop never saw the exception because the client swallowed it\nand returned None.\n"
        "- one\n- two\n\n1. three"
    )
    assert [line.text for line in paragraphs(text)] == [
        "The retry loop never saw the exception because the client swallowed it and returned None.",
        "one",
        "two",
        "three",
    ]


@pytest.mark.parametrize(
    "noise",
    [
        "```\nthe root cause is the cache\n```",
        "~~~python\nalways = True\n~~~",
        "```\nnever closed fence",
        "| a | must always |",
        "> you must never do this",
        "# Always a heading",
        "diff --git a/x b/x",
        "+    return always",
        "Traceback (most recent call last):",
        '  File "x.py", line 1, in never',
        "2026-03-01 10:00:01 ERROR it must never fail",
        "[24:33.098] always",
        "[12:01] never",
        "ValueError: must never be empty",
        "- [x] must be done",
        "│ must │",
        "https://example.com/always",
        '"must": "never",',
    ],
    ids=lambda text: f"hazard-73-{text[:18]!r}",
)
def test_what_is_no_prose_is_left_out(noise: str) -> None:
    assert _prose(noise) == []


@pytest.mark.parametrize(
    "announced",
    [
        "here are the comments:\nYou must never do this.",
        "Codex said:\nThe root cause is the lock.",
        "this is the error log:\nit failed because of x",
        "from the docs:\nAlways use it.",
    ],
)
def test_what_follows_an_announced_paste_is_not_the_persons(announced: str) -> None:
    assert [line.text for line in typed_by_hand(announced)] == []


def test_a_turn_too_long_to_have_been_typed_keeps_only_what_a_person_says_around_it() -> None:
    pasted = "The module should always validate its input, which is why the parser must never trust the header. " * 7
    turn = f"we should look at this\n{pasted}\nI want the parser to stay strict"
    assert {line.text for line in typed_by_hand(turn)} == {"we should look at this", "I want the parser to stay strict"}


@pytest.mark.parametrize(
    ("typed", "statements"),
    [
        ("never trust the clock of the kiosk\nnever retry a refund", 2),
        ("the texts are fine and the sender address is right as well\nnever send a reminder on a Sunday", 2),
        ("the parser must stay strict because\nthe bank sends broken files", 1),
        ("the parser must stay strict,\nthe bank sends broken files", 1),
        ("we drop the old format of the nightly ledger\nbecause nobody reads it", 1),
        (
            "the importer must accept files that were cut in the middle, and it\nhas to say how many rows were lost"
            " on the way to us, so that the\nbank can send them again on the next day",
            1,
        ),
    ],
)
def test_a_new_line_ends_a_typed_statement_unless_it_plainly_goes_on(typed: str, statements: int) -> None:
    assert len(typed_by_hand(typed)) == statements


@given(st.text(max_size=400))
def test_any_text_is_taken_apart_and_every_sentence_stands_in_it(text: str) -> None:
    folded = " ".join(text.split())
    for sentence in _prose(text):
        assert sentence in folded or all(part in text for part in sentence.split())


@given(st.text(alphabet="ab .!?\n-*`😀é", max_size=300))
def test_sentences_lose_no_word(text: str) -> None:
    assert " ".join(sentences(text)).split() == text.split()
