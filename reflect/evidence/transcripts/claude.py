"""Claude Code: one JSON object per line.

Source: sections 3.3 to 3.5 of the reference on Entire's checkpoints; the letters in comments are the rows of 3.4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from reflect.evidence.closed_list import closed_list
from reflect.evidence.taint import Place, shell_danger, skill_danger
from reflect.evidence.transcripts import harness
from reflect.evidence.transcripts.lines import JsonLines, numbered_lines
from reflect.evidence.transcripts.queue import Queue
from reflect.evidence.transcripts.recording import ERROR_CHARS, Call, Recorder, key_of, key_of_line, moment
from reflect.model import Channel, Speaker, Taint

_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
)
_REASON = "the user said:\n"
_PLAN_APPROVED = "User has approved your plan"
_BOILERPLATE = "The user wants to clarify these questions"
_ANSWER = re.compile(r'"((?:[^"\\]|\\.)+)"="((?:[^"\\]|\\.)*)"')

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

_MEANT = frozenset({"assistant", "attachment", "progress", "queue-operation", "system", "user"})
_KNOWN_SILENT = closed_list(
    """
    agent-name ai-title custom-title file-history-delta file-history-snapshot last-prompt mode permission-mode pr-link
    summary tag
    """
)
TYPES = _MEANT | _KNOWN_SILENT


class ClaudeCode:
    """Walks one transcript in file order."""

    def __init__(self, recorder: Recorder, start_hint: int = 0) -> None:
        self._record = recorder
        self._start_hint = start_hint
        self._json = JsonLines()
        self._queue = Queue(recorder)
        self._line = b""
        self._begun = False
        self._reply = ""
        self._plans: set[str] = set()
        self._sidechain_only = True
        self._lines = 0

    def read(self, chunks: Sequence[bytes]) -> None:
        for position, line in numbered_lines(chunks):
            self._lines = position + 1
            self._line = line
            for number, entry in enumerate(self._json.read(line)):
                self._entry(entry, position, number)
            if self._json.damaged:
                self._record.tainted(f"line {position + 1}, which could not be read", Taint.UNKNOWN)
        if self._start_hint > self._lines or not self._begun:
            self._record.beginning_is_missing()
        self._record.settle()
        self._record.automated |= self._begun and self._sidechain_only
        self._record.notes.update(self._json.troubles_in_words())

    def _entry(self, entry: dict[str, Any], position: int, number: int) -> None:
        kind = entry.get("type")
        if kind not in _MEANT:
            if kind not in _KNOWN_SILENT:
                self._record.notes["lines of an unknown type"] += 1
            return
        if "parentUuid" in entry and not self._begun:
            self._begin(entry)
        if kind == "queue-operation":
            key = key_of_line(self._line, str(entry.get("sessionId")), str(number))
            self._queue.operation(entry, position, key, moment(entry.get("timestamp")))
            return
        if kind in ("progress", "system"):
            return
        self._record.enter(entry.get("cwd"), entry.get("sessionId"))
        entrypoint = entry.get("entrypoint")
        if isinstance(entrypoint, str) and entrypoint.startswith(("sdk-", "claude-code-github-action")):
            self._record.automated = True
        if kind == "attachment":
            self._attachment(entry, position, number)
        elif kind == "assistant":
            self._assistant(entry, position, number)
        else:
            self._user(entry, position, number)

    def _begin(self, entry: dict[str, Any]) -> None:
        """Judge by the first line that has a parent whether the file is whole.

        After a compaction the parent is null too, but the line says what came before it.
        """
        self._begun = True
        has_parent = entry.get("parentUuid") is not None or entry.get("logicalParentUuid") is not None
        if has_parent or entry.get("subtype") == "compact_boundary" or entry.get("isCompactSummary"):
            self._record.beginning_is_missing()

    def _key(self, entry: dict[str, Any], number: int, *parts: object) -> bytes:
        extra = [str(part) for part in parts if part != 0]
        uuid = entry.get("uuid")
        if isinstance(uuid, str) and uuid:
            return key_of(str(entry.get("type")), uuid, *extra)
        return key_of_line(self._line, str(entry.get("sessionId")), str(number), *extra)

    def _attachment(self, entry: dict[str, Any], position: int, number: int) -> None:
        attachment = entry.get("attachment")
        if not isinstance(attachment, dict):
            return
        kind = attachment.get("type")
        if kind != "queued_command":
            if kind not in _LOCAL_ATTACHMENTS:
                self._record.tainted(f"an attachment of the kind {str(kind)[:60]} at line {position + 1}")
            return
        text = _joined(attachment.get("prompt"))
        key, at = self._key(entry, number), moment(entry.get("timestamp"))
        if attachment.get("commandMode") != "prompt" or harness.is_harness_text(text):
            self._record.tainted(f"a notification at line {position + 1}")
            self._record.inject(text, position, key, at)
            return
        self._record.settle()
        self._queue.delivered(text, position, key, at)

    def _assistant(self, entry: dict[str, Any], position: int, number: int) -> None:
        message = entry.get("message")
        if not isinstance(message, dict):
            return
        reply = str(message.get("id"))
        if reply != self._reply:
            self._record.settle()
            self._reply = reply
        self._sidechain_only &= entry.get("isSidechain") is True
        synthetic = message.get("model") == "<synthetic>" or entry.get("isApiErrorMessage") is True
        at = moment(entry.get("timestamp"))
        for index, block in enumerate(_blocks(message.get("content"))):
            kind = block.get("type")
            key = self._key(entry, number, index)
            if kind == "text":
                text = block.get("text")
                if not isinstance(text, str) or not text.strip() or entry.get("isSidechain") is True:
                    continue
                if synthetic:
                    self._record.inject(text, position, key, at)
                else:
                    self._record.say(Speaker.ASSISTANT, Channel.REPLY, text, position, key, at=at)
            elif kind == "tool_use":
                self._tool_use(block, position, key, at)
            elif kind not in ("thinking", "redacted_thinking", "image"):
                self._record.tainted(f"{str(kind)[:60]} at line {position + 1}")

    def _tool_use(self, block: dict[str, Any], position: int, key: bytes, at: datetime | None) -> None:
        call = self._record.call(str(block.get("id")), str(block.get("name")), block.get("input"), position)
        self._record.say(Speaker.ASSISTANT, Channel.TOOL_USE, "", position, key, at=at, tool=call.tool)

    def _user(self, entry: dict[str, Any], position: int, number: int) -> None:
        message = entry.get("message")
        if not isinstance(message, dict):
            return
        blocks = _blocks(message.get("content"))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            if _refusal(block) is not None:
                self._record.refused(block.get("tool_use_id"))
            else:
                self._record.ran(block.get("tool_use_id"), position)
        sidechain = entry.get("isSidechain") is True
        self._sidechain_only &= sidechain
        at = moment(entry.get("timestamp"))
        for index, block in enumerate(blocks):
            key = self._key(entry, number, index)
            if block.get("type") == "tool_result":
                if not sidechain:
                    self._result(entry, block, position, key, at)
            elif block.get("type") == "text" and isinstance(block.get("text"), str):
                if _is_injected(entry):
                    self._record.inject(block["text"], position, key, at)
                else:
                    self._text(entry, block["text"], position, key, at, beside_results=bool(results))

    def _text(
        self, entry: dict[str, Any], text: str, position: int, key: bytes, at: datetime | None, *, beside_results: bool
    ) -> None:
        """One block of text in the person's place. Judged alone: a harness block must not swallow a person's."""
        if not text.strip():
            return
        if entry.get("planContent") or text.startswith(harness.PLAN_RESUBMITTED):  # m
            self._resubmitted_plan(entry, text, position, key, at)
        elif text.lstrip().startswith(harness.TASK_NOTIFICATION) or _is_from_elsewhere(entry):  # k
            self._record.tainted(f"a notification at line {position + 1}")
            self._record.inject(text, position, key, at)
        elif harness.is_interruption(text):  # e
            self._record.settle()
            self._record.say(Speaker.PERSON, Channel.INTERRUPTION, "", position, key, at=at)
        elif harness.is_harness_text(text):  # h, i, l
            self._record.inject(text, position, key, at)
        elif (command := harness.slash_command(text)) is not None:  # f
            self._command(command, position, key, at)
        elif (line := harness.shell_input(text)) is not None:  # g
            self._shell(line, position, key, at)
        elif words := harness.person_text(text):  # a, c, d
            self._record.settle()
            if beside_results:
                self._record.say(Speaker.PERSON, Channel.STEER, words, position, key, at=at)
            else:
                self._queue.prompt(words, position, key, at)
        else:
            self._record.inject(text, position, key, at)

    def _resubmitted_plan(
        self, entry: dict[str, Any], text: str, position: int, key: bytes, at: datetime | None
    ) -> None:
        given = entry.get("planContent")
        plan = given if isinstance(given, str) else text.removeprefix(harness.PLAN_RESUBMITTED)
        self._plan_approved(plan.strip(), position, key, at)

    def _plan_approved(self, plan: str, position: int, key: bytes, at: datetime | None) -> None:
        """An approved plan comes back as the first message of the session that carries it out: count it once."""
        folded = " ".join(plan.split())
        if folded in self._plans:
            self._record.inject(plan, position, key, at)
            return
        self._plans.add(folded)
        self._record.say(
            Speaker.PERSON, Channel.PLAN_APPROVED, "", position, key, at=at, tool="ExitPlanMode", about=plan
        )

    def _command(self, command: harness.SlashCommand, position: int, key: bytes, at: datetime | None) -> None:
        if command.arguments:
            self._record.settle()
            self._record.say(
                Speaker.PERSON, Channel.COMMAND, command.arguments, position, key, at=at, about=command.name[:100]
            )
        reason = skill_danger(command.name.removeprefix("/")) if ":" in command.name else None
        if reason is not None:
            self._record.tainted(f"{reason} at line {position + 1}")

    def _shell(self, line: str, position: int, key: bytes, at: datetime | None) -> None:
        self._record.settle()
        self._record.say(Speaker.PERSON, Channel.SHELL, line, position, key, at=at)
        reason = shell_danger(line, Place(self._record.cwd, self._record.workspace))
        if reason is not None:
            self._record.tainted(f"{reason} at line {position + 1}")

    def _result(
        self, entry: dict[str, Any], block: dict[str, Any], position: int, key: bytes, at: datetime | None
    ) -> None:
        call = self._record.called(block.get("tool_use_id"))
        reason = _refusal(block)
        if reason is not None:
            self._denial(call, reason, position, key, at)
        elif block.get("is_error") is True:
            self._error(call, _joined(block.get("content")), position, key, at)
        elif call is not None and call.tool == "AskUserQuestion":
            self._answers(entry, _joined(block.get("content")), position, key, at)
        elif call is not None and call.tool == "ExitPlanMode":
            text = _joined(block.get("content"))
            if text.startswith(_PLAN_APPROVED):
                self._plan_approved(_plan_of(entry, call, text), position, key, at)

    def _denial(self, call: Call | None, reason: str, position: int, key: bytes, at: datetime | None) -> None:
        tool = call.tool if call else None
        about = call.wants if call else ""
        if reason.startswith(_BOILERPLATE):
            reason = ""
        if tool == "ExitPlanMode" and call is not None:
            plan = call.arguments.get("plan")
            about = plan if isinstance(plan, str) else about
            self._record.say(
                Speaker.PERSON, Channel.PLAN_REJECTED, reason, position, key, at=at, tool=tool, about=about
            )
            return
        if tool is not None and tool.startswith("mcp__"):
            # a server writes its own errors, and could write this one: the refusal stands, the words are nobody's
            if reason:
                self._error(call, reason, position, key_of(key.hex(), "reason"), at)
            reason = ""
        self._record.say(Speaker.PERSON, Channel.DENIAL, reason, position, key, at=at, tool=tool, about=about)

    def _error(self, call: Call | None, text: str, position: int, key: bytes, at: datetime | None) -> None:
        if harness.is_interruption(text):
            self._record.say(Speaker.PERSON, Channel.INTERRUPTION, "", position, key, at=at)
            return
        self._record.say(
            Speaker.TOOL,
            Channel.TOOL_RESULT,
            text[:ERROR_CHARS],
            position,
            key,
            at=at,
            tool=call.tool if call else None,
            about=call.wants if call else "",
            is_error=True,
        )

    def _answers(self, entry: dict[str, Any], text: str, position: int, key: bytes, at: datetime | None) -> None:
        result = entry.get("toolUseResult")
        given = result.get("answers") if isinstance(result, dict) else None
        pairs = list(given.items()) if isinstance(given, dict) else _ANSWER.findall(text)
        notes = result.get("annotations") if isinstance(result, dict) else None
        for index, (question, answer) in enumerate(pairs):
            words = ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
            note = notes.get(question) if isinstance(notes, dict) else None
            if isinstance(note, dict) and isinstance(note.get("notes"), str):
                words = f"{words}\n{note['notes']}"
            if not words.strip() or words.startswith(_BOILERPLATE):
                continue
            own = key if index == 0 else key_of(key.hex(), str(index))
            self._record.say(
                Speaker.PERSON,
                Channel.ANSWER,
                words.strip(),
                position,
                own,
                at=at,
                tool="AskUserQuestion",
                about=str(question),
            )


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _joined(content: Any) -> str:
    """The text of a result or prompt, which may be a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(b["text"] for b in content if isinstance(b, dict) and isinstance(b.get("text"), str))


