"""Sessions and commits as values, for tests of triage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from reflect.model import (
    Channel,
    CheckpointId,
    Commit,
    CommitSha,
    PageSummary,
    Session,
    Source,
    Speaker,
    Taint,
    Turn,
)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

_CHANNELS = {
    "prompt": (Speaker.PERSON, Channel.PROMPT),
    "queued": (Speaker.PERSON, Channel.QUEUED),
    "steer": (Speaker.PERSON, Channel.STEER),
    "denial": (Speaker.PERSON, Channel.DENIAL),
    "answer": (Speaker.PERSON, Channel.ANSWER),
    "interruption": (Speaker.PERSON, Channel.INTERRUPTION),
    "plan_rejected": (Speaker.PERSON, Channel.PLAN_REJECTED),
    "plan_approved": (Speaker.PERSON, Channel.PLAN_APPROVED),
    "command": (Speaker.PERSON, Channel.COMMAND),
    "reply": (Speaker.ASSISTANT, Channel.REPLY),
    "tool_use": (Speaker.ASSISTANT, Channel.TOOL_USE),
    "injected": (Speaker.HARNESS, Channel.INJECTED),
}


def turn(kind: str, text: str, position: int = 0, *, at: datetime | None = None, **more: Any) -> Turn:
    """A turn of `kind`: one of the names of the channels a test writes about."""
    speaker, channel = _CHANNELS[kind]
    return Turn(speaker, channel, text, position, at if at is not None else START + timedelta(minutes=position), **more)


def turns(*said: Mapping[str, Any], at: datetime = START) -> tuple[Turn, ...]:
    """Turns from `{kind: text, about: ..., tool: ...}`, one minute apart."""
    made = []
    for position, each in enumerate(said):
        more = dict(each)
        kind = next(name for name in more if name in _CHANNELS)
        text = more.pop(kind)
        when = at + timedelta(minutes=position)
        made.append(turn(kind, "" if text is True else str(text), position, at=when, **more))
    return tuple(made)


def session(
    *said: Mapping[str, Any], number: int = 0, taint: Taint = Taint.UNKNOWN, at: datetime = START, **more: Any
) -> Session:
    checkpoint = CheckpointId(hashlib.sha256(f"checkpoint {number}".encode()).hexdigest()[:12])
    keys: dict[str, Any] = {
        "agent": "Claude Code",
        "branch": "main",
        "files": (),
        "workspace": "/home/dev/project",
        **more,
    }
    return Session(
        checkpoint=checkpoint,
        folder=0,
        content=f"tree-{number}",
        session_id=f"session-{number}",
        created_at=at,
        turns=turns(*said, at=at),
        taint=taint,
        **keys,
    )


def commit(subject: str, body: str = "", number: int = 0, *, at: datetime = START, **more: Any) -> Commit:
    return Commit(
        sha=sha(number), parents=(), author="Ada", email="ada@example.com", at=at, subject=subject, body=body, **more
    )


def sha(number: int) -> CommitSha:
    return CommitSha(hashlib.sha256(f"commit {number}".encode()).hexdigest()[:40])


def page(path: str, title: str, lead: str = "", body: str = "", **more: Any) -> PageSummary:
    category, _, name = path.partition("/")
    keys: dict[str, Any] = {"status": "active", **more}
    return PageSummary(
        path=path, category=category, slug=name.removesuffix(".md"), title=title, lead=lead, body=body or lead, **keys
    )


def sources(evidence: Iterable[str]) -> tuple[Source, ...]:
    return tuple(Source.of(each) for each in evidence)


def said(*texts: str) -> Sequence[Mapping[str, str]]:
    """A session in which the person says `texts`, the agent answering each."""
    return [each for text in texts for each in ({"prompt": text}, {"reply": "Done."})]
