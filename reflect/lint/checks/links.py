"""Whether what a page leads to is there, and whether anything leads to the page."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

from reflect.lint.catalogue import BROKEN_ANCHOR, BROKEN_LINK, BROKEN_RELATED, ORPHAN, Check
from reflect.lint.finding import LintFinding
from reflect.lint.view import WikiView, body_line, line_of
from reflect.wiki.links import Link
from reflect.wiki.markdown import headings, split_lines
from reflect.wiki.page import Page
from reflect.wiki.paths import INDEX, LOG

_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


def broken(view: WikiView) -> Iterator[LintFinding]:
    """Every entry of `related` and every link in the text that leads nowhere."""
    anchors = cache(lambda path: _anchors(view.pages[path]))
    for page in view.standing:
        contents = view.contents[page.path]
        for related in contents.related:
            if related.path not in view.existing:
                yield _dead(BROKEN_RELATED, view, page, related.entry, related.path, line_of(page, related.entry))
        for link in contents.links:
            target = reached(view, link, page.path)
            if target is None:
                meant = link.places(page.path)[0]
                yield _dead(BROKEN_LINK, view, page, link.target, meant, body_line(page, link.line))
            elif link.anchor and target in view.pages and _plain(link.anchor) not in anchors(target):
                yield BROKEN_ANCHOR.found(
                    page.path, f"`{link.target}` names a heading that is not there.", body_line(page, link.line)
                )


def orphans(view: WikiView) -> Iterator[LintFinding]:
    """Active pages that stand alone: no page leads there, and they lead to none."""
    led_to: Counter[str] = Counter()
    leading: set[str] = set()
    for path, contents in view.contents.items():
        targets = {related.path for related in contents.related} | {
            target for link in contents.links if (target := reached(view, link, path))
        }
        targets = {target for target in targets if target in view.pages and target != path}
        led_to.update(targets)
        if targets:
            leading.add(path)
    for path in view.active:
        if not led_to[path] and path not in leading and not view.contents[path].summary.digest:
            yield ORPHAN.found(path, "No other page leads here, and it leads to none.")


def reached(view: WikiView, link: Link, page: str) -> str | None:
    """What `link` of the page at `page` leads to, relative to the wiki; None where nothing is there."""
    for place in link.places(page):
        if place in view.existing or place in (INDEX, LOG):
            return place
        if f"{place}.md" in view.existing:
            return f"{place}.md"
        if not place.startswith("../../..") and os.path.lexists(view.folder / place):
            return place
    return None


def _dead(check: Check, view: WikiView, page: Page, written: str, meant: str, line: int) -> LintFinding:
    place = view.moved_to(meant, page.path)
    hint = f"; `{place}` answers to that name" if place else ""
    return check.found(page.path, f"`{written}` does not exist{hint}.", line, fixable=place is not None)


def _anchors(page: Page) -> frozenset[str]:
    seen: Counter[str] = Counter()
    found: set[str] = set()
    for heading in headings(split_lines(page.body)):
        name = _plain(heading.text)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(found)


def _plain(heading: str) -> str:
    """A heading as forges make its anchor: lower case, punctuation gone, spaces as hyphens."""
    text = unicodedata.normalize("NFC", heading).strip().lower()
    return _NOT_IN_ANCHOR.sub("", text).replace(" ", "-")
