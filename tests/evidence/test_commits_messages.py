"""Commit messages, taken apart."""

from __future__ import annotations

import pytest

from reflect.evidence.messages import checkpoint_trailers, parse_message

SQUASH = """\
Add exports (#12)

* Fix docs.

Entire-Checkpoint: aaaaaaaaaaaa

* wording

Entire-Checkpoint: aaaaaaaaaaaa
Entire-Checkpoint: bbbbbbbbbbbb

* feat: export as CSV because the partner's
  importer reads nothing else

https://claude.ai/code/session_017Apv1ffJUpBe6xEmEd45Md

Entire-Checkpoint: 01KVBJCWYA4YW6J5M9GP655HZN
Entire-Checkpoint: af50953
---------

Co-authored-by: A <a@example.com>
"""


class TestCheckpointTrailers:
    @pytest.mark.parametrize(
        ("message", "expected"),
        [
            ("x\n\nEntire-Checkpoint: aaaaaaaaaaaa", ("aaaaaaaaaaaa",)),
            ("x\n\nEntire-Checkpoint: aaaaaaaaaaaa\nEntire-Checkpoint: bbbbbbbbbbbb", ("aaaaaaaaaaaa", "bbbbbbbbbbbb")),
            (SQUASH, ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "01KVBJCWYA4YW6J5M9GP655HZN")),
            ("x\n\nEntire-Checkpoint: af50953\nEntire-Checkpoint: 15ada2ccc2c3", ("15ada2ccc2c3",)),
            ("x\r\n\r\n  Entire-Checkpoint: aaaaaaaaaaaa \r\n", ("aaaaaaaaaaaa",)),
            ("x\n\nEntire-Checkpoint: AAAAAAAAAAAA\nEntire-Checkpoint: aaaaaaaaaaaa and more", ()),
            ("x\n\nsee Entire-Checkpoint: aaaaaaaaaaaa", ()),
            ("x\n\nEntire-Checkpoint:\naaaaaaaaaaaa", ()),
            ("x\nEntire-Checkpoint: aaaaaaaaaaaa", ("aaaaaaaaaaaa",)),
        ],
        ids=[
            "one",
            "hazard-41-two",
            "hazard-41-squash-body",
            "short-junk",
            "line-ends-and-spaces",
            "misspelt",
            "in-a-sentence",
            "on-the-next-line",
            "without-a-blank-line",
        ],
    )
    def test_every_valid_id_of_the_whole_message_once(self, message: str, expected: tuple[str, ...]) -> None:
        assert checkpoint_trailers(message) == expected


class TestBody:
    def test_paragraphs_are_joined_and_items_keep_a_line_each(self) -> None:
        message = parse_message(
            "Cap retries\n\nThe gateway dropped calls because\nwe retried without a cap.\n\n"
            "- cap at three,\n  then give up\n- log it\n1. first\n2) second\n\nLast words\nhere.\n"
        )
        assert message.subject == "Cap retries"
        assert message.body.split("\n") == [
            "The gateway dropped calls because we retried without a cap.",
            "- cap at three, then give up",
            "- log it",
            "1. first",
            "2) second",
            "Last words here.",
        ]

    def test_code_headings_quotes_and_tables_keep_their_lines(self) -> None:
        body = parse_message(
            "Subject\n\n## Why\nbecause it\nfailed\n```\none\n  two\n\nthree\n```\n\n    make test\n    make bench\n\n"
            "> quoted\n> more\n\n| a | b |\n|---|---|\n"
        ).body
        assert body.split("\n") == [
            "## Why", "because it failed", "```", "one", "  two", "", "three", "```", "    make test", "    make bench",
            "> quoted", "> more", "| a | b |", "|---|---|",
        ]  # fmt: skip

    def test_trailers_go_wherever_they_stand(self) -> None:
        body = parse_message(
            "Subject\n\nWhy it is so.\nMade-with: Cursor\nEntire-Session: 1234\n"
            "Co-Authored-By: Claude <c@example.com>\nSigned-off-by: A <a@example.com>\nReviewed-by: B\n"
            "  folded on\nReflect-Run: 0123\n"
            "(cherry picked from commit 1234567890123456789012345678901234567890)\n"
            "🤖 Generated with [Claude Code](https://claude.com/claude-code)\nhttps://claude.ai/code/session_0Ab\n"
        ).body
        assert body == "Why it is so."

    @pytest.mark.parametrize(
        "line",
        [
            "BREAKING CHANGE: the old key is refused",
            "Fixes: #12",
            "Note: never retry a POST",
            "Refs #4, which says why",
            "We stand by: this",
        ],
    )
    def test_lines_that_say_something_stay(self, line: str) -> None:
        assert parse_message(f"Subject\n\n{line}\n").body == line

    def test_a_squash_keeps_one_line_per_original_commit(self) -> None:
        message = parse_message(SQUASH)
        assert message.is_squash
        assert message.body.split("\n") == [
            "* Fix docs.",
            "* wording",
            "* feat: export as CSV because the partner's importer reads nothing else",
        ]

    @pytest.mark.parametrize(
        ("raw", "subject", "body"),
        [
            ("", "", ""),
            ("\n\n", "", ""),
            ("one\ntwo\n\nthree", "one two", "three"),
            ("\n\n  spaced   out \n", "spaced out", ""),
            ("Subject\nSigned-off-by: A <a@example.com>", "Subject", ""),
            ("日本語の件名\n\n本文です。\n続き。", "日本語の件名", "本文です。 続き。"),
        ],
    )
    def test_odd_shapes(self, raw: str, subject: str, body: str) -> None:
        message = parse_message(raw)
        assert (message.subject, message.body) == (subject, body)


