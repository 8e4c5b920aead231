"""Gathers what an adapter reads: turns, and what had entered the conversation by each of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from reflect.evidence.taint import Place, danger
from reflect.model import Channel, Speaker, Taint, Turn

ERROR_CHARS = 400
"""Kept of a tool's error."""

INJECTED_CHARS = 200
"""Kept of what the harness put in: enough to see what it was."""

ABOUT_CHARS = 200
"""Kept of what a tool call wanted to do."""

_TOOL_NAME_CHARS = 100

_SAYS_WHAT_IT_WANTS = (
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "url",
    "query",
    "pattern",
    "prompt",
)
"""Arguments that say by themselves what a call is for, the most telling first."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One transcript as it was stored, un-redacted.

    `format` names the agent whose shape it has. `complete` is false where its beginning is missing: the taint of every
    turn is then unknown. `workspace` is the first working directory recorded, `workspaces` all of them in the order
    they appear. `automated` marks what ran without a person. `notes` count what could not be read.
    """

    format: str
    turns: tuple[Turn, ...]
    session_ids: tuple[str, ...]
    complete: bool
    taint: Taint
    tainted_by: str
    workspace: str | None
    workspaces: tuple[str, ...]
    automated: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: what it wanted in short, and why its result may be someone else's words (None: it cannot)."""

    tool: str
    wants: str
    danger: str | None
    arguments: Mapping[str, Any]


