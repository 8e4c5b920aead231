"""Long evidence in parts that fit one call: parted between turns, and nothing of it left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reflect.model import Commit
from reflect.triage.claude.evidence_blocks import Item

CHUNK_CHARS = 60_000
"""About 20,000 tokens: far below the length from which a small model charges five times as much."""

COMMITS_CHARS = 30_000
_HEAD_CHARS = 60
_BREAK = re.compile(r"\n|(?<=[.!?])\s|\s")


def chunked(items: Sequence[Item], most: int = CHUNK_CHARS) -> tuple[tuple[Item, ...], ...]:
    """`items` in parts of at most `most` characters. A turn longer than that is parted where a line of it ends."""
    chunks: list[tuple[Item, ...]] = []
    part: list[Item] = []
    size = 0
    for item in (piece for whole in items for piece in _pieces(whole, most)):
        length = len(item.render()) + 1
        if part and size + length > most:
            chunks.append(tuple(part))
            part, size = [], 0
        part.append(item)
        size += length
    return (*chunks, tuple(part)) if part else tuple(chunks)


def commit_groups(commits: Sequence[Commit], most: int = COMMITS_CHARS) -> tuple[tuple[Commit, ...], ...]:
    """`commits`, oldest first, in groups that fit one call; a commit and those it reverts need not share one."""
    groups: list[tuple[Commit, ...]] = []
    group: list[Commit] = []
    size = 0
    for commit in sorted(commits, key=lambda one: (one.at, one.sha)):
        length = len(commit.subject) + len(commit.body) + _HEAD_CHARS
        if group and size + length > most:
            groups.append(tuple(group))
            group, size = [], 0
        group.append(commit)
        size += length
    return (*groups, tuple(group)) if group else tuple(groups)


def _pieces(item: Item, most: int) -> Iterator[Item]:
    room = max(200, most - _HEAD_CHARS - 20)
    if len(item.render()) <= most:
        yield item
        return
    for number, text in enumerate(_parts(item.text, room // 2), start=1):
        yield replace(item, id=f"{item.id}.{number}", text=text, tools=item.tools if number == 1 else ())


def _parts(text: str, most: int) -> Iterator[str]:
    """`text` in parts of at most `most` characters, each ending where a line, sentence or word does."""
    while len(text) > most:
        ends = [found.end() for found in re.finditer(r"\n", text[:most])] or [
            found.end() for found in _BREAK.finditer(text[:most])
        ]
        end = ends[-1] if ends and ends[-1] > most // 4 else most
        yield text[:end]
        text = text[end:]
    if text:
        yield text
