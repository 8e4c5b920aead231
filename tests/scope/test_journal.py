"""Reflexions on disk: nothing that was written is ever lost by reading it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from reflect.scope import journal
from reflect.scope.journal import Unreadable
from reflect.scope.reflexion import Reflexion

FIELDS = {
    "id": "r1",
    "domain": "behavior",
    "session_id": "s1",
    "trigger": "denial",
    "context": "",
    "intervention": "not like that",
    "reflexion_text": "Ask first.",
    "created_at": "2026-03-02T12:00:00+00:00",
}
SEED_FIELDS = [
    "id",
    "domain",
    "session_id",
    "trigger",
    "context",
    "intervention",
    "reflexion_text",
    "error_type",
    "confidence",
    "is_processed",
    "leap_run_id",
    "created_at",
    "origin",
    "evidence",
]


def record(**changes: object) -> Reflexion:
    return Reflexion.model_validate({**FIELDS, **changes})


def test_every_field_of_the_record_is_there_in_its_order() -> None:
    assert list(Reflexion.model_fields)[: len(SEED_FIELDS)] == SEED_FIELDS
    scope = {"memory_type", "reflection_kind", "scope", "project_id", "workspace_root", "scope_confidence"}
    assert scope | {"scope_source", "session_tainted", "always_on", "edited_at"} <= set(Reflexion.model_fields)


def test_unknown_fields_survive_a_round_trip() -> None:
    line = json.dumps({**FIELDS, "situation": {"tools": ["Bash"]}, "goals": [1, None]}).encode()
    (entry,) = journal.parse(line)
    again = json.loads(journal.render([entry]))
    assert again["situation"] == {"tools": ["Bash"]}
    assert again["goals"] == [1, None]


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"",
        b"null",
        b'{"id": "r2"}',
        b"caf\xe9 \x00",
        json.dumps({**FIELDS, "origin": "friendly"}).encode(),
        json.dumps({**FIELDS, "confidence": True}).encode(),
        b'{"id":"r1","confidence":NaN}',
    ],
)
def test_a_bad_line_costs_itself_alone_and_is_carried_through(bad: bytes) -> None:
    good = record().model_dump_json().encode()
    content = b"\n".join([good, bad, good, b""])
    entries = journal.parse(content)
    assert entries[1] == Unreadable(bad)
    assert journal.reflexions(entries) == (record(), record())
    assert journal.render(entries) == content


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.binary(max_size=30), max_size=6))
def test_lines_of_any_bytes_come_back_as_they_were(lines: list[bytes]) -> None:
    content = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    assert journal.render(journal.parse(content)) == content


@pytest.mark.parametrize("value", [True, float("nan"), 1.5, -1, "high"])
@pytest.mark.parametrize("field", ["confidence", "scope_confidence"])
def test_a_confidence_is_a_number_from_0_to_1(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        record(**{field: value})


def test_append_and_read(tmp_path: Path) -> None:
    path = tmp_path / "reflexions.jsonl"
    assert journal.read(path) == ()
    journal.append(path, [])
    assert not path.exists()
    journal.append(path, [record()])
    journal.append(path, [record(id="r2"), record(id="r3")])
    assert [entry.id for entry in journal.reflexions(journal.read(path))] == ["r1", "r2", "r3"]


def test_append_after_a_torn_line_loses_only_that_line(tmp_path: Path) -> None:
    path = tmp_path / "reflexions.jsonl"
    path.write_bytes(b'{"id": "r0", "dom')
    journal.append(path, [record()])
    assert journal.read(path) == (Unreadable(b'{"id": "r0", "dom'), record())


def test_rewrite_replaces_the_whole_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "reflexions.jsonl"
    path.write_bytes(b"broken\n")
    journal.append(path, [record()])
    processed = [
        entry.model_copy(update={"is_processed": True}) if isinstance(entry, Reflexion) else entry
        for entry in journal.read(path)
    ]
    journal.rewrite(path, processed)
    assert journal.read(path) == (Unreadable(b"broken"), record(is_processed=True))
    assert list(tmp_path.iterdir()) == [path]


def test_a_record_without_scope_is_nobodys_evidence() -> None:
    old = record()
    assert old.stored_scope.legacy_defaulted
    assert not old.stored_scope.is_settled
