"""What could not be written back is not forgotten by a night that has nothing new."""

from __future__ import annotations

from reflect.freshness import LAST_RUN, LastRun
from reflect.publish.policy import Published
from reflect.wiki.landing import FileChange, Landing
from reflect.workspace import Workspace


def note_outcome(workspace: Workspace, published: Published) -> None:
    """Let the next question "is there something new?" be answered by a full run while pages wait to be written back."""
    last = LastRun.read(workspace.folder)
    if last is None or last.unpublished is not published.is_done:
        return
    noted = last.written_back(published.is_done)
    landing = Landing(workspace.folder, "write-back", journal=workspace.journal)
    landing.land([FileChange.on_top(workspace.folder, LAST_RUN, noted.encode())], {})
    landing.finish()
