"""Codex: JSON lines, each with a type and a payload.

Source: section 3.7 of the reference on Entire's checkpoints. Most first messages of a user are the harness's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from reflect.evidence.closed_list import closed_list
from reflect.evidence.transcripts.content import blocks, joined, text_of
from reflect.evidence.transcripts.harness import person_text
from reflect.evidence.transcripts.lines import Entry, JsonLines
from reflect.evidence.transcripts.recording import Recorder, Spot, key_of, key_of_line, moment
from reflect.model import Channel

_INJECTED = (
    "# AGENTS.md",
    "<apps_instructions>",
    "<collaboration_mode>",
    "<environment_context>",
    "<permissions",
    "<plugins_instructions>",
    "<recommended_plugins>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<user_action>",
    "<user_instructions>",
)
_ABORTED = "<turn_aborted>"
_SILENT = closed_list("compaction compaction_summary ghost_snapshot reasoning")


def read_codex(chunks: Sequence[bytes], record: Recorder) -> None:
    """Walk a rollout into `record`. Its beginning is there when its first line is the session's."""
    json = JsonLines(record.lost_line)
    walk = _Walk(record)
    first = True
    for entry in json.entries(chunks):
        if first and entry.value.get("type") != "session_meta":
            record.beginning_is_missing()
        first = False
        payload = entry.value.get("payload")
        if isinstance(payload, dict):
            walk.entry(entry, payload)
    record.notes.update(json.troubles_in_words())


class _Walk:
    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._session = ""

    def entry(self, entry: Entry, payload: dict[str, Any]) -> None:
        kind = entry.value.get("type")
        if kind == "session_meta":
            self._session = text_of(payload.get("id")) or self._session
            self._record.enter(payload.get("cwd"), payload.get("id"))
            headless = payload.get("source") == "exec" or payload.get("originator") == "codex_exec"
            self._record.automated |= headless or isinstance(payload.get("source"), dict)
        elif kind == "turn_context":
            self._record.enter(payload.get("cwd"))
        elif kind == "response_item":
            self._item(payload, self._spot(entry, payload))

    def _spot(self, entry: Entry, payload: dict[str, Any]) -> Spot:
        identity = text_of(payload.get("id"))
        if identity:
            key = key_of("codex", text_of(payload.get("type")), identity)
        else:
            key = key_of_line(entry.line, self._session, str(entry.number))
        return Spot(entry.position, key, moment(entry.value.get("timestamp")))

    def _item(self, payload: dict[str, Any], spot: Spot) -> None:
        kind = text_of(payload.get("type"))
        call = text_of(payload.get("call_id"))
        if kind == "message":
            self._message(payload, spot)
        elif kind in ("function_call", "custom_tool_call"):
            self._record.use(call, payload.get("name"), _arguments(payload), spot)
        elif kind == "local_shell_call":
            self._record.use(call, "local_shell", payload.get("action"), spot)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._record.ran(call, spot.position)
        elif kind == "web_search_call":
            self._record.use("", "web_search", payload.get("action"), spot)
            self._record.settle()
        elif kind not in _SILENT:
            self._record.arrived(f"an item of the kind {kind[:60]}", spot)

    def _message(self, payload: dict[str, Any], spot: Spot) -> None:
        role = payload.get("role")
        if role == "assistant":
            self._record.settle()
            self._record.reply(joined(payload.get("content")), spot)
            return
        for number, block in enumerate(blocks(payload.get("content"))):
            text = text_of(block.get("text"))
            if not text.strip():
                continue
            if role == "user":
                self._user(text, spot.part(number))
            else:
                self._record.inject(text, spot.part(number))

    def _user(self, text: str, spot: Spot) -> None:
        start = text.lstrip()
        if start.startswith(_ABORTED):
            self._record.settle()
            self._record.person(Channel.INTERRUPTION, "", spot)
        elif start.startswith(_INJECTED) or (start.startswith("<INSTRUCTIONS>") and "AGENTS.md" in start):
            self._record.inject(text, spot)
        elif words := person_text(text):
            self._record.settle()
            self._record.person(Channel.PROMPT, words, spot)


def _arguments(payload: dict[str, Any]) -> Any:
    """The arguments of a call: JSON in a text, or for a custom tool one bare text."""
    given = payload.get("arguments")
    if not isinstance(given, str):
        return {"input": payload.get("input")} if "input" in payload else given
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        return {"arguments": given}
