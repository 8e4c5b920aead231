"""Superseded and resolved pages move to `_archive/`, keeping their path below it; links follow.

What an archived page rests on is remembered: the same evidence does not write it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import yaml

from reflect.errors import PageError
from reflect.model import Action, Finding, PageSummary, Source, Status
from reflect.wiki.edit import FrontmatterEdit
from reflect.wiki.fields import related_path, same_source
from reflect.wiki.landing import FileChange
from reflect.wiki.links import Moves
from reflect.wiki.page import SPEC_KEYS, Page, sha256
from reflect.wiki.passages import cited_quotes, quote_key
from reflect.wiki.paths import ARCHIVE, WIKI, canonical_key
from reflect.wiki.store import Wiki, WikiState

LEAVES = frozenset({Status.SUPERSEDED, Status.RESOLVED})


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """`moves` pairs each page with its place in the archive; `changes` are all files to write and to remove."""

    moves: tuple[tuple[str, str], ...] = ()
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()


def plan_archive(wiki: Wiki, state: WikiState) -> ArchivePlan:
    """What archiving would do to the wiki as it is. Nothing is changed; a second plan after landing it is empty."""
    moved = _places(wiki.folder, state)
    if not moved:
        return ArchivePlan()
    moves = Moves(moved, state.paths | {page.path for page in state.archived})
    changes: list[FileChange] = []
    notes: list[str] = []
    for summary in (*state.pages, *state.archived):
        path = summary.path
        target = moved.get(path, path)
        try:
            page = wiki.page(path)
            text = _followed(page, moves)
        except (PageError, yaml.YAMLError, RecursionError) as error:
            notes.append(f"The links of {path} were not followed: {error}")
            continue
        base = sha256(page.text.encode())
        if target != path:
            changes.append(FileChange(f"{WIKI}/{target}", text.encode(), None))
            changes.append(FileChange(f"{WIKI}/{path}", None, base))
        elif text != page.text:
            changes.append(FileChange(f"{WIKI}/{path}", text.encode(), base))
    done = {change.path for change in changes}
    made = tuple((path, target) for path, target in moved.items() if f"{WIKI}/{target}" in done)
    return ArchivePlan(made, tuple(changes), tuple(notes))


@dataclass(frozen=True, slots=True)
class ArchivedEvidence:
    """What archived pages say and rest on.

    `quotes` maps the words of a passage to its page and what it cites there; `pages` maps a page's former name to its
    archived path and its sources.
    """

    quotes: Mapping[str, tuple[str, frozenset[Source]]]
    pages: Mapping[str, tuple[str, tuple[Source, ...]]]

    @classmethod
    def of(cls, archived: Sequence[PageSummary]) -> ArchivedEvidence:
        quotes: dict[str, tuple[str, frozenset[Source]]] = {}
        pages: dict[str, tuple[str, tuple[Source, ...]]] = {}
        for page in archived:
            former = page.path.removeprefix(f"{ARCHIVE}/")
            pages[canonical_key(former)] = (page.path, page.sources)
            for quote in cited_quotes(page.body):
                known = quotes.get(quote_key(quote.text), (page.path, frozenset()))
                quotes[quote_key(quote.text)] = (known[0], known[1] | frozenset(quote.sources))
        return cls(quotes, pages)

    def holds(self, finding: Finding) -> str | None:
        """The archived page on which the finding's words stand, cited to the same source; None where there is none."""
        path, sources = self.quotes.get(quote_key(finding.quote), ("", frozenset()))
        return path if any(same_source(finding.source, source) for source in sources) else None

    def forbids(self, action: Action) -> str | None:
        """The archived page that `action` would write again from nothing new; None where it brings something new."""
        archived = self.pages.get(canonical_key(action.path))
        if archived is None:
            return None
        path, known = archived
        offered = {Source.of(evidence) for evidence in action.evidence_ids}
        new = [source for source in offered if not any(same_source(source, old) for old in known)]
        return None if new else path


def _places(folder: Path, state: WikiState) -> dict[str, str]:
    """Where each page that leaves goes: never onto a file that is there, in any spelling."""
    taken = {canonical_key(page.path) for page in state.archived}
    places: dict[str, str] = {}
    for page in state.pages:
        if page.status in LEAVES:
            place = next(
                place
                for place in _names(page.path)
                if canonical_key(place) not in taken and not os.path.lexists(folder / place)
            )
            places[page.path] = place
            taken.add(canonical_key(place))
    return places


def _names(path: str) -> Iterator[str]:
    stem = f"{ARCHIVE}/{path.removesuffix('.md')}"
    yield f"{stem}.md"
    for number in count(2):
        yield f"{stem}-{number}.md"


def _followed(page: Page, moves: Moves) -> str:
    parts = page.parts
    return (
        parts.head
        + _related_followed(page, moves)
        + parts.tail[: parts.body_start]
        + moves.follow(page.body, page.path)
    )


def _related_followed(page: Page, moves: Moves) -> str:
    value = page.data.get("related")
    entries = value if isinstance(value, list) else [value]
    if not any(link in moves.places for link in page.related):
        return page.parts.yaml
    edit = FrontmatterEdit(page.parts.yaml, page.newline, SPEC_KEYS)
    edit.set_list("related", [_entry_followed(entry, page.path, moves) for entry in entries])
    return edit.text


def _entry_followed(entry: object, path: str, moves: Moves) -> object:
    place = moves.places.get(related_path(entry, path)) if isinstance(entry, str) else None
    return entry if place is None else place
