"""Cursor: JSON lines with a role and a message; no times, no ids, no results of tools.

Source: section 3.7 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from reflect.evidence.transcripts.content import blocks, text_of
from reflect.evidence.transcripts.harness import person_text
from reflect.evidence.transcripts.lines import JsonLines
from reflect.evidence.transcripts.recording import Recorder, Spot, key_of_line
from reflect.model import Channel

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_TIMESTAMP = re.compile(r"\s*<timestamp>.*?</timestamp>\s*", re.DOTALL)


def read_cursor(chunks: Sequence[bytes], record: Recorder) -> None:
    """Walk a transcript into `record`.

    A line's key stands for everything up to it: two sessions that begin with the same words part where they differ.
    """
    json = JsonLines(record.lost_line)
    before = b""
    for entry in json.entries(chunks):
        first, before = not before, key_of_line(entry.line, before.hex())
        role = entry.value.get("role")
        message = entry.value.get("message")
        if first and role != "user":
            record.beginning_is_missing()
        if not isinstance(message, dict):
            continue
        spot = Spot(entry.position, before)
        for number, block in enumerate(blocks(message.get("content"))):
            if role == "user":
                _user(text_of(block.get("text")), record, spot.part(number))
            else:
                _assistant(block, record, spot.part(number))
        record.settle()
    record.notes.update(json.troubles_in_words())


def _user(text: str, record: Recorder, spot: Spot) -> None:
    if not text.strip():
        return
    queries = [query.strip() for query in _QUERY.findall(text)]
    rest = _TIMESTAMP.sub("", text, count=1) if _TIMESTAMP.match(text) else text
    if queries:
        words = "\n\n".join(query for query in queries if query)
    else:
        words = "" if rest.lstrip().startswith("<") else person_text(rest)
    if words:
        record.person(Channel.PROMPT, words, spot)
    else:
        record.inject(text, spot)


def _assistant(block: dict[str, Any], record: Recorder, spot: Spot) -> None:
    kind = block.get("type")
    if kind == "text":
        record.reply(text_of(block.get("text")), spot)
    elif kind == "tool_use":
        # results are not recorded: whatever the call brought in, the next line has read it
        record.use("", block.get("name"), block.get("input"), spot)
        record.settle()
    elif kind not in ("thinking", "redacted_thinking", "image"):
        record.arrived(f"a block of the kind {text_of(kind)[:60]}", spot)
