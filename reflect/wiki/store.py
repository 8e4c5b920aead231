"""The wiki as it lies on disk. Reading never follows a link out of it and never fails because of one page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from reflect.errors import PageError, WikiError
from reflect.model import PageSummary
from reflect.wiki.files import read_regular, target_of
from reflect.wiki.page import Page, parse_page, sha256
from reflect.wiki.paths import ARCHIVE, INDEX, LOG, WIKI, shown


@dataclass(frozen=True, slots=True)
class WikiState:
    """Everything the wiki holds. Paths are relative to `wiki/` and sorted; those of `archived` begin with `_archive/`.

    `unreadable` pairs a page with the reason; `hashes` has the SHA-256 of every page read, archived and unreadable ones
    too. `notes` say what is odd about single pages and what was passed over.
    """

    pages: tuple[PageSummary, ...] = ()
    archived: tuple[PageSummary, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def with_pages(self, contents: Mapping[str, bytes]) -> WikiState:
        """The wiki once the pages in `contents`, by path, are written."""
        by_path = {page.path: page for page in self.pages}
        by_path |= {path: parse_page(content, path).summary() for path, content in contents.items()}
        return replace(self, pages=tuple(by_path[path] for path in sorted(by_path)))

    @property
    def paths(self) -> frozenset[str]:
        """Every page that is there, whether it can be read or not, archived ones left out."""
        return frozenset([page.path for page in self.pages] + [path for path, _ in self.unreadable])


class Wiki:
    """The pages below `<reflect_dir>/wiki`."""

    def __init__(self, reflect_dir: Path) -> None:
        self.folder = reflect_dir / WIKI

    def read(self) -> WikiState:
        """Every page. A wiki that is not there is empty; one that is a symbolic link is refused."""
        return self._reading().state()

    def read_pages(self) -> tuple[WikiState, Mapping[str, Page]]:
        """Every page as `read` has it, and beside it each page whole, archived ones too, by path."""
        reading = self._reading()
        return reading.state(), reading.whole

    def _reading(self) -> _Reading:
        if self.folder.is_symlink() or self.folder.parent.is_symlink():
            raise WikiError(f"{self.folder} is reached by a symbolic link; nothing was read. Put a real folder there.")
        reading = _Reading()
        for path in _page_files(self.folder, reading.notes):
            reading.take(self.folder, path)
        return reading

    def content(self, path: str) -> bytes | None:
        """The bytes of one file of the wiki; None where there is none. Raises WikiError for one behind a link."""
        file = target_of(self.folder, path)
        try:
            return read_regular(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise PageError(f"{shown(path)} cannot be read ({error.strerror}); it was left as it is.") from error

    def page(self, path: str) -> Page:
        """One page, read. Raises PageError for one that cannot be read."""
        content = self.content(path)
        if content is None:
            raise PageError(f"{path} does not exist.")
        return parse_page(content, path)


class _Reading:
    def __init__(self) -> None:
        self.pages: list[PageSummary] = []
        self.archived: list[PageSummary] = []
        self.unreadable: list[tuple[str, str]] = []
        self.hashes: dict[str, str] = {}
        self.notes: list[str] = []
        self.whole: dict[str, Page] = {}

    def take(self, folder: Path, path: str) -> None:
        is_archived = path.startswith(f"{ARCHIVE}/")
        name = shown(path)
        try:
            content = read_regular(folder / path)
            self.hashes[name] = sha256(content)
            page = parse_page(content, name)
        except FileNotFoundError:
            return
        except (PageError, OSError) as error:
            reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            if is_archived:
                self.notes.append(f"The archived page {name} cannot be read: {reason}")
            else:
                self.unreadable.append((name, reason))
            return
        self.notes += page.notes
        self.whole[name] = page
        (self.archived if is_archived else self.pages).append(page.summary())

    def state(self) -> WikiState:
        return WikiState(
            pages=tuple(self.pages),
            archived=tuple(self.archived),
            unreadable=tuple(self.unreadable),
            hashes=self.hashes,
            notes=tuple(self.notes),
        )


def _page_files(folder: Path, notes: list[str]) -> Iterator[str]:
    """Path of every page file, sorted; hidden names, links and the wiki's own files are passed over."""
    found: list[str] = []
    pending = [""]
    while pending:
        below = pending.pop()
        for entry in _entries(folder / below):
            path = f"{below}{entry.name}"
            if entry.name.startswith(".") or (not below and entry.name in (INDEX, LOG)):
                continue
            if entry.is_symlink():
                notes.append(f"{shown(path)} is a symbolic link and was not followed.")
            elif entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("_") or (not below and entry.name == ARCHIVE):
                    pending.append(f"{path}/")
            elif entry.name.endswith(".md"):
                found.append(path)
    notes.sort()
    yield from sorted(found)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise WikiError(f"{shown(str(folder))} cannot be read ({error.strerror}); nothing was changed.") from error
