"""Refused tool calls, as Claude Code and the agents that took over its wording write them down."""

from __future__ import annotations

from typing import Any

from reflect.evidence.taint import is_harness_tool
from reflect.evidence.transcripts.content import joined, text_of
from reflect.evidence.transcripts.recording import Call, Recorder, Spot
from reflect.model import Channel

_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
)
_REASON = "the user said:\n"
_BOILERPLATE = "The user wants to clarify these questions"


def refusal(result: dict[str, Any]) -> str | None:
    """The reason, maybe empty, that a person gave for refusing a call; None where `result` is anything else.

    It takes the error flag and the fixed beginning: what a tool prints may say "the user said" as well.
    """
    if result.get("is_error") is not True:
        return None
    text = joined(result.get("content"))
    if not text.startswith(_REFUSED):
        return None
    _, said, reason = text.partition(_REASON)
    return "" if not said or is_boilerplate(reason) else reason.strip()


def came_back(record: Recorder, result: dict[str, Any], position: int) -> None:
    """Note that a call came back: it ran, or was refused before it did.

    What a stranger could have written counts as read, also where it says that the person refused.
    """
    identity = text_of(result.get("tool_use_id"))
    if refusal(result) is None or _could_be_a_strangers(record, record.called(identity)):
        record.ran(identity, position)
    else:
        record.refused(identity)


def record_denial(record: Recorder, call: Call | None, reason: str, spot: Spot) -> None:
    """Add a refused call with its reason; where a stranger could have written that, its words are no person's."""
    tool, about = (None, "") if call is None else (call.tool, call.wants)
    doubtful = bool(reason) and _could_be_a_strangers(record, call)
    record.person(Channel.DENIAL, "" if doubtful else reason, spot, tool=tool, about=about)
    if doubtful:
        record.error(call, reason, spot.part(1))


def _could_be_a_strangers(record: Recorder, call: Call | None) -> bool:
    """Whether an error in answer to `call` could be in a stranger's words: tools that the agent does not bring
    itself write what they like, the text of a refusal too."""
    return call is not None and not is_harness_tool(record.format, call.tool)


def is_boilerplate(text: str) -> bool:
    """Whether a button wrote this answer in the person's name."""
    return text.lstrip().startswith(_BOILERPLATE)
