"""Pi: JSON lines that form a tree; the conversation is the branch that ends in the last message.

Source: section 3.7 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflect.evidence.transcripts.content import blocks, joined, text_of
from reflect.evidence.transcripts.harness import person_text
from reflect.evidence.transcripts.lines import Entry, JsonLines
from reflect.evidence.transcripts.recording import Recorder, Spot, key_of, key_of_line, moment
from reflect.model import Channel, Taint


def read_pi(chunks: Sequence[bytes], record: Recorder) -> None:
    """Walk the living branch into `record`; what was said on abandoned ones is not part of the conversation."""
    json = JsonLines(record.lost_line)
    entries = list(json.entries(chunks))
    record.notes.update(json.troubles_in_words())
    session = ""
    for entry in entries:
        if entry.value.get("type") == "session":
            session = text_of(entry.value.get("id")) or session
            record.enter(entry.value.get("cwd"), session)
    branch, whole = _living_branch(entries)
    if not whole:
        record.beginning_is_missing()
    for entry in branch:
        message = entry.value.get("message")
        if entry.value.get("type") == "branch_summary":
            record.tainted(f"the summary of another branch at line {entry.position + 1}", Taint.UNKNOWN)
        elif entry.value.get("type") == "message" and isinstance(message, dict):
            _message(message, record, _spot(entry, session))


def _living_branch(entries: Sequence[Entry]) -> tuple[list[Entry], bool]:
    """The entries from the root to the last message, and whether the root is the session's own."""
    known = {text_of(entry.value.get("id")): entry for entry in entries if text_of(entry.value.get("id"))}
    last = next((entry for entry in reversed(entries) if entry.value.get("type") == "message"), None)
    branch: list[Entry] = []
    visited: set[int] = set()
    at = last
    while at is not None and id(at) not in visited:
        visited.add(id(at))
        branch.append(at)
        parent = text_of(at.value.get("parentId"))
        if not parent:
            break
        at = known.get(parent)
    else:
        return branch[::-1], False
    has_header = bool(entries) and entries[0].value.get("type") == "session"
    return branch[::-1], has_header


def _spot(entry: Entry, session: str) -> Spot:
    identity = text_of(entry.value.get("id"))
    # ids are short and made per session
    key = key_of("pi", session, identity) if identity else key_of_line(entry.line, session, str(entry.number))
    return Spot(entry.position, key, moment(entry.value.get("timestamp")))


def _message(message: dict[str, Any], record: Recorder, spot: Spot) -> None:
    role = message.get("role")
    if role == "user":
        record.settle()
        text = joined(message.get("content"))
        if words := person_text(text):
            record.person(Channel.PROMPT, words, spot)
        elif text.strip():
            record.inject(text, spot)
    elif role == "assistant":
        record.settle()
        for number, block in enumerate(blocks(message.get("content"))):
            _said(block, record, spot.part(number))
    elif role == "toolResult":
        identity = text_of(message.get("toolCallId"))
        record.ran(identity, spot.position)
        if message.get("isError") is True:
            record.error(record.called(identity), joined(message.get("content")), spot)
    else:
        record.arrived(f"a message of the role {text_of(role)[:60]}", spot)


def _said(block: dict[str, Any], record: Recorder, spot: Spot) -> None:
    kind = block.get("type")
    if kind == "text":
        record.reply(text_of(block.get("text")), spot)
    elif kind == "toolCall":
        record.use(text_of(block.get("id")), block.get("name"), block.get("arguments"), spot)
    elif kind not in ("thinking", "image"):
        record.arrived(f"a block of the kind {text_of(kind)[:60]}", spot)
