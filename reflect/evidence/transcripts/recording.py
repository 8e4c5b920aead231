"""Gathers what an adapter reads: turns, and what had entered the conversation by each of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from reflect.evidence.taint import Place, danger
from reflect.evidence.transcripts.content import text_of
from reflect.model import Channel, Speaker, Taint, Turn

ERROR_CHARS = 400
"""Kept of a tool's error."""

INJECTED_CHARS = 200
"""Kept of what the harness put in: enough to see what it was."""

ABOUT_CHARS = 200
"""Kept of what a tool call wanted to do."""

_TOOL_NAME_CHARS = 100
_WIKI_FOLDER = ".reflect"
_WIKI_SEARCH = "reflect search"

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
    `wiki_read_at` is the position of the first call that names this product's folder, where there is one; `wiki_calls`
    are the positions of all calls that look into it.
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
    wiki_read_at: int | None = None
    wiki_calls: frozenset[int] = frozenset()


class Spot(NamedTuple):
    """Where and when something stands in a transcript, and the key it goes under."""

    position: int
    key: bytes
    at: datetime | None = None

    def part(self, number: int) -> Spot:
        """The spot of one of several things on the same line; the first has the line's own key."""
        return self if number == 0 else Spot(self.position, key_of(self.key.hex(), str(number)), self.at)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, and why its result may be someone else's words (None: it cannot)."""

    tool: str
    arguments: Mapping[str, Any]
    danger: str | None

    @property
    def wants(self) -> str:
        """What it wanted to do, in one short line."""
        for name in _SAYS_WHAT_IT_WANTS:
            value = self.arguments.get(name)
            if isinstance(value, str) and value.strip():
                return _short(f"{self.tool}: {value}")
        if not self.arguments:
            return _short(self.tool)
        try:
            return _short(f"{self.tool}: {orjson.dumps(dict(self.arguments)).decode()}")
        except (TypeError, orjson.JSONEncodeError):
            return _short(self.tool)