class TestReverts:
    @pytest.mark.parametrize(
        ("message", "shas"),
        [
            (f'Revert "x"\n\nThis reverts commit {"a" * 40}.', ("a" * 40,)),
            (f"Back out\n\nThis reverts commit {'a' * 40}, reversing\nchanges made to {'b' * 40}.", ("a" * 40,)),
            (f"Undo\n\nThis reverts commits {'a' * 40} and {'b' * 40}.", ("a" * 40, "b" * 40)),
            ("Undo\n\nSome words. This reverts\ncommit 1234567.", ("1234567",)),
            ("Undo\n\nThis reverts commit messages that were long", ()),
            ("Say why this reverts commit 12", ()),
        ],
        ids=["git", "merge", "several", "wrapped-and-short", "no-id", "too-short"],
    )
    def test_ids(self, message: str, shas: tuple[str, ...]) -> None:
        assert parse_message(message).reverted_shas == shas

    @pytest.mark.parametrize(
        ("subject", "named"),
        [
            ('Revert "Add exports"', "Add exports"),
            ('Revert "Add exports (#11)" (#12)', "Add exports"),
            ('Revert "Revert "Add exports""', 'Revert "Add exports"'),
            ("revert: Add exports", "Add exports"),
            ("revert(api): Add exports", "Add exports"),
            ("Revert to the old layout", ""),
            ("Reverting is easy", ""),
        ],
    )
    def test_subjects(self, subject: str, named: str) -> None:
        assert parse_message(subject).reverted_subject == named


class TestOwnCommits:
    def test_a_trailer_in_the_last_block(self) -> None:
        assert parse_message("reflect: update the wiki\n\nReflect-Run: 0123456789ab").made_by_reflect

    @pytest.mark.parametrize(
        "message",
        [
            "Write of Reflect-Run: 0123\n\nA body that has Reflect-Run: in a sentence",
            "Add (#3)\n\n* reflect: update the wiki\n\nReflect-Run: 0123456789ab\n\n* feat: more\n\nWhy it is so.",
        ],
        ids=["in-a-sentence", "inside-a-squash"],
    )
    def test_a_mention_is_not_ours(self, message: str) -> None:
        assert not parse_message(message).made_by_reflect


@pytest.mark.parametrize("mark", ["\u202a", "\u202e", "\u2066", "\u2069"])
def test_marks_that_turn_the_reading_direction_are_dropped(mark: str) -> None:
    message = parse_message(f"fix: {mark}evil{mark} twin\n\nThe שלום stays as it is, {mark}whole.\n")
    assert message.subject == "fix: evil twin"
    assert message.body == "The שלום stays as it is, whole."
