"""Claude Code's `user` lines, most of which no user wrote.

Source: section 3.4 of the reference on Entire's checkpoints; the letters in comments are the rows of its table. Every
block is judged alone: text of the harness must not swallow a person's beside it, nor lend it their voice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from reflect.evidence.taint import Place, shell_danger, skill_danger
from reflect.evidence.transcripts import harness
from reflect.evidence.transcripts.content import blocks, joined, text_of
from reflect.evidence.transcripts.queue import Queue
from reflect.evidence.transcripts.recording import Call, Recorder, Spot
from reflect.evidence.transcripts.refusals import came_back, is_boilerplate, record_denial, refusal
from reflect.model import Channel

SPEAKING = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools of which the result holds what the person said."""

_PLAN_APPROVED = "User has approved your plan"
_ANSWER = re.compile(r'"((?:[^"\\]|\\.)+)"="((?:[^"\\]|\\.)*)"')
_INJECTED = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
"""Marks of rows i and j, and of what an agent wrote to its sub-agent."""


class UserLines:
    """Takes `user` lines in file order."""

    def __init__(self, record: Recorder, queue: Queue) -> None:
        self._record = record
        self._queue = queue
        self._plans: set[str] = set()
        self._early: dict[str, tuple[dict[str, Any], dict[str, Any], Spot]] = {}

    def is_plain_result(self, value: dict[str, Any]) -> bool:
        """Whether a line is one result, without an error, of a known call that mattered to nobody: most lines are."""
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list) or len(content) != 1 or not isinstance(content[0], dict):
            return False
        result = content[0]
        return (
            result.get("type") == "tool_result"
            and result.get("is_error") is not True
            and self._record.has_settled(text_of(result.get("tool_use_id")))
        )

    def entry(self, value: dict[str, Any], spot: Spot) -> None:
        message = value.get("message")
        if not isinstance(message, dict):
            return
        parts = blocks(message.get("content"))
        results = [part for part in parts if part.get("type") == "tool_result"]
        for result in results:
            came_back(self._record, result, spot.position)
        injected = any(value.get(mark) is True for mark in _INJECTED)
        for index, part in enumerate(parts):
            kind = part.get("type")
            if kind == "tool_result" and value.get("isSidechain") is not True:
                self._result(value, part, spot.part(index))
            elif kind == "text" and text_of(part.get("text")).strip():
                if injected:
                    self._record.inject(part["text"], spot.part(index))
                else:
                    self._text(value, part["text"], spot.part(index), beside_results=bool(results))

    @property
    def is_settled(self) -> bool:
        """Whether every result has met its call."""
        return not self._early

    def finish(self) -> None:
        """No more calls will come: results without one are taken for what they say themselves."""
        for value, result, spot in list(self._early.values()):
            self._result(value, result, spot)

    def _text(self, value: dict[str, Any], text: str, spot: Spot, *, beside_results: bool) -> None:
        if value.get("planContent") or text.startswith(harness.PLAN_RESUBMITTED):  # m
            given = text_of(value.get("planContent"))
            self._plan_approved(given or text.removeprefix(harness.PLAN_RESUBMITTED), spot)
        elif text.lstrip().startswith(harness.TASK_NOTIFICATION) or _is_from_elsewhere(value):  # k
            self._record.arrived("a notification", spot)
            self._record.inject(text, spot)
        elif harness.is_interruption(text):  # e
            self._record.settle()
            self._record.person(Channel.INTERRUPTION, "", spot)
        elif harness.is_harness_text(text):  # h, l, and i and j of old versions that did not mark them
            if text.startswith(harness.CONTINUED) and not self._record.turns:
                self._record.beginning_is_missing()
            self._record.inject(text, spot)
        elif (command := harness.slash_command(text)) is not None:  # f
            self._command(command, spot)
        elif (line := harness.shell_input(text)) is not None:  # g
            self._shell(line, spot)
        elif words := harness.person_text(text):  # a, c, d
            self._words(words, spot, beside_results=beside_results)
        else:
            if harness.carries_message(text):
                self._record.arrived("a message from elsewhere", spot)
            self._record.inject(text, spot)

    def _words(self, words: str, spot: Spot, *, beside_results: bool) -> None:
        self._record.settle()
        if beside_results:
            self._record.person(Channel.STEER, words, spot)
        else:
            self._queue.prompt(words, spot)

    def _plan_approved(self, plan: str, spot: Spot) -> None:
        """An approved plan comes back as the first message of the session that carries it out: count it once."""
        plan = plan.strip()
        folded = " ".join(plan.split())
        if folded in self._plans:
            self._record.inject(plan, spot)
            return
        self._plans.add(folded)
        self._record.person(Channel.PLAN_APPROVED, "", spot, tool="ExitPlanMode", about=plan)

    def _command(self, command: harness.SlashCommand, spot: Spot) -> None:
        if command.arguments:
            self._record.settle()
            self._record.person(Channel.COMMAND, command.arguments, spot, about=command.name[:100])
        if ":" in command.name:
            self._arm(skill_danger(command.name.removeprefix("/")), spot)

    def _shell(self, line: str, spot: Spot) -> None:
        self._record.settle()
        self._record.person(Channel.SHELL, line, spot)
        self._arm(shell_danger(line, Place(self._record.cwd, self._record.workspace)), spot)

    def _arm(self, reason: str | None, spot: Spot) -> None:
        if reason is not None:
            self._record.arrived(reason, spot)

    def called(self, identity: str) -> None:
        """A call was read: some versions write a result before its call, and only now it can be understood."""
        if identity in self._early:
            self._result(*self._early.pop(identity))

    def _result(self, value: dict[str, Any], result: dict[str, Any], spot: Spot) -> None:
        identity = text_of(result.get("tool_use_id"))
        call = self._record.called(identity)
        if call is None and identity and identity not in self._early:
            self._early[identity] = (value, result, spot)
            return
        reason = refusal(result)
        if reason is not None:
            self._denial(call, reason, spot)
        elif result.get("is_error") is True:
            text = joined(result.get("content"))
            if harness.is_interruption(text):
                self._record.person(Channel.INTERRUPTION, "", spot)
            else:
                self._record.error(call, text, spot)
        elif call is not None and call.tool == "AskUserQuestion":
            self._answers(call, value.get("toolUseResult"), joined(result.get("content")), spot)
        elif call is not None and call.tool == "ExitPlanMode":
            text = joined(result.get("content"))
            if text.startswith(_PLAN_APPROVED):
                self._plan_approved(_plan_of(value.get("toolUseResult"), call, text), spot)

    def _denial(self, call: Call | None, reason: str, spot: Spot) -> None:
        if call is not None and call.tool == "ExitPlanMode":
            plan = text_of(call.arguments.get("plan")) or call.wants
            self._record.person(Channel.PLAN_REJECTED, reason, spot, tool=call.tool, about=plan)
        else:
            record_denial(self._record, call, reason, spot)

    def _answers(self, call: Call, result: Any, text: str, spot: Spot) -> None:
        given = result.get("answers") if isinstance(result, dict) else None
        notes = result.get("annotations") if isinstance(result, dict) else None
        pairs = list(given.items()) if isinstance(given, dict) else _ANSWER.findall(text)
        offered = _offered(call)
        for index, (question, answer) in enumerate(pairs):
            words = ", ".join(map(str, answer)) if isinstance(answer, list) else text_of(answer)
            note = notes.get(question) if isinstance(notes, dict) else None
            typed = text_of(note.get("notes")).strip() if isinstance(note, dict) else ""
            self._answer(question, words.strip(), spot.part(index), offered=_is_choice(words, offered))
            self._answer(question, typed, spot.part(len(pairs) + index))

    def _answer(self, question: str, words: str, spot: Spot, *, offered: bool = False) -> None:
        if words and not is_boilerplate(words):
            self._record.person(Channel.ANSWER, words, spot, tool="AskUserQuestion", about=question, offered=offered)


def _is_choice(answer: str, offered: Sequence[str]) -> bool:
    """Whether an answer holds one of the choices as a whole; where those are not recorded, any may be one."""
    return not offered or any(f", {choice}, " in f", {answer.strip()}, " for choice in offered)


def _offered(call: Call) -> tuple[str, ...]:
    """The choices that the agent wrote for its questions, in its words."""
    asked = call.arguments.get("questions")
    questions = [one for one in asked if isinstance(one, dict)] if isinstance(asked, list) else []
    options = [one for question in questions for one in blocks(question.get("options"))]
    return tuple(label for one in options if (label := text_of(one.get("label")).strip()))


def _is_from_elsewhere(value: dict[str, Any]) -> bool:
    origin = value.get("origin")
    return isinstance(origin, dict) and origin.get("kind") not in (None, "human", "user")


def _plan_of(result: Any, call: Call, text: str) -> str:
    """The plan as approved: what the call carried, else what the result repeats."""
    recorded = result.get("plan") if isinstance(result, dict) else None
    for plan in (call.arguments.get("plan"), recorded):
        if isinstance(plan, str) and plan.strip():
            return plan
    return text.partition("Plan:\n")[2] or text.partition("\n\n")[2]
