"""What `--fix` does: links follow pages, sources are listed, what is done leaves the shelf. No text is ever removed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from reflect.lint.catalogue import (
    BROKEN_LINK,
    BROKEN_RELATED,
    CONTRADICTED,
    ON_THE_SHELF,
    POSSIBLY_RESOLVED,
    UNLISTED_SOURCE,
)
from reflect.lint.checks.links import reached
from reflect.lint.finding import LintFinding
from reflect.lint.view import WikiView
from reflect.model import Status
from reflect.wiki.archive import plan_archive
from reflect.wiki.edit import FrontmatterEdit
from reflect.wiki.fields import related_path, text_of
from reflect.wiki.frontmatter import Quoted
from reflect.wiki.landing import FileChange, Landing
from reflect.wiki.links import Moves
from reflect.wiki.page import SPEC_KEYS, Page, parse_page, sha256
from reflect.wiki.paths import INDEX, WIKI
from reflect.wiki.toc import render_index
from reflect.workspace import Workspace

_STATUS_OF = {POSSIBLY_RESOLVED.code: Status.RESOLVED, CONTRADICTED.code: Status.SUPERSEDED}
_LANDING = "lint"


@dataclass(frozen=True, slots=True)
class Mended:
    """What was changed. `fixed` are the findings that no longer hold; `moves` pairs pages with their archived place."""

    fixed: tuple[LintFinding, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    diff: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)


def mend(workspace: Workspace, findings: Sequence[LintFinding]) -> Mended:
    """Mend what is `fixable` among `findings`. Call it with the repository's lock held.

    Two landings, each whole or not at all: pages first, then what leaves for the archive; the table of contents is made
    anew with each. Raises WikiError where a page was edited meanwhile: nothing of that landing is then changed.
    """
    fixable = tuple(finding for finding in findings if finding.fixable)
    edits = _edits(workspace, fixable)
    paths = _land(workspace, [*edits, *_index(workspace, edits)])
    state = workspace.wiki.read()
    archived = plan_archive(workspace.wiki, state)
    if archived.changes:
        paths += _land(workspace, archived.changes)
        paths += _land(workspace, _index(workspace, ()))
    return Mended(fixable, archived.moves, tuple(dict.fromkeys(paths)), notes=archived.notes)


def preview(workspace: Workspace, findings: Sequence[LintFinding]) -> Mended:
    """What `mend` would change, as a unified diff of the pages, and which pages would leave. Writes nothing."""
    fixable = tuple(finding for finding in findings if finding.fixable)
    edits = _edits(workspace, fixable)
    leaving = [(f.path, "the archive") for f in fixable if f.code in _STATUS_OF or f.code == ON_THE_SHELF.code]
    diff = "".join(_diff(workspace, change) for change in [*edits, *_index(workspace, edits)])
    return Mended(fixable, tuple(dict.fromkeys(leaving)), tuple(change.path for change in edits), diff)


def _edits(workspace: Workspace, findings: Iterable[LintFinding]) -> list[FileChange]:
    """The pages that change, each once, with everything that is mended on it."""
    by_page: dict[str, set[str]] = {}
    for finding in findings:
        by_page.setdefault(finding.path, set()).add(finding.code)
    by_page.pop(INDEX, None)
    if not by_page:
        return []
    view = WikiView.of(workspace.wiki, workspace.format, workspace.settings.now().date())
    changes = []
    for path, codes in sorted(by_page.items()):
        page = view.pages[path]
        text = _mended(view, page, codes)
        if text != page.text:
            changes.append(FileChange(f"{WIKI}/{path}", text.encode(), sha256(page.text.encode())))
    return changes


def _mended(view: WikiView, page: Page, codes: AbstractSet[str]) -> str:
    edit = FrontmatterEdit(page.parts.yaml, page.newline, SPEC_KEYS)
    if BROKEN_RELATED.code in codes:
        value = page.data.get("related")
        entries = value if isinstance(value, list) else [value]
        edit.set_list("related", [_repointed(view, entry, page.path) for entry in entries])
    if UNLISTED_SOURCE.code in codes:
        added = [Quoted(str(source)) for source in view.contents[page.path].unlisted]
        edit.extend("sources", added, lambda: _sources(page, edit))
    for code in sorted(codes & _STATUS_OF.keys()):
        edit.set("status", _STATUS_OF[code].value)
    head = page.parts.head + edit.text + page.parts.tail[: page.parts.body_start]
    return head + (_relinked(view, page) if BROKEN_LINK.code in codes else page.body)


def _sources(page: Page, edit: FrontmatterEdit) -> Sequence[object]:
    return parse_page((page.parts.head + edit.text + page.parts.tail).encode(), page.path).sources


def _repointed(view: WikiView, entry: object, path: str) -> object:
    meant = related_path(text_of(entry), path)
    if not meant or meant in view.existing:
        return entry
    return view.moved_to(meant, path) or entry


def _relinked(view: WikiView, page: Page) -> str:
    """The body with dead links pointing to the one page each can mean."""
    places: dict[str, str] = {}
    for link in view.contents[page.path].links:
        meant = link.places(page.path)[0]
        if reached(view, link, page.path) is None and (place := view.moved_to(meant, page.path)) is not None:
            places[meant] = place
    return Moves(places, view.existing | places.keys()).follow(page.body, page.path)


def _index(workspace: Workspace, edits: Iterable[FileChange]) -> list[FileChange]:
    """`index.md` as the pages make it once `edits` are in place; nothing where it says so already."""
    state = workspace.wiki.read().with_pages(
        {change.path.removeprefix(f"{WIKI}/"): change.content for change in edits if change.content is not None}
    )
    wanted = render_index(state).encode()
    present = workspace.wiki.content(INDEX)
    if present == wanted or (present is None and not state.paths):
        return []
    return [FileChange.on_top(workspace.folder, f"{WIKI}/{INDEX}", wanted)]


def _land(workspace: Workspace, changes: Sequence[FileChange]) -> tuple[str, ...]:
    if not changes:
        return ()
    landing = Landing(workspace.folder, _LANDING, journal=workspace.journal)
    paths = landing.land(changes, {})
    landing.finish()
    return paths


def _diff(workspace: Workspace, change: FileChange) -> str:
    path = change.path.removeprefix(f"{WIKI}/")
    before = (workspace.wiki.content(path) or b"").decode("utf-8", "replace").splitlines(keepends=True)
    after = (change.content or b"").decode().splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))
