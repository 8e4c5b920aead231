"""Archive: superseded and resolved pages leave the wiki's shelves, and links follow them."""

from __future__ import annotations

from reflect.freshness import LAST_RUN, LastRun
from reflect.wiki.archive import plan_archive
from reflect.wiki.landing import FileChange, Landing
from reflect.workspace import Workspace

ARCHIVED = "archived"
"""Where a landing's journal keeps the run whose archiving it is."""


def archive(workspace: Workspace, run: str) -> tuple[tuple[str, str], ...]:
    """Move what run `run` retired; each page with its place in the archive. Its own landing, all or nothing."""
    planned = plan_archive(workspace.wiki, workspace.wiki.read())
    if planned.changes:
        landing = Landing(workspace.folder, f"{run}-archive", journal=workspace.journal)
        landing.land([*planned.changes, *_last_run(workspace)], {ARCHIVED: run})
        with workspace.ledger() as ledger:
            ledger.mark_archived(workspace.project.project_id, run)
        landing.finish()
    return planned.moves


def _last_run(workspace: Workspace) -> list[FileChange]:
    last = LastRun.read(workspace.folder)
    if last is None:
        return []
    return [FileChange.on_top(workspace.folder, LAST_RUN, last.finished().encode())]
