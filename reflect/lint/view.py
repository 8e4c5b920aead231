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
from reflect.model import Source
from reflect.wiki.fields import related_path, text_of
from reflect.wiki.links import Link, links_in
from reflect.wiki.page import Page
from reflect.wiki.paths import ARCHIVE, canonical_key
from reflect.wiki.store import Wiki, WikiState


@dataclass(frozen=True, slots=True)
class Related:
    """One entry of a page's `related` list: as it is written, and the path below the wiki that it means."""

    entry: str
    path: str


@dataclass(frozen=True, slots=True)
class Leads:
    """Where one page leads: the entries of `related` and the links of its text."""

    related: tuple[Related, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class WikiView:
    """Everything the checks ask of a wiki without asking git.

    `pages` holds every readable page, archived ones under `_archive/`; `active` the paths of those that count;
    `leads` is where each page that is not archived leads.
    """

    folder: Path
    state: WikiState
    pages: Mapping[str, Page]
    active: tuple[str, ...]
    leads: Mapping[str, Leads]
    existing: frozenset[str]
    by_key: Mapping[str, str]
    by_name: Mapping[str, tuple[str, ...]]
    format: Format
    today: date

    @classmethod
    def of(cls, wiki: Wiki, format: Format, today: date) -> WikiView:
        """Read the wiki. Raises WikiError where it cannot be listed."""
        state, pages = wiki.read_pages()
        standing = {path: page for path, page in pages.items() if not is_archived(path)}
        existing = state.paths | {page.path for page in state.archived}
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(existing):
            by_name[canonical_key(posixpath.basename(path))].append(path)
        return cls(
            folder=wiki.folder,
            state=state,
            pages=pages,
            active=tuple(path for path, page in standing.items() if page.is_active),
            leads={path: _leads(page) for path, page in standing.items()},
            existing=existing,
            by_key={canonical_key(path): path for path in sorted(existing, reverse=True)},
            by_name={name: tuple(paths) for name, paths in by_name.items()},
            format=format,
            today=today,
        )

    @property
    def standing(self) -> Iterator[Page]:
        """Every readable page that is not archived, by path."""
        return (self.pages[path] for path in self.leads)

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


def _leads(page: Page) -> Leads:
    value = page.data.get("related")
    entries = [text_of(entry) for entry in (value if isinstance(value, list) else [value])]
    pairs = ((entry, related_path(entry, page.path)) for entry in entries)
    return Leads(related=tuple(Related(entry, path) for entry, path in pairs if path), links=tuple(links_in(page.body)))
