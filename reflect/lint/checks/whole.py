"""What is wrong with the wiki as a whole: its table of contents, and what it does not cover."""

from __future__ import annotations

from collections.abc import Iterator

from reflect.lint.catalogue import INDEX_STALE, UNREAD_EVIDENCE, UNUSED_CATEGORY
from reflect.lint.finding import LintFinding
from reflect.lint.view import WikiView
from reflect.wiki.paths import INDEX
from reflect.wiki.toc import render_index


def index(view: WikiView, content: bytes | None) -> Iterator[LintFinding]:
    """Whether `index.md`, whose bytes are `content`, is what the pages make it."""
    if content is None and not view.state.paths:
        return
    if content != render_index(view.state).encode():
        detail = "`index.md` does not exist." if content is None else "`index.md` is not what the pages make it."
        yield INDEX_STALE.found(INDEX, detail, 1 if content is not None else 0, fixable=True)


def categories(view: WikiView) -> Iterator[LintFinding]:
    """The sections of the format that no active page belongs to."""
    used = {path.split("/")[0] for path in view.active}
    for slug, section in view.format.categories.items():
        if slug not in used and view.active:
            yield UNUSED_CATEGORY.found("", f"“{section.name}” (`{slug}/`) has no active page.")


def evidence(sessions: int, commits: int) -> Iterator[LintFinding]:
    """What exists in git and no run has accounted for."""
    if sessions or commits:
        yield UNREAD_EVIDENCE.found(
            "", f"{sessions} sessions and {commits} commits are not accounted for; `reflect ingest` reads them."
        )
