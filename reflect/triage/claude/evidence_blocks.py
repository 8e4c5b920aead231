"""Evidence as numbered data between markers, so that what it says can never be taken for an instruction or a marker.

Every character that is replaced is replaced by one character: a quote that a model copies from a block still has its
place in the evidence, and is written down in the evidence's own characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from reflect.folding import fold
from reflect.model import Channel, Commit, EvidenceMode, Session, Speaker, Turn
from reflect.triage.extractive.sentences import sentences
from reflect.triage.views import visible_turns

SUMMARY_POSITION = -1
"""Where a finding from a session's stored summary stands: before its first turn, as the embedded engine has it."""

LONGEST_STATEMENT = 600
"""A quote in text without sentences is kept as the model gave it once the whole would be longer than this."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNSEEN = r"[\s\u200b-\u200f\u2060\ufeff]*"
_MARKERS = re.compile(
    rf"<(?={_UNSEEN}/?{_UNSEEN}(?:reflect:|evidence|findings?|pages?|answer|corrections?)\b)", re.IGNORECASE
)
_TOOL_NAME = re.compile(r"[\w.:/-]{1,80}")
_BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\(?\d{1,2}[.)])\s)")
_MARK = re.compile(r"^(?:[-*+•]|\(?\d{1,2}[.)])\s+")
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Item:
    """One numbered piece of evidence. `text` is what a quote must stand in; `head` says who said it and when."""

    id: str
    head: str
    text: str
    speaker: Speaker
    evidence_id: str
    position: int
    at: datetime
    turn: Turn | None = None
    tools: tuple[str, ...] = ()

    def render(self) -> str:
        """The item as it is sent: its head in brackets, every further line of its text set in."""
        ran = f"[tools: {', '.join(self.tools)}]\n" if self.tools else ""
        lines = _LINE_END.split(harmless(self.text))
        return f"{ran}[{self.id} | {self.head}] " + "\n  ".join(lines)


def harmless(text: str) -> str:
    """`text` with every opening that could pass for one of our markers turned into another character."""
    return _MARKERS.sub("‹", text)


def between(marker: str, blocks: Iterable[str]) -> str:
    """`blocks`, which were made harmless, between two lines that no block can hold."""
    return f"<{marker}>\n" + "\n".join(blocks) + f"\n</{marker}>"


def items_of_session(session: Session, mode: EvidenceMode) -> tuple[Item, ...]:
    """What may be sent of `session`, in the order it was said: under `USER_TURNS` the person's words and tool names."""
    return tuple(_numbered(_session_items(session, mode)))


def items_of_commits(commits: Sequence[Commit]) -> tuple[Item, ...]:
    """Each commit's message, oldest first. Position 0 is the subject's; quotes are looked for in both parts."""
    ordered = sorted(commits, key=lambda commit: (commit.at, commit.sha))
    return tuple(_numbered(_commit_item(commit) for commit in ordered))


def quoted_in(item: Item, quote: str) -> str | None:
    """The whole statement of `item` that holds `quote`, in its own characters; None where it does not stand there."""
    wanted = _MARK.sub("", fold(harmless(quote)))
    text = fold(item.text)
    place = fold(harmless(item.text)).find(wanted) if wanted else -1
    if place < 0:
        return None
    asked = text[place : place + len(wanted)]
    statements = _statements(item.text)
    whole = " ".join(statements)
    at = whole.find(asked)
    longer = _covering(statements, at, at + len(asked)) if at >= 0 else asked
    return longer if len(longer) <= LONGEST_STATEMENT and longer in text else asked


def statements_around(item: Item, quote: str, most: int = 3) -> tuple[str, ...]:
    """The sentences beside `quote` in its item: one before it, the others behind it."""
    statements = _statements(item.text)
    held = [number for number, statement in enumerate(statements) if statement in quote or quote in statement]
    if not held:
        return ()
    near = [*statements[max(0, held[0] - 1) : held[0]], *statements[held[-1] + 1 : held[-1] + most]]
    return tuple(text for text in near if len(text) <= LONGEST_STATEMENT and text not in quote)


def _statements(text: str) -> list[str]:
    """The sentences of `text`, white space folded; a list item is one or more of its own, without its mark."""
    blocks = (_MARK.sub("", fold(block)) for block in _BLOCKS.split(text))
    return [sentence for block in blocks for sentence in sentences(block) if sentence]


def _covering(statements: Sequence[str], at: int, end: int) -> str:
    """The statements, joined by a space, that the characters from `at` to `end` of all of them lie in."""
    start, held = 0, list[str]()
    for statement in statements:
        if start < end and at < start + len(statement):
            held.append(statement)
        start += len(statement) + 1
    return " ".join(held)


def _session_items(session: Session, mode: EvidenceMode) -> Iterator[Item]:
    start = session.created_at or next((turn.at for turn in session.turns if turn.at), _EPOCH)
    if mode is EvidenceMode.FULL and session.summary is not None:
        told = session.summary
        parts = [told.intent, told.outcome, *told.learnings, *told.friction, *told.open_items]
        for text in parts:
            if text.strip():
                yield Item(
                    "",
                    _head(start, "assistant", "summary"),
                    text,
                    Speaker.ASSISTANT,
                    session.id,
                    SUMMARY_POSITION,
                    start,
                )
    at, tools = start, list[str]()
    for turn in visible_turns(session, mode):
        at = turn.at or at
        if turn.channel is Channel.TOOL_USE:
            tools.append(_tool(turn.tool))
        if turn.about.strip():
            asked = "plan" if turn.channel in (Channel.PLAN_APPROVED, Channel.PLAN_REJECTED) else "question"
            yield Item(
                "",
                _head(at, "assistant", asked),
                turn.about,
                Speaker.ASSISTANT,
                session.id,
                turn.position,
                at,
                turn,
                _runs(tools),
            )
            tools = []
        if turn.text.strip():
            head = _head(at, turn.speaker.value, turn.channel.value)
            yield Item("", head, turn.text, turn.speaker, session.id, turn.position, at, turn, _runs(tools))
            tools = []
        elif turn.channel in (Channel.PLAN_APPROVED, Channel.INTERRUPTION, Channel.DENIAL):
            tools.append(f"the person: {turn.channel.value}")


def _commit_item(commit: Commit) -> Item:
    merge = " | merge" if len(commit.parents) > 1 else ""
    undoes = f" | reverts {', '.join(sha[:12] for sha in commit.reverts)}" if commit.reverts else ""
    head = f"{_head(commit.at, 'commit', commit.sha[:12])}{merge}{undoes}"
    text = f"{commit.subject}\n\n{commit.body}" if commit.body.strip() else commit.subject
    return Item("", head, text, Speaker.PERSON, commit.id, 0, commit.at)


def _numbered(items: Iterable[Item]) -> Iterator[Item]:
    for number, item in enumerate(items, start=1):
        yield replace(item, id=f"e{number}")


def _head(at: datetime, *parts: str) -> str:
    return " | ".join((at.strftime("%Y-%m-%d %H:%M"), *parts))


def _tool(name: str | None) -> str:
    """The name of a tool as far as it is one: a name is never a way to say something."""
    match = _TOOL_NAME.match(name or "")
    return match.group() if match else "tool"


def _runs(tools: Sequence[str]) -> tuple[str, ...]:
    """The names with repetitions in a row counted."""
    runs: list[tuple[str, int]] = []
    for tool in tools:
        if runs and runs[-1][0] == tool:
            runs[-1] = (tool, runs[-1][1] + 1)
        else:
            runs.append((tool, 1))
    return tuple(name if count == 1 else f"{name} x{count}" for name, count in runs)
