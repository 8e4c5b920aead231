"""Gemini CLI: one JSON document with all messages, or several where Entire cut a large one.

Source: sections 2.1 and 3.6 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflect.evidence.transcripts.content import blocks, joined, text_of
from reflect.evidence.transcripts.documents import Document, messages_of
from reflect.evidence.transcripts.recording import Call, Recorder, Spot, moment
from reflect.model import Channel

_INCLUDED_FILES = "\n--- Content from referenced files ---"
"""Below this mark stand the files that the person named; they did not type them."""


def read_gemini(documents: Sequence[Document | None], record: Recorder) -> None:
    """Walk the messages of all documents into `record`; positions count messages over all of them."""
    for message, place in messages_of(documents, record, lambda document: (None, document.get("sessionId"))):
        key = place.key("gemini", message, message.get("type"), message.get("id"))
        _message(message, record, Spot(place.position, key, moment(message.get("timestamp"))))


def _message(message: dict[str, Any], record: Recorder, spot: Spot) -> None:
    kind = message.get("type")
    text = joined(message.get("content"))
    if kind == "user":
        words = text.partition(_INCLUDED_FILES)[0].strip()
        if words:
            record.person(Channel.PROMPT, words, spot)
    elif kind == "gemini":
        _answer(message, text, record, spot)
    elif text.strip():
        record.inject(text, spot)


def _answer(message: dict[str, Any], text: str, record: Recorder, spot: Spot) -> None:
    """One message holds prose, calls and results: the prose is covered by the results that stand in it."""
    said: list[tuple[dict[str, Any], Call, Spot]] = []
    prose = len(record.turns)
    record.reply(text, spot)
    for number, used in enumerate(blocks(message.get("toolCalls"))):
        where = spot.part(2 * number + 1)
        call = record.use(text_of(used.get("id")), used.get("name"), used.get("args"), where)
        said.append((used, call, spot.part(2 * number + 2)))
    for used, call, where in said:
        _result(used, call, record, where)
    record.settle(since=prose)


def _result(used: dict[str, Any], call: Call, record: Recorder, spot: Spot) -> None:
    status = used.get("status")
    identity = text_of(used.get("id"))
    if status == "cancelled":
        record.refused(identity)
        record.person(Channel.DENIAL, "", spot, tool=call.tool, about=call.wants)
    elif status == "error":
        record.error(call, text_of(used.get("resultDisplay")) or _output(used.get("result")), spot)


def _output(result: Any) -> str:
    for block in blocks(result):
        response = block.get("functionResponse")
        answer = response.get("response") if isinstance(response, dict) else None
        if isinstance(answer, dict):
            return text_of(answer.get("error")) or text_of(answer.get("output"))
    return ""
