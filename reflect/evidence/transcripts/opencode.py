"""OpenCode: one JSON document with `info` and messages made of parts.

Source: section 3.7 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflect.evidence.closed_list import closed_list
from reflect.evidence.transcripts.content import blocks, text_of
from reflect.evidence.transcripts.documents import Document, Place, messages_of
from reflect.evidence.transcripts.harness import person_text
from reflect.evidence.transcripts.recording import Recorder, Spot, moment
from reflect.model import Channel

_SILENT = closed_list("agent compaction file patch reasoning retry snapshot step-finish step-start")


def read_opencode(documents: Sequence[Document | None], record: Recorder) -> None:
    """Walk the messages of all documents into `record`; positions count messages over all of them."""
    for message, place in messages_of(documents, record, _opened):
        _message(message, record, place)


def _opened(document: Document) -> tuple[object, object]:
    info = _object(document.get("info"))
    return info.get("directory"), info.get("id")


def _message(message: Document, record: Recorder, place: Place) -> None:
    info = _object(message.get("info"))
    role = info.get("role")
    record.enter(_object(info.get("path")).get("cwd"))
    key = place.key("opencode", message, role, info.get("id"))
    spot = Spot(place.position, key, moment(_object(info.get("time")).get("created")))
    if role == "user":
        record.settle()
    for number, part in enumerate(blocks(message.get("parts"))):
        _part(role, part, record, spot.part(2 * number))


def _part(role: Any, part: dict[str, Any], record: Recorder, spot: Spot) -> None:
    kind = part.get("type")
    text = text_of(part.get("text"))
    if kind == "text" and role == "assistant":
        record.reply(text, spot)
    elif kind == "text" and text.strip():
        words = person_text(text)
        if role == "user" and words and part.get("synthetic") is not True:
            record.person(Channel.PROMPT, words, spot)
        else:
            record.inject(text, spot)
    elif kind == "tool":
        _tool(part, record, spot)
    elif kind != "text" and text_of(kind) not in _SILENT:
        record.arrived(f"a part of the kind {text_of(kind)[:60]}", spot)


def _tool(part: dict[str, Any], record: Recorder, spot: Spot) -> None:
    state = _object(part.get("state"))
    call = record.use("", part.get("tool"), state.get("input"), spot)
    record.settle()
    if state.get("status") == "error":
        record.error(call, text_of(state.get("error")) or text_of(state.get("output")), spot.part(1))


def _object(value: object) -> Document:
    return value if isinstance(value, dict) else {}
