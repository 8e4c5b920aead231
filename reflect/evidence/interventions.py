"""Where a person stepped in, and with what words.

Source: the extraction rules of the provenance reference, 2.7, and its list of correction candidates for Claude Code.
The first thing a person says is the task. Blocks by hooks, refusals by policy, errors of tools, slash commands and
anything the harness put in are no interventions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reflect.model import Channel, Speaker, Turn

CONTEXT_CHARS = 600
"""Kept of what the agent had said before."""


class InterventionKind(StrEnum):
    """How a person stepped in, the strongest sign of a correction first."""

    DENIAL = "denial"  # a refused call, with the reason
    INTERRUPTION = "interruption"  # the person pressed stop and then said this
    STEER = "steer"  # beside a tool result, or typed while the agent worked
    PLAN_REJECTED = "plan_rejected"
    ANSWER = "answer"
    PLAN_APPROVED = "plan_approved"
    FOLLOWUP = "followup"  # a later prompt; only a candidate


@dataclass(frozen=True, slots=True)
class Intervention:
    """One intervention: `text` in the person's words (empty for an approved plan), `position` of its turn.

    `context` is the end of what the agent had said last, at most 600 characters. `tool` is the call it was about.
    """

    kind: InterventionKind
    text: str
    position: int
    context: str
    tool: str | None = None


_BY_CHANNEL = {
    Channel.DENIAL: InterventionKind.DENIAL,
    Channel.STEER: InterventionKind.STEER,
    Channel.PLAN_REJECTED: InterventionKind.PLAN_REJECTED,
    Channel.ANSWER: InterventionKind.ANSWER,
}
_TASKS = frozenset({Channel.PROMPT, Channel.QUEUED, Channel.COMMAND, Channel.PLAN_APPROVED})


def interventions(turns: Sequence[Turn]) -> tuple[Intervention, ...]:
    """Every intervention among the turns of one session, in order."""
    found: list[Intervention] = []
    said = ""
    tasked = stopped = False
    for turn in turns:
        if turn.speaker is Speaker.ASSISTANT:
            said, stopped = turn.text or said, False
        if turn.speaker is not Speaker.PERSON:
            continue
        kind = _kind(turn, tasked=tasked, stopped=stopped, answered=bool(said))
        if kind is not None:
            found.append(Intervention(kind, turn.text, turn.position, _end_of(said), turn.tool))
        tasked |= turn.channel in _TASKS
        stopped = turn.channel is Channel.INTERRUPTION or (stopped and not turn.text)
    return tuple(found)


def _kind(turn: Turn, *, tasked: bool, stopped: bool, answered: bool) -> InterventionKind | None:
    if turn.channel is Channel.PLAN_APPROVED:
        # the plan that opens a session is its task
        return InterventionKind.PLAN_APPROVED if tasked else None
    if not turn.text.strip():
        return None  # a refusal without a reason teaches nothing; what is said next may
    if turn.channel in _BY_CHANNEL:
        return _BY_CHANNEL[turn.channel]
    if turn.channel not in (Channel.PROMPT, Channel.QUEUED) or not tasked:
        return None
    if stopped:
        return InterventionKind.INTERRUPTION
    if turn.channel is Channel.QUEUED:
        return InterventionKind.STEER
    return InterventionKind.FOLLOWUP if answered else None


def _end_of(text: str) -> str:
    text = text.strip()
    return text if len(text) <= CONTEXT_CHARS else "…" + text[-(CONTEXT_CHARS - 1) :]
