"""The records of lessons as a file: one JSON object a line, in the field names of the original.

What comes in from a file says what was learned. It does not say who may see it: a file is no operator. So a new record
is kept without a scope, shown to nobody and told to no engine, until `reflect reclassify` gives it one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from reflect.ledger.ledger import Ledger
from reflect.review.ids import whole_id
from reflect.scope.metadata import SCOPE_FIELDS
from reflect.scope.reflexion import STATED_SCOPE, Reflexion

_SETTLED_FIELDS = (*SCOPE_FIELDS, "scope_run_id", "approved_at", "approved_by")
_NAMES = frozenset({"id", "session_id", "domain", "trigger", "created_at", "edited_at", "dropped_at", "leap_run_id"})
"""Fields that hold a name or a time: what looks like a secret there is an id."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")

Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Records:
    """What a file holds: records, and the lines that are none, as they stand there."""

    rows: tuple[Reflexion, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to: the ids that were new, how many were known, how many lines are no records."""

    new: tuple[str, ...]
    known: int
    carried: int


def read_records(content: bytes, redact: Redact) -> Records:
    """The records in `content`, redacted. A second record with an id that was there already is kept as a line.

    A record from before a field existed gets the safe value; fields this version does not know stay.
    """
    rows: dict[str, Reflexion] = {}
    lines: list[str] = []
    for raw in content.split(b"\n"):
        line = raw.decode("utf-8", "surrogateescape").removesuffix("\r")
        if not line.strip():
            continue
        row = None if _SURROGATE.search(line) else _record(line, redact)  # no UTF-8
        if row is None or rows.get(row.id, row) != row:
            lines.append(redact(line))
        else:
            rows[row.id] = row
    return Records(tuple(rows.values()), tuple(lines))


def import_records(ledger: Ledger, project: str, content: bytes, redact: Redact) -> Imported:
    """Keep the records of a file under `project`; repeating it changes nothing."""
    found = read_records(content, redact)
    new = ledger.take_over(project, found.rows, found.lines)
    return Imported(new, len(found.rows) - len(new), len(found.lines))


def export_records(ledger: Ledger, project: str) -> bytes:
    """Every record of `project`, dropped ones included, oldest first; then the lines nobody could read."""
    records = (_written(row) for row in ledger.reflexions(project))
    text = "".join(f"{line}\n" for line in (*records, *ledger.carried_lines(project)))
    return text.encode("utf-8", "surrogateescape")


def drop(ledger: Ledger, project: str, name: str, reason: str, at: str) -> Reflexion:
    """Refuse the lesson with the id `name`, whole or its first digits: a flag, never a deletion.

    One that was dropped before keeps its first reason. Raises ConfigurationError where `name` names none or several.
    """
    known = {row.id: row for row in ledger.reflexions(project)}
    row = known[whole_id(known, name, "record", "reflect reflexions list")]
    ledger.change_reflexions(
        project, {row.id: lambda held: None if held.dropped_at is not None else held.dropped(reason, at)}
    )
    return ledger.reflexion(project, row.id) or row


def _written(row: Reflexion) -> str:
    held = row.model_dump(mode="json")
    text = json.dumps(held, ensure_ascii=False)
    return json.dumps(held) if _SURROGATE.search(text) else text


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _record(line: str, redact: Redact) -> Reflexion | None:
    try:
        held = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(held, dict) or not isinstance(held.get("id"), str) or not held["id"].strip():
        return None
    try:
        return Reflexion.model_validate(_unscoped(_redacted(held, redact)))
    except ValidationError:
        return None


def _redacted(held: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    return {key: value if key in _NAMES else _redacted_value(value, redact) for key, value in held.items()}


def _redacted_value(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted_value(one, redact) for one in value]
    if isinstance(value, dict):
        return {key: _redacted_value(one, redact) for key, one in value.items()}
    return value


def _unscoped(held: dict[str, Any]) -> dict[str, Any]:
    """The record without a scope; what it said of one is kept where nothing reads it, with what it said before."""
    said = {name: held.pop(name) for name in _SETTLED_FIELDS if held.get(name) is not None}
    if not said:
        return held
    before = {STATED_SCOPE: held[STATED_SCOPE]} if STATED_SCOPE in held else {}
    return held | {STATED_SCOPE: said | before}
