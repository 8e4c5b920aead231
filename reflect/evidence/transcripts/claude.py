"""Claude Code: one JSON object per line, appended while the session runs.

Source: sections 3.3 to 3.5 of the reference on Entire's checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from reflect.evidence.closed_list import closed_list
from reflect.evidence.transcripts import harness
from reflect.evidence.transcripts.claude_user import SPEAKING, UserLines
from reflect.evidence.transcripts.content import blocks, joined, text_of
from reflect.evidence.transcripts.lines import Entry, JsonLines
from reflect.evidence.transcripts.queue import Queue
from reflect.evidence.transcripts.recording import Recorder, Spot, Transcript, key_of, key_of_line, moment

MEANT = closed_list("assistant attachment progress queue-operation system user")
SILENT = closed_list(
    """
    agent-name ai-title custom-title file-history-delta file-history-snapshot last-prompt mode permission-mode pr-link
    summary tag
    """
)
"""Types of lines that hold nothing of the conversation."""

_THOUGHTS = closed_list("thinking redacted_thinking image")
"""Blocks of a reply that are neither said nor done."""

_LOCAL_ATTACHMENTS = closed_list(
    """
    agent_listing_delta agent_mention async_hook_response compact_file_reference critical_system_reminder date_change
    deferred_tools_delta diagnostics directory edited_text_file file hook_additional_context hook_blocking_error
    hook_cancelled hook_error_during_execution hook_non_blocking_error hook_stopped_continuation hook_success
    hook_system_message invoked_skills nested_memory opened_file_in_ide output_style plan_file_reference plan_mode
    plan_mode_exit plan_mode_reentry selected_lines_in_ide skill_listing task_reminder todo todo_reminder token_usage
    total_tokens_reminder ultrathink_effort
    """
)
"""Attachments that the harness wrote, or that show what the person opened or chose."""


class ClaudeReading:
    """Reads one transcript, in one go or in several."""

    def __init__(self, already: AbstractSet[bytes] = frozenset()) -> None:
        self._record = Recorder("claude-code", already)
        self._walk = _Walk(self._record)
        self._json = JsonLines(self._record.lost_line)

    def read(self, chunks: Sequence[bytes], start: int = 0) -> None:
        """Take the lines of `chunks`, from the byte `start` of the first one on."""
        for entry in self._json.entries(chunks, start):
            self._walk.entry(entry)

    @property
    def can_go_on(self) -> bool:
        """Whether `transcript` leaves nothing behind that reading further lines would have taken otherwise."""
        return self._json.is_whole and self._walk.is_settled and self._record.is_settled

    def go_on(self, already: AbstractSet[bytes]) -> None:
        """Prepare for further lines, now that the turns with the keys in `already` are taken."""
        self._record.already = already

    def transcript(self, start_hint: int = 0) -> Transcript:
        """What was read. `start_hint`: the line from which on the checkpoint is said to be new."""
        self._walk.finish()
        return self._record.transcript(
            whole=self._walk.begun and start_hint <= self._json.lines,
            automated=self._walk.begun and self._walk.sidechain_only,
            troubles=self._json.troubles_in_words(),
        )


def spot_of(entry: Entry) -> Spot:
    """Keyed by type and uuid; lines that have no uuid by their bytes and the session they are in."""
    value = entry.value
    uuid = value.get("uuid")
    if isinstance(uuid, str) and uuid:
        key = key_of(text_of(value.get("type")), uuid)
    else:
        key = key_of_line(entry.line, text_of(value.get("sessionId")), str(entry.number))
    return Spot(entry.position, key, moment(value.get("timestamp")))


class _Walk:
    """Takes the lines of one transcript in file order."""

    def __init__(self, record: Recorder) -> None:
        self.begun = False
        self.sidechain_only = True
        self._record = record
        self._queue = Queue(record)
        self._user = UserLines(record, self._queue)
        self._reply = ""
        self._place: tuple[Any, Any, Any] = (None, None, None)

    @property
    def is_settled(self) -> bool:
        return self._user.is_settled

    def finish(self) -> None:
        self._user.finish()

    def entry(self, entry: Entry) -> None:
        value = entry.value
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in MEANT:
            if kind not in SILENT:
                self._record.notes["lines of an unknown type"] += 1
            return
        if not self.begun and "parentUuid" in value:
            self._begin(value)
        if kind == "queue-operation":
            self._queue.operation(value, spot_of(entry))
        elif kind in ("assistant", "attachment", "user"):
            self._enter(value)
            if kind == "assistant":
                self._assistant(entry)
            elif kind == "attachment":
                self._attachment(entry)
            elif not self._user.is_plain_result(value):
                self._user.entry(value, spot_of(entry))

    def _begin(self, value: dict[str, Any]) -> None:
        """Judge by the first line that has a parent whether the file is whole.

        After a compaction the parent is null too, but the line itself, or its logical parent, says what came before.
        """
        self.begun = True
        has_parent = value.get("parentUuid") is not None or value.get("logicalParentUuid") is not None
        if has_parent or value.get("subtype") == "compact_boundary" or value.get("isCompactSummary"):
            self._record.beginning_is_missing()

    def _enter(self, value: dict[str, Any]) -> None:
        place = (value.get("cwd"), value.get("sessionId"), value.get("entrypoint"))
        if place != self._place:
            self._place = place
            cwd, session, entrypoint = place
            self._record.enter(cwd, session)
            self._record.automated |= text_of(entrypoint).startswith(("sdk-", "claude-code-github-action"))
        if self.sidechain_only and value["type"] != "attachment":
            self.sidechain_only = value.get("isSidechain") is True

    def _attachment(self, entry: Entry) -> None:
        attachment = entry.value.get("attachment")
        if not isinstance(attachment, dict):
            return
        kind = text_of(attachment.get("type"))
        if kind == "queued_command":
            self._queued_command(attachment, spot_of(entry))
        elif kind not in _LOCAL_ATTACHMENTS:
            self._record.arrived(f"an attachment of the kind {kind[:60]}", spot_of(entry))

    def _queued_command(self, attachment: dict[str, Any], spot: Spot) -> None:
        text = joined(attachment.get("prompt"))
        if attachment.get("commandMode") != "prompt" or harness.is_harness_text(text):
            self._record.arrived("a notification", spot)
            self._record.inject(text, spot)
        else:
            self._record.settle()
            self._queue.delivered(text, spot)

    def _assistant(self, entry: Entry) -> None:
        message = entry.value.get("message")
        if not isinstance(message, dict):
            return
        # one reply is written as several lines with the same id: a line with another id means that the calls before
        # it have come back, for the agent goes on only then
        reply = text_of(message.get("id"))
        if reply != self._reply or not reply:
            self._record.settle()
            self._queue.moved_on()
            self._reply = reply
        spot: Spot | None = None
        for index, block in enumerate(blocks(message.get("content"))):
            if text_of(block.get("type")) not in _THOUGHTS:
                spot = spot or spot_of(entry)
                self._block(entry.value, message, block, spot.part(index))

    def _block(self, value: dict[str, Any], message: dict[str, Any], block: dict[str, Any], spot: Spot) -> None:
        kind = block.get("type")
        if kind == "tool_use" and value.get("isSidechain") is True:
            self._record.call(text_of(block.get("id")), block.get("name"), block.get("input"), spot)
        elif kind == "tool_use":
            identity = text_of(block.get("id"))
            call = self._record.use(identity, block.get("name"), block.get("input"), spot)
            if call.tool in SPEAKING:
                self._record.await_result(identity)
            self._user.called(identity)
        elif kind == "text":
            text = text_of(block.get("text"))
            if message.get("model") == "<synthetic>" or value.get("isApiErrorMessage") is True:
                self._record.inject(text, spot)
            elif value.get("isSidechain") is not True:
                self._record.reply(text, spot)
        else:
            self._record.arrived(f"a block of the kind {text_of(kind)[:60]}", spot)