@dataclass(slots=True)
class Recorder:
    """The state one adapter fills while it walks a transcript in file order."""

    format: str
    already: AbstractSet[bytes] = frozenset()
    turns: list[Turn | None] = field(default_factory=list)
    taint: Taint = Taint.CLEAN
    tainted_by: str = ""
    complete: bool = True
    automated: bool = False
    cwd: str | None = None
    notes: Counter[str] = field(default_factory=Counter)
    _workspaces: dict[str, None] = field(default_factory=dict)
    _sessions: dict[str, None] = field(default_factory=dict)
    _calls: dict[str, Call] = field(default_factory=dict)
    _running: dict[str, tuple[Call, int]] = field(default_factory=dict)

    @property
    def workspace(self) -> str | None:
        return next(iter(self._workspaces), None)

    @property
    def awaits_results(self) -> bool:
        """Whether a call whose result may taint has not come back yet."""
        return bool(self._running)

    def enter(self, cwd: Any, session: Any = None) -> None:
        """Note the directory and the session that the next turns belong to."""
        if isinstance(cwd, str) and cwd:
            self.cwd = cwd
            self._workspaces.setdefault(cwd)
        if isinstance(session, str) and session:
            self._sessions.setdefault(session)

    def say(
        self,
        speaker: Speaker,
        channel: Channel,
        text: str,
        position: int,
        key: bytes,
        *,
        at: datetime | None = None,
        tool: str | None = None,
        about: str = "",
        is_error: bool = False,
    ) -> int:
        """Add a turn with the taint of this moment; return its index in `turns`."""
        self.turns.append(
            Turn(
                speaker=speaker,
                channel=channel,
                text=clean(text),
                position=position,
                at=at,
                taint=self.taint,
                tool=tool,
                about=clean(about),
                is_error=is_error,
                cwd=self.cwd,
                key=key,
            )
        )
        return len(self.turns) - 1

    def inject(self, text: str, position: int, key: bytes, at: datetime | None = None) -> None:
        """Add a text that the harness put into the conversation, in short."""
        self.say(Speaker.HARNESS, Channel.INJECTED, text.strip()[:INJECTED_CHARS], position, key, at=at)

    def call(self, identity: str, tool: str, arguments: Any, position: int) -> Call:
        """Note that the agent asked for `tool`. Nothing is tainted before it ran."""
        tool = clean(tool)[:_TOOL_NAME_CHARS]
        known = arguments if isinstance(arguments, Mapping) else {}
        reason = None
        if self.taint is not Taint.UNTRUSTED:
            reason = danger(self.format, tool, known, Place(self.cwd, self.workspace))
        made = Call(tool=tool, wants=wants(tool, known), danger=reason, arguments=known)
        if identity:
            self._calls[identity] = made
        if reason is not None:
            self._running[identity] = (made, position)
        return made

    def called(self, identity: Any) -> Call | None:
        """The call that a result answers, or None where it was never seen."""
        return self._calls.get(identity) if isinstance(identity, str) else None

    def ran(self, identity: Any, position: int) -> None:
        """The call came back with something, if only an error: from here on it has been read."""
        if self.taint is Taint.UNTRUSTED:
            return
        if not isinstance(identity, str) or identity not in self._calls:
            self.tainted(f"the result of an unknown call at line {position + 1}", Taint.UNKNOWN)
            return
        running = self._running.pop(identity, None)
        if running is not None:
            self._arm(*running)

    def refused(self, identity: Any) -> None:
        """The person refused the call before it ran."""
        if isinstance(identity, str):
            self._running.pop(identity, None)

    def settle(self) -> None:
        """Count every call that has not come back as one that ran: the conversation went on without a refusal."""
        for call, position in self._running.values():
            self._arm(call, position)
        self._running.clear()

    def _arm(self, call: Call, position: int) -> None:
        if call.danger is not None:
            self.tainted(f"{call.danger} at line {position + 1}")

    def tainted(self, by: str, level: Taint = Taint.UNTRUSTED) -> None:
        """Third-party content entered, or may have. Never undone."""
        if self.taint is Taint.CLEAN:
            self.tainted_by = by
        if self.taint is not Taint.UNTRUSTED:
            self.taint = level

    def beginning_is_missing(self) -> None:
        self.complete = False
        self.tainted("the beginning of the transcript is missing", Taint.UNKNOWN)

    def transcript(self) -> Transcript:
        turns = tuple(turn for turn in self.turns if turn is not None)
        taint, by = self.taint, self.tainted_by
        if not self.complete:
            turns = tuple(replace(turn, taint=Taint.UNKNOWN) for turn in turns)
            taint, by = Taint.UNKNOWN, "the beginning of the transcript is missing"
        return Transcript(
            format=self.format,
            turns=turns,
            session_ids=tuple(self._sessions),
            complete=self.complete,
            taint=taint,
            tainted_by=clean(by),
            workspace=self.workspace,
            workspaces=tuple(self._workspaces),
            automated=self.automated,
            notes=tuple(f"{what}: {count}" for what, count in sorted(self.notes.items())),
        )


def clean(text: str) -> str:
    """`text` without what no database and no encoder takes: NUL, surrogates without a twin."""
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def key_of(*parts: str) -> bytes:
    """Eight bytes that stand for `parts`."""
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def key_of_line(line: bytes, *parts: str) -> bytes:
    """The key of what has no id of its own: eight bytes that stand for the line and the session it is in."""
    return hashlib.blake2b(line + "\x1f".join(("", *parts)).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def moment(value: Any) -> datetime | None:
    """An RFC 3339 text, or milliseconds since 1970, as UTC; None where it is neither."""
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value)
            return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def wants(tool: str, arguments: Mapping[str, Any]) -> str:
    """What a call wanted to do, in one short line."""
    for name in _SAYS_WHAT_IT_WANTS:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return _short(f"{tool}: {value}")
    if not arguments:
        return _short(tool)
    try:
        return _short(f"{tool}: {orjson.dumps(dict(arguments)).decode()}")
    except (TypeError, orjson.JSONEncodeError):
        return _short(tool)


def _short(text: str) -> str:
    folded = " ".join(text[: 4 * ABOUT_CHARS].split())
    return folded if len(folded) <= ABOUT_CHARS else folded[: ABOUT_CHARS - 1] + "…"
