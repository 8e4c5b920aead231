"""OpenCode: one JSON document with `info` and messages made of parts.

Source: section 3.7 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from reflect.evidence.closed_list import closed_list
from reflect.evidence.transcripts.content import blocks, text_of
from reflect.evidence.transcripts.harness import person_text
from reflect.evidence.transcripts.recording import Recorder, Spot, key_of, key_of_line, moment
from reflect.model import Channel

_SILENT = closed_list("agent compaction file patch reasoning retry snapshot step-finish step-start")


def read_opencode(documents: Sequence[dict[str, Any] | None], record: Recorder) -> None:
    """Walk the messages of all documents into `record`; positions count messages over all of them."""
    position = 0
    session = ""
    for number, document in enumerate(documents):
        if document is None:
            record.lost_line(position)
            record.notes["chunks that could not be read"] += 1
            if number == 0:
                record.beginning_is_missing()
            continue
        info = document.get("info")
        if isinstance(info, dict):
            session = text_of(info.get("id")) or session
            record.enter(info.get("directory"), session)
        for message in document["messages"]:
            if isinstance(message, dict):
                _message(message, record, position, session)
            position += 1


def _message(message: dict[str, Any], record: Recorder, position: int, session: str) -> None:
    known = message.get("info")
    info: dict[str, Any] = known if isinstance(known, dict) else {}
    role = info.get("role")
    path, time = info.get("path"), info.get("time")
    if isinstance(path, dict):
        record.enter(path.get("cwd"))
    identity = text_of(info.get("id"))
    if identity:
        key = key_of("opencode", text_of(role), identity)
    else:
        key = key_of_line(orjson.dumps(message), session, str(position))
    spot = Spot(position, key, moment(time.get("created")) if isinstance(time, dict) else None)
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
    known = part.get("state")
    state: dict[str, Any] = known if isinstance(known, dict) else {}
    call = record.use("", part.get("tool"), state.get("input"), spot)
    record.settle()
    if state.get("status") == "error":
        record.error(call, text_of(state.get("error")) or text_of(state.get("output")), spot.part(1))
