"""A session's `metadata.json`, read leniently: whatever is not what it should be counts as not said.

Everyone who can push the branch can write it, so its strings are text to show and never a path to open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from reflect.model import Summary

MAX_BYTES = 8 << 20
"""A metadata file above this is not parsed (one bug made them 100 MB)."""

_MAX_TEXT = 4000
_MAX_ITEMS = 1000


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a session says of itself. `automated` marks those whose prompts a tool wrote."""

    session_id: str = ""
    created_at: datetime | None = None
    branch: str = ""
    agent: str = ""
    files: tuple[str, ...] = ()
    automated: bool = False
    transcript_start: int = 0
    summary: Summary | None = None
    note: str = ""


def parse_metadata(raw: bytes) -> Metadata:
    """Read one metadata file; what cannot be read at all is an empty value with a note."""
    try:
        loaded: Any = orjson.loads(raw)
    except orjson.JSONDecodeError:
        loaded = _patiently(raw)
    if not isinstance(loaded, dict):
        return Metadata(note="its metadata.json is not a JSON object and was not used")
    kind = _text(loaded.get("kind"))
    return Metadata(
        session_id=_text(loaded.get("session_id")),
        created_at=parse_instant(loaded.get("created_at")),
        branch=_text(loaded.get("branch")),
        agent=_text(loaded.get("agent")) or _text(loaded.get("agents")),
        files=_texts(loaded.get("files_touched")),
        automated=bool(kind) or any(loaded.get(key) is True for key in ("is_task", "imported")),
        transcript_start=_start(loaded),
        summary=_summary(loaded.get("summary")),
    )


def parse_instant(value: object) -> datetime | None:
    """An RFC 3339 time in UTC; None for anything else. A time without a zone is taken as UTC."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value.strip())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _patiently(raw: bytes) -> Any:
    """Python's parser takes what the strict one refuses: bytes that are not UTF-8, a byte order mark, lone halves."""
    try:
        return json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return value[:_MAX_TEXT].encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()
    return tuple(text for text in map(_text, value[:_MAX_ITEMS]) if text)


def _start(loaded: dict[str, Any]) -> int:
    for key in ("checkpoint_transcript_start", "transcript_lines_at_start"):
        value = loaded.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def _summary(value: object) -> Summary | None:
    if not isinstance(value, dict):
        return None
    learnings = value.get("learnings")
    said = learnings if isinstance(learnings, dict) else {}
    summary = Summary(
        intent=_text(value.get("intent")),
        outcome=_text(value.get("outcome")),
        learnings=_texts(said.get("repo")) + _texts(said.get("workflow")) + tuple(_about_code(said.get("code"))),
        friction=_texts(value.get("friction")),
        open_items=_texts(value.get("open_items")),
    )
    return summary if summary != Summary() else None


def _about_code(value: object) -> Iterable[str]:
    for item in value[:_MAX_ITEMS] if isinstance(value, list) else ():
        if isinstance(item, dict) and _text(item.get("finding")):
            path, line = _text(item.get("path")), item.get("line")
            place = f"{path}:{line}" if path and isinstance(line, int) else path
            yield f"{place}: {_text(item['finding'])}" if place else _text(item["finding"])
