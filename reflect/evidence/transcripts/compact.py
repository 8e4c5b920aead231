"""Entire's own compact transcript: one normalised object per message, whatever agent it was.

Source: section 3.8 of the reference on Entire's checkpoints. It has lost refusals, interruptions and the line between
a person and a harness in part, and does not say whether its beginning is there: its taint is unknown throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflect.evidence.transcripts.content import blocks, text_of
from reflect.evidence.transcripts.harness import is_harness_text, is_interruption, person_text
from reflect.evidence.transcripts.lines import Entry, JsonLines
from reflect.evidence.transcripts.recording import Recorder, Spot, key_of, key_of_line, moment
from reflect.model import Channel

_FORMATS = {"factoryai-droid": "factory-droid"}
"""Names of agents that differ from the names of their transcripts' formats."""


def read_compact(chunks: Sequence[bytes], record: Recorder) -> None:
    """Walk a compact transcript into `record`, which takes the name of the agent it was made from."""
    record.beginning_is_missing()
    json = JsonLines(record.lost_line)
    for entry in json.entries(chunks):
        value = entry.value
        agent = text_of(value.get("agent"))[:60]
        record.format = _FORMATS.get(agent, agent) or record.format
        spot = _spot(entry)
        for number, block in enumerate(blocks(value.get("content"))):
            if value.get("type") == "user":
                _user(text_of(block.get("text")), record, spot.part(2 * number))
            else:
                _assistant(block, record, spot.part(2 * number))
    record.notes.update(json.troubles_in_words())


def _spot(entry: Entry) -> Spot:
    identity = text_of(entry.value.get("id"))
    kind = text_of(entry.value.get("type"))
    key = key_of(kind, identity) if identity else key_of_line(entry.line, str(entry.number))
    return Spot(entry.position, key, moment(text_of(entry.value.get("ts"))))


def _user(text: str, record: Recorder, spot: Spot) -> None:
    if not text.strip():
        return
    if is_interruption(text):
        record.person(Channel.INTERRUPTION, "", spot)
    elif not is_harness_text(text) and (words := person_text(text)):
        record.person(Channel.PROMPT, words, spot)
    else:
        record.inject(text, spot)


def _assistant(block: dict[str, Any], record: Recorder, spot: Spot) -> None:
    if block.get("type") == "text":
        record.reply(text_of(block.get("text")), spot)
    elif block.get("type") == "tool_use":
        call = record.use("", block.get("name"), block.get("input"), spot)
        record.settle()
        result = block.get("result")
        if isinstance(result, dict) and result.get("status") == "error":
            record.error(call, text_of(result.get("output")), spot.part(1))
