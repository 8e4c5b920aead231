"""Tells by its content which agent wrote a transcript.

Never by its name or its metadata: those say "Gemini CLI" of files that Claude Code wrote, and the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from reflect.errors import EvidenceError
from reflect.evidence.closed_list import closed_list
from reflect.evidence.transcripts.claude import MEANT, SILENT
from reflect.evidence.transcripts.content import text_of
from reflect.evidence.transcripts.lines import BOM, JsonLines, numbered_lines, whole_document

_CODEX = closed_list("compacted event_msg response_item session_meta turn_context")
_COPILOT = closed_list("assistant.message session.start tool.execution_complete tool.execution_start user.message")
_CLAUDE = MEANT | SILENT


@dataclass(frozen=True, slots=True)
class Shape:
    """The agent's format, and its documents where the transcript is JSON documents rather than lines.

    A document that cannot be read is None.
    """

    format: str
    documents: tuple[dict[str, Any] | None, ...] = ()


def shape_of(chunks: Sequence[bytes]) -> Shape:
    """The shape of a transcript. Raises EvidenceError where there is none that is known."""
    documents = _documents(chunks)
    if documents:
        known = next(document for document in documents if document is not None)
        return Shape("opencode" if "info" in known else "gemini-cli", documents)
    first: dict[str, Any] | None = None
    for entry in JsonLines().entries(chunks):
        found = _format_of_line(entry.value)
        if found is not None:
            return Shape(found)
        first = first or entry.value
    if first is None:
        raise EvidenceError("The transcript holds no JSON object that can be read; it was left out.")
    keys = ", ".join(sorted(key[:20] for key in first if key.isidentifier())[:6])
    raise EvidenceError(f"The transcript has the shape of no agent that is known (keys of its first object: {keys}).")


def _documents(chunks: Sequence[bytes]) -> tuple[dict[str, Any] | None, ...]:
    """The transcript as JSON documents with messages, one per chunk; empty where it is not made of such."""
    if _is_line_of_its_own(chunks[0]) or b'"messages"' not in chunks[0]:
        return ()
    documents = tuple(whole_document(chunk) for chunk in chunks)
    documents = tuple(d if d is not None and isinstance(d.get("messages"), list) else None for d in documents)
    return documents if any(document is not None for document in documents) else ()


def _is_line_of_its_own(chunk: bytes) -> bool:
    """Whether the first line is a whole object, and no document that happens to stand on one line."""
    line = next((line for _, line in numbered_lines([chunk.removeprefix(BOM)]) if line.strip()), b"")
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return not (isinstance(value, dict) and isinstance(value.get("messages"), list))


def _format_of_line(value: dict[str, Any]) -> str | None:
    kind = text_of(value.get("type"))
    message = value.get("message")
    if kind in _CODEX and isinstance(value.get("payload"), dict):
        return "codex"
    if kind in _COPILOT and isinstance(value.get("data"), dict):
        return "copilot-cli"
    if kind == "session" and _is_positive(value.get("version")):
        return "pi"
    if kind == "session_start":
        return "factory-droid"
    if kind == "message" and isinstance(message, dict):
        return "pi" if "parentId" in value else "factory-droid"
    if _is_compact(value, kind):
        return "compact"
    if kind in ("user", "assistant") and isinstance(message, dict):
        return "claude-code"
    if kind in _CLAUDE and any(text_of(value.get(key)) for key in ("uuid", "sessionId", "leafUuid", "messageId")):
        return "claude-code"
    if "type" not in value and value.get("role") in ("user", "assistant") and isinstance(message, dict):
        return "cursor"
    return None


def _is_compact(value: dict[str, Any], kind: str) -> bool:
    return (
        kind in ("user", "assistant")
        and value.get("v") == 1
        and isinstance(value.get("agent"), str)
        and "message" not in value
    )


def _is_positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
