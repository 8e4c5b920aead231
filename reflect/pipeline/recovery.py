"""What a killed run left is finished before anything new begins."""

from __future__ import annotations

from reflect.freshness import LastRun
from reflect.ledger.entry import LedgerEntry
from reflect.pipeline.approved import Destination, land_waiting
from reflect.pipeline.archive import ARCHIVED, archive
from reflect.pipeline.index import ENTRY
from reflect.wiki.journal import Journal
from reflect.wiki.landing import recover
from reflect.wiki.scaffold import scaffold
from reflect.workspace import Workspace


def finish_interrupted(workspace: Workspace) -> tuple[str, ...]:
    """Roll a half-done landing forward (or back, where somebody edited since), tell the ledger, finish the archiving.

    Returns what was found, in sentences. Call it with the repository's lock held.
    """
    notes: list[str] = []
    recovery = recover(workspace.folder, journal=workspace.journal)
    if recovery is not None:
        if recovery.landed:
            _record(workspace, recovery.payload)
            notes.append(f"Run {recovery.run_id} had been interrupted while landing; it is finished now.")
        else:
            notes.append(recovery.reason)
        recovery.finish()
    last = LastRun.read(workspace.folder)
    if last is not None and last.unfinished:
        archive(workspace, last.run)
    return tuple(notes)


def unfinished(workspace: Workspace) -> tuple[str, ...]:
    """What `finish_interrupted` would have to finish, in sentences; writes nothing."""
    journal = Journal.read(workspace.journal)
    if journal is None:
        return ()
    return (
        f"Run {journal.run_id} was interrupted while landing, and what follows sees the wiki as it left it; "
        "`reflect ingest` finishes that run first.",
    )


def prepare(workspace: Workspace) -> tuple[str, ...]:
    """Make `.reflect/` complete, finish what was interrupted, land what was approved; what was done, in sentences."""
    made = scaffold(workspace.folder)
    finished = finish_interrupted(workspace)
    with workspace.ledger() as ledger:
        approved = land_waiting(ledger, workspace.registry, Destination.of_repository(workspace))
    return (*(f"Made {name}." for name in made), *finished, *approved)


def _record(workspace: Workspace, payload: object) -> None:
    if not isinstance(payload, dict):
        return
    with workspace.ledger() as ledger:
        if ENTRY in payload:
            ledger.record(LedgerEntry.from_json(payload[ENTRY]))
        if ARCHIVED in payload:
            ledger.mark_archived(workspace.project.project_id, payload[ARCHIVED])
