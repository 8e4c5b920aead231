"""Factory Droid: JSON lines around messages whose contents are those of Claude.

Source: section 3.7 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflect.evidence.transcripts.content import blocks, joined, text_of
from reflect.evidence.transcripts.harness import is_harness_text, is_interruption, person_text
from reflect.evidence.transcripts.lines import Entry, JsonLines
from reflect.evidence.transcripts.recording import Recorder, Spot, key_of, key_of_line, moment
from reflect.evidence.transcripts.refusals import came_back, record_denial, refusal
from reflect.model import Channel


def read_droid(chunks: Sequence[bytes], record: Recorder) -> None:
    """Walk a session into `record`. Its beginning is there when the first line is the session's start."""
    json = JsonLines(record.lost_line)
    session = ""
    first = True
    for entry in json.entries(chunks):
        kind = entry.value.get("type")
        message = entry.value.get("message")
        if first and kind != "session_start":
            record.beginning_is_missing()
        first = False
        if kind == "session_start":
            session = text_of(entry.value.get("id")) or session
            record.enter(entry.value.get("cwd"), session)
        elif kind == "message" and isinstance(message, dict):
            _message(message, record, _spot(entry, session))
    record.notes.update(json.troubles_in_words())


def _spot(entry: Entry, session: str) -> Spot:
    identity = text_of(entry.value.get("id"))
    key = key_of("droid", identity) if identity else key_of_line(entry.line, session, str(entry.number))
    return Spot(entry.position, key, moment(entry.value.get("timestamp")))


def _message(message: dict[str, Any], record: Recorder, spot: Spot) -> None:
    parts = blocks(message.get("content"))
    if message.get("role") == "assistant":
        record.settle()
        for number, block in enumerate(parts):
            _said(block, record, spot.part(number))
        return
    results = [block for block in parts if block.get("type") == "tool_result"]
    for block in results:
        came_back(record, block, spot.position)
    for number, block in enumerate(parts):
        if block.get("type") == "tool_result":
            _result(block, record, spot.part(number))
        elif block.get("type") == "text":
            _text(text_of(block.get("text")), record, spot.part(number), beside_results=bool(results))


def _said(block: dict[str, Any], record: Recorder, spot: Spot) -> None:
    kind = block.get("type")
    if kind == "text":
        record.reply(text_of(block.get("text")), spot)
    elif kind == "tool_use":
        record.use(text_of(block.get("id")), block.get("name"), block.get("input"), spot)
    elif kind not in ("thinking", "redacted_thinking", "image"):
        record.arrived(f"a block of the kind {text_of(kind)[:60]}", spot)


def _result(block: dict[str, Any], record: Recorder, spot: Spot) -> None:
    call = record.called(text_of(block.get("tool_use_id")))
    reason = refusal(block)
    if reason is not None:
        record_denial(record, call, reason, spot)
    elif block.get("is_error") is True:
        record.error(call, joined(block.get("content")), spot)


def _text(text: str, record: Recorder, spot: Spot, *, beside_results: bool) -> None:
    if not text.strip():
        return
    if is_interruption(text):
        record.settle()
        record.person(Channel.INTERRUPTION, "", spot)
    elif not is_harness_text(text) and (words := person_text(text)):
        record.settle()
        record.person(Channel.STEER if beside_results else Channel.PROMPT, words, spot)
    else:
        record.inject(text, spot)
