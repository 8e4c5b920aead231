"""The wiki as the checks see it: every page read once, and what each leads to."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from reflect.configuration import Format
from reflect.model import PageSummary, Source
from reflect.wiki.fields import related_path, same_source, text_of
from reflect.wiki.links import Link, links_in
from reflect.wiki.markdown import plain_lines, split_lines
from reflect.wiki.page import Page
from reflect.wiki.passages import CitedQuote, cited_sources, quotes_in
from reflect.wiki.paths import ARCHIVE, canonical_key
from reflect.wiki.store import Wiki, WikiState


@dataclass(frozen=True, slots=True)
class Related:
    """One entry of a page's `related` list: as it is written, and the path below the wiki that it means."""

    entry: str
    path: str


@dataclass(frozen=True, slots=True)
class Contents:
    """One page taken apart, once for every check.

    `lines` are those outside of code and comments, numbered within the body from 0; `related` and `links` where the
    page leads; `unlisted` what its text cites and its `sources` lack, in the order it is cited.
    """

    summary: PageSummary
    lines: tuple[tuple[int, str], ...]
    related: tuple[Related, ...]
    links: tuple[Link, ...]
    quotes: tuple[CitedQuote, ...]
    unlisted: tuple[Source, ...]

    @classmethod
    def of(cls, page: Page, summary: PageSummary) -> Contents:
        lines = tuple(plain_lines(split_lines(page.body)))
        value = page.data.get("related")
        entries = [text_of(entry) for entry in (value if isinstance(value, list) else [value])]
        related = ((entry, related_path(entry, page.path)) for entry in entries)
        return cls(
            summary=summary,
            lines=lines,
            related=tuple(Related(entry, path) for entry, path in related if path),
            links=tuple(links_in(lines)),
            quotes=quotes_in(lines),
            unlisted=tuple(_unlisted(page)),
        )


@dataclass(frozen=True, slots=True)
class WikiView:
    """Everything the checks ask of a wiki without asking git.

    `pages` holds every readable page, archived ones under `_archive/`; `active` the paths of those that count;
    `contents` has every page that is not archived.
    """

    folder: Path
    state: WikiState
    pages: Mapping[str, Page]
    active: tuple[str, ...]
    contents: Mapping[str, Contents]
    existing: frozenset[str]
    by_key: Mapping[str, str]
    by_name: Mapping[str, tuple[str, ...]]
    format: Format
    today: date

    @classmethod
    def of(cls, wiki: Wiki, format: Format, today: date) -> WikiView:
        """Read the wiki. Raises WikiError where it cannot be listed."""
        state, pages = wiki.read_pages()
        contents = {summary.path: Contents.of(pages[summary.path], summary) for summary in state.pages}
        existing = state.paths | {page.path for page in state.archived}
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(existing):
            by_name[canonical_key(posixpath.basename(path))].append(path)
        return cls(
            folder=wiki.folder,
            state=state,
            pages=pages,
            active=tuple(path for path in contents if pages[path].is_active),
            contents=contents,
            existing=existing,
            by_key={canonical_key(path): path for path in sorted(existing, reverse=True)},
            by_name={name: tuple(paths) for name, paths in by_name.items()},
            format=format,
            today=today,
        )

    @property
    def standing(self) -> Iterator[Page]:
        """Every readable page that is not archived, by path."""
        return (self.pages[path] for path in self.contents)

    def moved_to(self, path: str, page: str) -> str | None:
        """The one page that a dead link of `page` to `path` can mean: its other spelling, its archived place, its name.

        Never `page` itself: a page is not related to itself.
        """
        for key in (path, f"{ARCHIVE}/{path}"):
            if (found := self.by_key.get(canonical_key(key))) is not None:
                return found if found != page else None
        namesakes = self.by_name.get(canonical_key(posixpath.basename(path)), ())
        return namesakes[0] if len(namesakes) == 1 and namesakes[0] != page else None


def is_archived(path: str) -> bool:
    return path.startswith(f"{ARCHIVE}/")


def line_of(page: Page, needle: str) -> int:
    """The line of the file, from 1, on which `needle` stands first in the frontmatter; 1 where it does not."""
    at = page.parts.yaml.find(needle)
    return 1 if at < 0 else (page.parts.head + page.parts.yaml[:at]).count("\n") + 1


def body_line(page: Page, line: int) -> int:
    """The line of the file, from 1, of the body's zero-based `line`."""
    return page.text.count("\n", 0, len(page.text) - len(page.body)) + line + 1


def key_line(page: Page, key: str) -> int:
    """The line of the file, from 1, on which the frontmatter's `key` stands; 1 where it does not."""
    match = re.search(rf"^{re.escape(key)}[ \t]*:", page.parts.yaml, re.MULTILINE)
    return 1 if match is None else (page.parts.head + page.parts.yaml[: match.start()]).count("\n") + 1


def named(source: Source) -> str:
    return f"{source.kind} {source.id}"


def _unlisted(page: Page) -> Iterator[Source]:
    listed = frozenset(page.sources)
    for source in cited_sources(page.body):
        if source not in listed and not any(same_source(source, one) for one in listed):
            yield source
