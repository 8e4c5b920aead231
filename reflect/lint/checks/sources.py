"""Whether what a page cites exists, is listed, and is cited where the format asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from reflect.lint.catalogue import (
    MISSING_SOURCE,
    NO_CITATION,
    STRANGE_SOURCE,
    UNLISTED_SOURCE,
    UNREACHABLE_SOURCE,
)
from reflect.lint.evidence import Sources
from reflect.lint.finding import LintFinding
from reflect.lint.view import WikiView, body_line, key_line, line_of, named
from reflect.model import Source, SourceKind
from reflect.wiki.markdown import is_rule
from reflect.wiki.page import BANNER, MIXED_BANNER, Page
from reflect.wiki.passages import CITATION

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_NO_STATEMENT = re.compile(
    r"[ \t]*(?:$|\||<|!?\[[^\]]*\]\([^)]*\)[ \t]*$|\[[^\]]+\]:|[-+*][ \t]+!?\[[^\]]*\]\([^)]*\)[ \t]*$)"
)
_INTRODUCES = re.compile(r"[^.!?]{0,80}:[ \t]*$")


def missing(view: WikiView, sources: Sources) -> Iterator[LintFinding]:
    """Every source that no reader of the default branch finds, once per page and source."""
    reachable = cache(sources.reachable)
    lost = [
        (page, source)
        for page in view.standing
        for source in (*page.sources, *view.contents[page.path].unlisted)
        if not reachable(source)
    ]
    elsewhere = sources.exist_elsewhere(source.id for _, source in lost if source.kind is SourceKind.COMMIT)
    for page, source in lost:
        line = _line(page, source)
        if source.kind is SourceKind.COMMIT and elsewhere[source.id]:
            detail = f"{named(source)} is not part of the default branch's history."
            yield UNREACHABLE_SOURCE.found(page.path, detail, line)
        elif source.kind is SourceKind.CHECKPOINT or not sources.shallow:
            yield MISSING_SOURCE.found(page.path, f"{named(source)} does not exist in this repository.", line)


def unlisted(view: WikiView) -> Iterator[LintFinding]:
    """What the text cites and `sources` does not list, and entries of `sources` that name nothing."""
    for page in view.standing:
        for source in view.contents[page.path].unlisted:
            yield UNLISTED_SOURCE.found(
                page.path, f"The text cites {named(source)}, which `sources` lacks.", _line(page, source), fixable=True
            )
        for entry in page.strange:
            detail = f"`sources` lists {entry!r}, which names neither a checkpoint nor a commit."
            yield STRANGE_SOURCE.found(page.path, detail, max(line_of(page, entry), key_line(page, "sources")))


def uncited(view: WikiView) -> Iterator[LintFinding]:
    """Sections that state something and cite nothing, where the format requires citations."""
    if view.format.citations != "required":
        return
    for page in view.standing:
        for line, heading in _sections_without(view.contents[page.path].lines):
            where = f"The section “{heading}”" if heading else "The text before the first heading"
            yield NO_CITATION.found(page.path, f"{where} states something and cites nothing.", body_line(page, line))


def _line(page: Page, source: Source) -> int:
    if source.id in page.parts.yaml:
        return line_of(page, source.id)
    return body_line(page, page.body.count("\n", 0, page.body.find(source.id)))


def _sections_without(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """First line and heading of every section with a statement and no citation."""
    start, heading, states, cites = 0, "", False, False
    for number, line in lines:
        if line.lstrip(" ").startswith("#") and _HEADING.match(line):
            if states and not cites:
                yield start, heading
            start, heading, states, cites = number, line.strip().strip("#").strip(), False, False
        else:
            cites = cites or CITATION.search(line) is not None
            states = states or cites or _states(line)
    if states and not cites:
        yield start, heading


def _states(line: str) -> bool:
    text = line.strip()
    if text in (BANNER, MIXED_BANNER) or is_rule(line):
        return False
    return not _NO_STATEMENT.match(line) and not _INTRODUCES.match(line)