def _refusal(block: dict[str, Any]) -> str | None:
    """The reason, maybe empty, that a person gave for refusing a call; None where the result is anything else.

    It takes the error flag and the fixed beginning: a tool may print "the user said" as well.
    """
    if block.get("is_error") is not True:
        return None
    text = _joined(block.get("content"))
    if not text.startswith(_REFUSED):
        return None
    _, said, reason = text.partition(_REASON)
    return reason.strip() if said else ""


def _is_injected(entry: dict[str, Any]) -> bool:
    """Rows i and j, and what an agent wrote to its sub-agent."""
    return any(
        entry.get(mark) is True for mark in ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
    )


def _is_from_elsewhere(entry: dict[str, Any]) -> bool:
    origin = entry.get("origin")
    return isinstance(origin, dict) and origin.get("kind") not in (None, "human", "user")


def _plan_of(entry: dict[str, Any], call: Call, text: str) -> str:
    """The plan as approved: what the call carried, else what the result repeats."""
    result = entry.get("toolUseResult")
    for plan in (call.arguments.get("plan"), result.get("plan") if isinstance(result, dict) else None):
        if isinstance(plan, str) and plan.strip():
            return plan.strip()
    return text.partition("Plan:\n")[2].strip() or text.partition("\n\n")[2].strip()
