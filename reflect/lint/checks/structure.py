"""Whether a page can be read, and says what every page has to say of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reflect.lint.catalogue import (
    BAD_DATE,
    MISPLACED,
    MISSING_KEY,
    SECOND_BLOCK,
    TOO_LONG,
    TOO_SHORT,
    UNKNOWN_STATUS,
    UNREADABLE,
)
from reflect.lint.finding import LintFinding
from reflect.lint.view import WikiView, body_line, key_line
from reflect.model import Status
from reflect.wiki.fields import text_of
from reflect.wiki.page import Page
from reflect.wiki.paths import why_no_page

REQUIRED = ("created", "updated", "sources", "status")
_STATUSES = frozenset(Status)
_AT_LINE = re.compile(r":(\d+):")
_SAYS_NOTHING = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t].*)?|[-*_=\s]*)$")


def unreadable(view: WikiView) -> Iterator[LintFinding]:
    """The pages that cannot be read, with the line that stands in the way."""
    for path, reason in view.state.unreadable:
        at = _AT_LINE.search(reason)
        yield UNREADABLE.found(path, reason, int(at[1]) if at else 1)


def of_page(view: WikiView) -> Iterator[LintFinding]:
    """What is wrong with the frontmatter, the place and the length of each page."""
    for page in view.standing:
        yield from _frontmatter(page)
        if reason := why_no_page(page.path):
            yield MISPLACED.found(page.path, f"This is no place for a page: {reason}.")
        yield from _length(page, view.contents[page.path].lines, view.format.max_lines)
    for note in view.state.notes:
        if "symbolic link" in note:
            yield MISPLACED.found(note.split(" is a symbolic link")[0], note)


def _frontmatter(page: Page) -> Iterator[LintFinding]:
    if page.parts.data is None:
        yield MISSING_KEY.found(page.path, "The page has no frontmatter.", 1)
        return
    if any("second frontmatter block" in note for note in page.notes):
        start = len(page.body) - len(page.body.lstrip())
        yield SECOND_BLOCK.found(
            page.path,
            "A second frontmatter block begins here and is read as text: what it says of the page is lost.",
            body_line(page, page.body.count("\n", 0, start)),
        )
    for key in REQUIRED:
        if key not in page.data:
            yield MISSING_KEY.found(page.path, f"The frontmatter lacks `{key}`.", 1)
    yield from _dates(page)
    if page.status not in _STATUSES:
        known = ", ".join(Status)
        yield UNKNOWN_STATUS.found(
            page.path, f"The status is {page.status!r}; the format knows {known}.", key_line(page, "status")
        )


def _dates(page: Page) -> Iterator[LintFinding]:
    for key, day in (("created", page.created), ("updated", page.updated)):
        if key in page.data and day is None:
            yield BAD_DATE.found(
                page.path, f"`{key}` is {text_of(page.data[key])!r}, which is no day.", key_line(page, key)
            )
    if page.created and page.updated and page.updated < page.created:
        yield BAD_DATE.found(
            page.path,
            f"It was updated on {page.updated}, before it was created on {page.created}.",
            key_line(page, "updated"),
        )


def _length(page: Page, plain: Sequence[tuple[int, str]], most: int) -> Iterator[LintFinding]:
    lines = page.text.count("\n") + (not page.text.endswith("\n"))
    if lines > most:
        yield TOO_LONG.found(page.path, f"The page has {lines} lines, more than {most}.", most + 1)
    if all(_SAYS_NOTHING.match(line) for _, line in plain):
        yield TOO_SHORT.found(page.path, "The page says nothing below its title.")
