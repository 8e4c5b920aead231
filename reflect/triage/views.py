"""What an engine may see of a session.

Source: the seed's `Evidence` (full, user_turns). Once third-party content may have entered a conversation, nothing the
assistant or a tool wrote is shown to an engine, not even what came before: only the person's own words and the names
of the tools that ran.
"""

from __future__ import annotations

from dataclasses import replace

from reflect.model import Channel, EvidenceMode, Session, Speaker, Taint, Turn


def evidence_mode(session: Session) -> EvidenceMode:
    """`FULL` for a session clean to its end; `USER_TURNS` for a tainted one and for one nobody can vouch for."""
    return EvidenceMode.FULL if session.taint is Taint.CLEAN else EvidenceMode.USER_TURNS


def visible_turns(session: Session, mode: EvidenceMode) -> tuple[Turn, ...]:
    """The turns an engine may see, in order.

    Under `USER_TURNS` a turn of the person keeps its text and loses `about` (the agent's question or plan); one that
    chose among the agent's own words loses those too. A tool call keeps its name alone, every other turn is left out.
    """
    if mode is EvidenceMode.FULL:
        return session.turns
    return tuple(seen for seen in map(_of_the_person, session.turns) if seen is not None)


def _of_the_person(turn: Turn) -> Turn | None:
    if turn.speaker is Speaker.PERSON:
        return replace(turn, about="", text="" if turn.offered else turn.text)
    if turn.channel is Channel.TOOL_USE:
        return replace(turn, text="", about="")
    return None
