"""Refused tool calls, as Claude Code and the agents that took over its wording write them down."""

from __future__ import annotations

from typing import Any

from reflect.evidence.transcripts.content import joined

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


def is_boilerplate(text: str) -> bool:
    """Whether a button wrote this answer in the person's name."""
    return text.lstrip().startswith(_BOILERPLATE)
