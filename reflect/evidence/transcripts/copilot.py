"""Copilot CLI: JSON lines, each an event with its data.

Source: section 3.7 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflect.evidence.transcripts.content import blocks, joined, text_of
from reflect.evidence.transcripts.harness import person_text
from reflect.evidence.transcripts.lines import Entry, JsonLines
from reflect.evidence.transcripts.recording import Recorder, Spot, key_of, key_of_line, moment
from reflect.model import Channel


def read_copilot(chunks: Sequence[bytes], record: Recorder) -> None:
    """Walk a session's events into `record`. Its beginning is there when the first event is the session's start."""
    json = JsonLines(record.lost_line)
    session = ""
    first = True
    for entry in json.entries(chunks):
        kind = text_of(entry.value.get("type"))
        data = entry.value.get("data")
        if first and kind != "session.start":
            record.beginning_is_missing()
        first = False
        if not isinstance(data, dict):
            continue
        if kind == "session.start":
            session = text_of(data.get("sessionId")) or session
            context = data.get("context")
            record.enter(context.get("cwd") if isinstance(context, dict) else data.get("cwd"), session)
        else:
            _event(kind, data, record, _spot(entry, session))
    record.notes.update(json.troubles_in_words())


def _spot(entry: Entry, session: str) -> Spot:
    identity = text_of(entry.value.get("id"))
    if identity:
        key = key_of("copilot", text_of(entry.value.get("type")), identity)
    else:
        key = key_of_line(entry.line, session, str(entry.number))
    return Spot(entry.position, key, moment(entry.value.get("timestamp")))


def _event(kind: str, data: dict[str, Any], record: Recorder, spot: Spot) -> None:
    if kind == "user.message":
        record.settle()
        text = joined(data.get("content"))
        if words := person_text(text):
            record.person(Channel.PROMPT, words, spot)
        elif text.strip():
            record.inject(text, spot)
    elif kind == "assistant.message":
        record.settle()
        record.reply(joined(data.get("content")), spot)
        for number, used in enumerate(blocks(data.get("toolRequests"))):
            record.use(text_of(used.get("toolCallId")), used.get("name"), used.get("arguments"), spot.part(number + 1))
    elif kind == "tool.execution_complete":
        identity = text_of(data.get("toolCallId"))
        record.ran(identity, spot.position)
        if data.get("success") is False:
            record.error(record.called(identity), _error(data), spot)


def _error(data: dict[str, Any]) -> str:
    for place in (data.get("error"), data.get("result")):
        if isinstance(place, dict):
            text = text_of(place.get("message")) or joined(place.get("content"))
            if text:
                return text
    return text_of(data.get("error"))
