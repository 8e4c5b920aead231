"""A session's metadata, whatever state it is in."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from reflect.evidence.metadata import Metadata, parse_instant, parse_metadata
from reflect.model import Summary


def parsed(**keys: Any) -> Metadata:
    return parse_metadata(json.dumps(keys).encode())


def test_what_it_says() -> None:
    metadata = parsed(
        session_id="s1",
        created_at="2026-02-03T03:49:43.026123456Z",
        branch="main",
        agent="Claude Code",
        files_touched=["a.py", "b.py"],
        checkpoint_transcript_start=12,
    )
    assert metadata == Metadata(
        session_id="s1",
        created_at=datetime(2026, 2, 3, 3, 49, 43, 26123, UTC),
        branch="main",
        agent="Claude Code",
        files=("a.py", "b.py"),
        transcript_start=12,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02-03T03:49:43Z", datetime(2026, 2, 3, 3, 49, 43, tzinfo=UTC)),
        ("2026-02-03T04:49:43.02612+01:00", datetime(2026, 2, 3, 3, 49, 43, 26120, UTC)),
        ("2026-02-02T19:49:43.123456789-08:00", datetime(2026, 2, 3, 3, 49, 43, 123456, UTC)),
        ("2026-02-03T03:49:43", datetime(2026, 2, 3, 3, 49, 43, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("2026-13-40", None),
        ("", None),
        (None, None),
        (1770000000, None),
        ([], None),
    ],
)
def test_times(text: object, expected: datetime | None) -> None:
    assert parse_instant(text) == expected


@pytest.mark.parametrize(
    ("keys", "files"),
    [
        ({"files_touched": None}, ()),
        ({"files_touched": "one.py"}, ("one.py",)),
        ({"files_touched": ["a", None, 3, {}, "b"]}, ("a", "b")),
        ({"files_touched": {"a": 1}}, ()),
        ({}, ()),
    ],
)
def test_lists_that_are_none(keys: dict[str, Any], files: tuple[str, ...]) -> None:
    assert parsed(**keys).files == files


def test_older_names() -> None:
    metadata = parsed(agents="Gemini CLI", transcript_lines_at_start=7)
    assert (metadata.agent, metadata.transcript_start) == ("Gemini CLI", 7)


@pytest.mark.parametrize(
    "keys", [{"kind": "agent_review"}, {"kind": "imported"}, {"is_task": True}, {"imported": True}]
)
def test_automated(keys: dict[str, Any]) -> None:
    assert parsed(**keys).automated
    assert not parsed(kind="", is_task=False, imported=None).automated


def test_values_of_the_wrong_type_count_as_not_said() -> None:
    odd = parsed(
        session_id=1, branch=None, agent=["x"], created_at={}, kind=3, summary="x", checkpoint_transcript_start=True
    )
    assert odd == Metadata()


def test_the_summary() -> None:
    summary = parsed(
        summary={
            "intent": "Add exports",
            "outcome": "Done",
            "learnings": {
                "repo": ["CSV alone"],
                "workflow": ["run make"],
                "code": [
                    {"path": "a.py", "line": 10, "finding": "caches"},
                    {"finding": "bare"},
                    {"path": "b.py"},
                    None,
                ],
            },
            "friction": None,
            "open_items": ["later"],
        }
    ).summary
    assert summary == Summary(
        "Add exports", "Done", ("CSV alone", "run make", "a.py:10: caches", "bare"), (), ("later",)
    )
    assert parsed(summary={}).summary is None


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5000],
    ids=["empty", "cut", "list", "null", "string", "no-text", "deep-list", "deep-object"],
)
def test_what_is_no_object_survives_with_a_note(raw: bytes) -> None:
    assert parse_metadata(raw) == Metadata(note="its metadata.json is not a JSON object and was not used")


@pytest.mark.parametrize(
    ("raw", "branch"),
    [
        (b'\xef\xbb\xbf{"branch": "main"}', "main"),
        (b'{"branch": "caf\xe9"}', "caf\ufffd"),
        (b'{"branch": "\\ud83d!"}', "?!"),
        (b'{"branch": "a\\u0000b"}', "ab"),
        (b'{"branch": "x", "n": NaN}', "x"),
    ],
    ids=["byte-order-mark", "latin", "half-a-pair", "hazard-35-nul", "not-a-number"],
)
def test_damaged_text_is_repaired(raw: bytes, branch: str) -> None:
    assert parse_metadata(raw).branch == branch
