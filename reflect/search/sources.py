"""What is indexed: pages, sessions and commits as documents, redacted, each with the keys of who may see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reflect.evidence.redaction import Redactor
from reflect.model import Commit, Session, Speaker, digest
from reflect.scope.context import ScopeContext, stated_scope
from reflect.scope.stored import ResolvedMemoryScope, resolve_stored_scope
from reflect.scope.visibility import Candidate
from reflect.scope.vocabulary import ORGANISATION, MemoryType
from reflect.search.answer import COMMIT, GIT, ORGANISATION_WIKI, PAGE, SESSION
from reflect.wiki.page import Page
from reflect.wiki.paths import shown

_TITLE_CHARS = 100
_LONGEST_TEXT = 200_000
"""Characters of one document that are indexed; more than this somebody pasted."""


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found. `key` is unique within `place`."""

    place: str
    key: str
    kind: str
    path: str | None
    name: str
    project: str
    title: str
    text: str
    candidate: Candidate
    keyless: bool = False


def page_key(path: str, redactor: Redactor) -> str:
    """What a page is kept under: its path, or where that holds a secret, what is left of it and a digest."""
    name = shown(path)
    kept = redactor.redact(name)
    return name if kept == name else f"{kept}#{digest(name)[:12]}"


def page_document(page: Page, place: str, context: ScopeContext, redactor: Redactor) -> Document:
    """A page of the repository's wiki or the organisation's own, by its keys."""
    key = page_key(page.path, redactor)
    summary = page.summary()
    resolved = _page_scope(page, place, context)
    tags = " ".join(summary.tags)
    text = redactor.redact(page.body)[:_LONGEST_TEXT]
    return Document(
        place=place,
        key=key,
        kind=PAGE,
        path=key,
        name=key,
        project=resolved.project_id or (ORGANISATION if place == ORGANISATION_WIKI else ""),
        title=redactor.redact(page.title),
        text=f"{text}\n{redactor.redact(tags)}" if tags else text,
        candidate=Candidate.of_page(summary, resolved),
        keyless=not stated_scope(summary),
    )


def _page_scope(page: Page, place: str, context: ScopeContext) -> ResolvedMemoryScope:
    """A page in the organisation's wiki has the scope it states; one in a repository also by its sources."""
    summary = page.summary()
    if place == ORGANISATION_WIKI:
        return resolve_stored_scope(stated_scope(summary) or None)
    return context.scope_of_page(summary)


def session_document(session: Session, context: ScopeContext) -> Document | None:
    """A session by what a person typed in it and by its summary; None where there is neither."""
    said = [turn.text for turn in session.turns if turn.speaker is Speaker.PERSON]
    summary = _summary(session)
    text = "\n\n".join([*summary, *(words for words in said if words.strip())])[:_LONGEST_TEXT]
    if not text.strip():
        return None
    scope = context.scope_of_session(session)
    return Document(
        place=GIT,
        key=session.id,
        kind=SESSION,
        path=None,
        name=session.id,
        project=scope.project_id or "",
        title=_first_line(text),
        text=text,
        candidate=Candidate.of(scope, MemoryType.EPISODE),
    )


def _summary(session: Session) -> Iterator[str]:
    if session.summary is not None:
        summary = session.summary
        for text in (summary.intent, summary.outcome, *summary.learnings, *summary.friction, *summary.open_items):
            if text.strip():
                yield text


def commit_document(commit: Commit, context: ScopeContext) -> Document:
    """A commit by its message and the names of the files it changed."""
    project = context.project.project_id
    files = " ".join(commit.files[:50])
    return Document(
        place=GIT,
        key=commit.id,
        kind=COMMIT,
        path=None,
        name=commit.id,
        project=project,
        title=commit.subject[:_TITLE_CHARS] or commit.sha[:12],
        text="\n\n".join(part for part in (commit.subject, commit.body, files) if part)[:_LONGEST_TEXT],
        candidate=Candidate.of(ResolvedMemoryScope.of_project(project), MemoryType.EPISODE),
    )


def _first_line(text: str) -> str:
    line = " ".join(next(line for line in text.splitlines() if line.strip()).split())
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…"