@dataclass(slots=True)
class Recorder:
    """The state one adapter fills while it walks a transcript in file order."""

    format: str
    already: AbstractSet[bytes] = frozenset()
    unit: str = "line"
    turns: list[Turn | None] = field(default_factory=list)
    taint: Taint = Taint.CLEAN
    tainted_by: str = ""
    complete: bool = True
    automated: bool = False
    cwd: str | None = None
    wiki_read_at: int | None = None
    wiki_calls: set[int] = field(default_factory=set)
    notes: Counter[str] = field(default_factory=Counter)
    _workspaces: dict[str, None] = field(default_factory=dict)
    _sessions: dict[str, None] = field(default_factory=dict)
    _calls: dict[str, Call] = field(default_factory=dict)
    _running: dict[str, tuple[Call, int]] = field(default_factory=dict)
    _early: dict[str, tuple[int, int]] = field(default_factory=dict)
    _awaited: set[str] = field(default_factory=set)
    _refused_early: set[str] = field(default_factory=set)

    @property
    def workspace(self) -> str | None:
        return next(iter(self._workspaces), None)

    def enter(self, cwd: Any, session: Any = None) -> None:
        """Note the directory and the session that the next turns belong to."""
        if isinstance(cwd, str) and cwd:
            self.cwd = clean(cwd)
            self._workspaces.setdefault(self.cwd)
        if isinstance(session, str) and session:
            self._sessions.setdefault(clean(session))

    def say(
        self,
        speaker: Speaker,
        channel: Channel,
        text: str,
        spot: Spot,
        *,
        tool: str | None = None,
        about: str = "",
        is_error: bool = False,
        offered: bool = False,
    ) -> int:
        """Add a turn with the taint of this moment; return its index in `turns`."""
        self.turns.append(
            Turn(
                speaker=speaker,
                channel=channel,
                text=clean(text),
                position=spot.position,
                at=spot.at,
                taint=self.taint,
                tool=tool,
                about=clean(about),
                is_error=is_error,
                cwd=self.cwd,
                key=spot.key,
                offered=offered,
            )
        )
        return len(self.turns) - 1

    def person(
        self,
        channel: Channel,
        text: str,
        spot: Spot,
        *,
        tool: str | None = None,
        about: str = "",
        offered: bool = False,
    ) -> int:
        """Add what the person said or did. `offered`: in words that the agent put before them."""
        return self.say(Speaker.PERSON, channel, text, spot, tool=tool, about=about, offered=offered)

    def reply(self, text: str, spot: Spot) -> None:
        """Add the agent's prose; white space alone is none."""
        if text.strip():
            self.say(Speaker.ASSISTANT, Channel.REPLY, text, spot)

    def inject(self, text: str, spot: Spot) -> None:
        """Add a text that the harness put into the conversation, in short."""
        self.say(Speaker.HARNESS, Channel.INJECTED, text.strip()[:INJECTED_CHARS], spot)

    def error(self, call: Call | None, text: str, spot: Spot) -> None:
        """Add the error a tool came back with, in short."""
        self.say(
            Speaker.TOOL,
            Channel.TOOL_RESULT,
            text[:ERROR_CHARS],
            spot,
            tool=call.tool if call else None,
            about=call.wants if call else "",
            is_error=True,
        )

    def use(self, identity: str, tool: Any, arguments: Any, spot: Spot) -> Call:
        """Add a call of a tool."""
        call = self.call(identity, tool, arguments, spot)
        self.say(Speaker.ASSISTANT, Channel.TOOL_USE, "", spot, tool=call.tool)
        return call

    def call(self, identity: str, tool: Any, arguments: Any, spot: Spot) -> Call:
        """Note a call without a turn of its own. Nothing is tainted before it ran."""
        name = clean(text_of(tool))[:_TOOL_NAME_CHARS]
        known = arguments if isinstance(arguments, Mapping) else {}
        early = self._early.pop(identity, None)
        reason = None
        if self.taint is not Taint.UNTRUSTED or early is not None:
            reason = danger(self.format, name, known, Place(self.cwd, self.workspace))
        if self.wiki_read_at is None and _names_wiki(known):
            self.wiki_read_at = spot.position
        if _looks_into_wiki(known):
            self.wiki_calls.add(spot.position)
        call = Call(name, known, reason)
        if identity:
            self._calls[identity] = call
        if reason is not None and early is not None:
            self._arm(call, spot.position, since=early[1])
        elif reason is not None and identity not in self._refused_early:
            self._running[identity or f"#{len(self._running)}"] = (call, spot.position)
        return call

    def called(self, identity: str) -> Call | None:
        """The call that a result answers, or None where it was not seen (yet)."""
        return self._calls.get(identity)

    def has_settled(self, identity: str) -> bool:
        """Whether the call is known and its coming back changes nothing."""
        return identity in self._calls and identity not in self._running and identity not in self._awaited

    def await_result(self, identity: str) -> None:
        """The result of this call will hold the person's words."""
        self._awaited.add(identity)

    def ran(self, identity: str, position: int) -> None:
        """The call came back with something, if only an error: from here on it has been read."""
        self._awaited.discard(identity)
        if self.taint is Taint.UNTRUSTED:
            return
        if identity not in self._calls:
            # some harnesses write a result before its call: what it was will be known later, or never
            self._early.setdefault(identity, (position, len(self.turns)))
            return
        running = self._running.pop(identity, None)
        if running is not None:
            self._arm(*running)

    def refused(self, identity: str) -> None:
        """The person refused the call before it ran."""
        self._awaited.discard(identity)
        self._running.pop(identity, None)
        if identity not in self._calls:
            self._refused_early.add(identity)

    def settle(self, since: int | None = None) -> None:
        """Count every call that has not come back as one that ran: the conversation went on without a refusal.

        `since`: the turn from which on the results had been read.
        """
        for call, position in self._running.values():
            self._arm(call, position, since)
        self._running.clear()

    def _arm(self, call: Call, position: int, since: int | None = None) -> None:
        if call.danger is not None:
            self.tainted(f"{call.danger} at {self.unit} {position + 1}", since=since)

    def arrived(self, what: str, spot: Spot) -> None:
        """Third-party content came in by itself, not by a call."""
        self.tainted(f"{what} at {self.unit} {spot.position + 1}")

    def lost_line(self, position: int) -> None:
        """A line that cannot be read may have brought anything in."""
        self.tainted(f"{self.unit} {position + 1}, which could not be read", Taint.UNKNOWN)

    def tainted(self, by: str, level: Taint = Taint.UNTRUSTED, since: int | None = None) -> None:
        """Third-party content entered, or may have. Never undone. `since`: the turn from which on it had."""
        if self.taint is Taint.CLEAN:
            self.tainted_by = by
        if self.taint is not Taint.UNTRUSTED:
            self.taint = level
        for index in range(len(self.turns) if since is None else since, len(self.turns)):
            turn = self.turns[index]
            if turn is not None and turn.taint is not Taint.UNTRUSTED:
                self.turns[index] = replace(turn, taint=level)

    def beginning_is_missing(self) -> None:
        self.complete = False

    def _end(self) -> None:
        """No more will come: calls without a result count as run, results without a call as anything."""
        self.settle()
        if self._early:
            position, since = min(self._early.values())
            self.tainted(f"the result of an unknown call at {self.unit} {position + 1}", Taint.UNKNOWN, since)

    @property
    def is_settled(self) -> bool:
        """Whether every call that may taint has come back, and every result has met its call."""
        return not (self._running or self._early)

    def transcript(
        self, *, whole: bool = True, automated: bool = False, troubles: Mapping[str, int] | None = None
    ) -> Transcript:
        """What was recorded, with what the adapter knows of it as a whole. Nothing may be recorded after it unless
        `is_settled` before it."""
        self._end()
        # what waited for its call was said late, and stands where its line is
        turns = tuple(sorted((turn for turn in self.turns if turn is not None), key=lambda turn: turn.position))
        taint, by = self.taint, self.tainted_by
        complete = self.complete and whole
        if not complete:
            turns = tuple(replace(turn, taint=Taint.UNKNOWN) for turn in turns)
            taint, by = Taint.UNKNOWN, "the beginning of the transcript is missing"
        notes = self.notes + Counter(troubles or {})
        return Transcript(
            format=self.format,
            turns=turns,
            session_ids=tuple(self._sessions),
            complete=complete,
            taint=taint,
            tainted_by=clean(by),
            workspace=self.workspace,
            workspaces=tuple(self._workspaces),
            automated=self.automated or automated,
            notes=tuple(f"{what}: {count}" for what, count in sorted(notes.items())),
            wiki_read_at=self.wiki_read_at,
            wiki_calls=frozenset(self.wiki_calls),
        )


def _names_wiki(arguments: Mapping[str, Any]) -> bool:
    for value in arguments.values():  # noqa: SIM110  as `any` it costs three times as much, and every call comes here
        if isinstance(value, str) and _WIKI_FOLDER in value:
            return True
    return False


def _looks_into_wiki(arguments: Mapping[str, Any]) -> bool:
    for name in _SAYS_WHAT_IT_WANTS:
        value = arguments.get(name)
        if isinstance(value, str) and (_WIKI_FOLDER in value or _WIKI_SEARCH in value):
            return True
    return False


_NOT_KEPT = dict.fromkeys((0, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def clean(text: str) -> str:
    """`text` without what no database and no encoder takes (NUL, surrogates without a twin), and without the marks that
    turn the reading direction, so that a line cannot show as another."""
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    return text.translate(_NOT_KEPT).encode("utf-8", "replace").decode("utf-8")


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


def _short(text: str) -> str:
    folded = " ".join(text[: 4 * ABOUT_CHARS].split())
    return folded if len(folded) <= ABOUT_CHARS else folded[: ABOUT_CHARS - 1] + "…"
