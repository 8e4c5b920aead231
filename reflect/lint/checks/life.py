"""Whether a page still counts: how long nothing was said on it, what closed it, and what took its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from reflect.lint.catalogue import CONTRADICTED, ON_THE_SHELF, POSSIBLY_RESOLVED, STALE
from reflect.lint.checks.links import reached
from reflect.lint.finding import LintFinding
from reflect.lint.view import WikiView, body_line, key_line
from reflect.model import Finding, PageSummary, Status
from reflect.triage.extractive.completion import resolved_by
from reflect.wiki.archive import LEAVES
from reflect.wiki.fields import read_related
from reflect.wiki.links import Link
from reflect.wiki.page import Page

_OPEN_WORK = "open-work"
_SUPERSEDES = re.compile(r"\b(?:supersede[sd]?|replace[sd]?|obsolete[sd]?)\b(?! by\b)[^.!?]*$", re.IGNORECASE)
_SUPERSEDED_BY = re.compile(r"\b(?:superseded|replaced|obsoleted) by\b[^.!?]*$", re.IGNORECASE)


def stale(view: WikiView) -> Iterator[LintFinding]:
    """Active pages whose newest evidence is older than the recency of their category."""
    categories = view.format.categories
    for path in view.active:
        page, section = view.pages[path], categories.get(path.split("/")[0])
        if section is None or page.updated is None:
            continue
        days = (view.today - page.updated).days
        if days > section.recency_days:
            yield STALE.found(
                path,
                f"Nothing was said on it for {days} days; “{section.name}” counts {section.recency_days} as recent.",
                key_line(page, "updated"),
            )


def not_archived(view: WikiView) -> Iterator[LintFinding]:
    """Resolved and superseded pages that still stand among the others."""
    for page in view.standing:
        if page.status in LEAVES:
            detail = f"The page is {page.status} and still stands among the others."
            yield ON_THE_SHELF.found(page.path, detail, key_line(page, "status"), fixable=True)


def open_pages(view: WikiView) -> tuple[PageSummary, ...]:
    """The pages that describe work which is still to be done."""
    summaries = (view.contents[path].summary for path in view.active)
    return tuple(
        page
        for page in summaries
        if not page.digest and (page.status == Status.OPEN or page.category.split("/")[0] == _OPEN_WORK)
    )


def possibly_resolved(view: WikiView, completions: Sequence[Finding]) -> Iterator[LintFinding]:
    """Open pages of which a later commit says, by the same names, that they are done."""
    found = resolved_by(completions, open_pages(view))
    said: Mapping[str, Finding] = {finding.id: finding for finding in completions}
    first: dict[str, Finding] = {}
    for finding_id, path in found.items():
        first.setdefault(path, said[finding_id])
    for path, finding in sorted(first.items()):
        detail = f"{finding.source} of {finding.said_at.date()} says “{finding.quote}”."
        yield POSSIBLY_RESOLVED.found(path, detail, key_line(view.pages[path], "status"), fixable=True)


def contradicted(view: WikiView) -> Iterator[LintFinding]:
    """Active pages that a page of the same day or later names as superseded, or that say so themselves."""
    active = frozenset(view.active)
    found: dict[str, tuple[str, int]] = {}
    for page in view.standing:
        for older, by, line in _superseded(view, page):
            newer_day, older_day = view.pages[by].updated, view.pages[older].updated
            in_time = newer_day is None or older_day is None or newer_day >= older_day
            if older in active and older != by and in_time and by not in found:
                found.setdefault(older, (by, line if older == page.path else key_line(view.pages[older], "status")))
    for path, (by, line) in sorted(found.items()):
        yield CONTRADICTED.found(path, f"`{by}` supersedes it, and it still counts as active.", line, fixable=True)


def _superseded(view: WikiView, page: Page) -> Iterator[tuple[str, str, int]]:
    """Older page, newer page and line of every claim of `page` that one takes the other's place."""
    for key, is_older in (("supersedes", False), ("superseded_by", True)):
        for other in read_related(page.data.get(key), page.path):
            if other in view.contents:
                pair = (page.path, other) if is_older else (other, page.path)
                yield (*pair, key_line(page, key))
    contents = view.contents[page.path]
    for link in contents.links:
        target = reached(view, link, page.path)
        if target is not None and target in view.contents and target != page.path:
            before = _before(dict(contents.lines)[link.line], link)
            if _SUPERSEDED_BY.search(before):
                yield page.path, target, body_line(page, link.line)
            elif _SUPERSEDES.search(before):
                yield target, page.path, body_line(page, link.line)


def _before(line: str, link: Link) -> str:
    """The part of `line` before the text of `link`."""
    at = line.find(f"({link.target}")
    start = line.rfind("[", 0, at)
    return line[: start if start >= 0 else at]
