"""Landing a run's files: all of them or none, whenever the run is killed.

stage      every new content is written and synced below `.reflect/.staging/<run>/`; a full disk is met here
journal    what is to change is written down and synced; from here on the landing can be finished by anyone
rename     files take their places one by one
finish     the journal goes, once the caller has recorded what it covers

The journal lies in git's own folder, not in the work tree: what a clone brings along is never taken for one.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from reflect.errors import WikiError
from reflect.wiki.files import hash_of, remove_empty, sweep_staging, sync_folder, target_of, write_durably
from reflect.wiki.journal import Entry, Journal
from reflect.wiki.page import sha256
from reflect.wiki.paths import STAGING, canonical_key, why_unsafe

Fault = Callable[[str], None]
"""Called with the name of each step before it is taken; tests stop a landing with it."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file to write, or with `content` None to remove. `path` is relative to `.reflect/`.

    `base_sha256` is the hash of what the change was made from, None for a file that was not there: a target that holds
    something else by now is a conflict.
    """

    path: str
    content: bytes | None
    base_sha256: str | None

    @classmethod
    def on_top(cls, reflect_dir: Path, path: str, content: bytes | None) -> FileChange:
        """A change of whatever `path` holds now."""
        return cls(path, content, hash_of(target_of(reflect_dir, path)))

    @property
    def after(self) -> str | None:
        return None if self.content is None else sha256(self.content)


@dataclass(frozen=True, slots=True)
class Recovery:
    """A landing that an earlier run left behind.

    `landed` says whether all of it is in place now; otherwise everything is as it was before and `reason` says why.
    `payload` is what that run wanted recorded. Call `finish` once that is done.
    """

    run_id: str
    payload: Mapping[str, Any]
    landed: bool
    paths: tuple[str, ...]
    reason: str
    _landing: Landing

    def finish(self) -> None:
        self._landing.finish()


class Landing:
    """One run's landing below `reflect_dir`. `journal` is the file that survives a kill, outside the work tree."""

    def __init__(self, reflect_dir: Path, run_id: str, *, journal: Path, fault: Fault | None = None) -> None:
        if reason := why_unsafe(run_id):
            raise WikiError(f"{run_id!r} cannot be the id of a run: {reason}; nothing was written.")
        self._root = reflect_dir
        self._run_id = run_id
        self._staging = reflect_dir / STAGING / run_id
        self._journal = journal
        self._fault: Fault = fault or (lambda step: None)

    def conflicts(self, changes: Sequence[FileChange]) -> tuple[str, ...]:
        """The paths that hold something else than what their change was made from."""
        return tuple(c.path for c in changes if hash_of(target_of(self._root, c.path)) not in (c.base_sha256, c.after))

    def land(self, changes: Sequence[FileChange], payload: Mapping[str, Any]) -> tuple[str, ...]:
        """Put all of `changes` in place and return the paths that changed.

        `payload`, which JSON must be able to hold, is handed back by `recover` if the run is killed before `finish`.
        Raises WikiError and leaves everything as it was where a path is not safe, a file was edited in between, or the
        disk refuses.
        """
        if self._journal.exists():
            raise WikiError(
                f"{self._journal} is left from an earlier run; nothing was written. Recover that run first."
            )
        _check_paths(changes)
        if edited := self.conflicts(changes):
            raise WikiError(
                f"{', '.join(edited)} changed while the run was working; nothing was written. Run it again."
            )
        journal = self._as_journal(changes, payload)
        if not journal.entries:
            return ()
        self._stage(changes, journal)
        try:
            for entry in journal.entries:
                self._put(entry)
            self._tidy(journal.entries)
        except (OSError, WikiError) as error:
            self._give_up(journal.entries, error)
        return journal.paths

    def finish(self) -> None:
        """Forget the landing: what it covers is recorded."""
        self._fault("remove the journal")
        if self._journal.exists():
            self._journal.unlink()
            sync_folder(self._journal.parent)
        self._fault("sweep the staging folder")
        sweep_staging(self._root)

    def _as_journal(self, changes: Sequence[FileChange], payload: Mapping[str, Any]) -> Journal:
        writes = [change for change in changes if change.content is not None]
        removals = [change for change in changes if change.content is None]
        entries = [
            Entry(change.path, hash_of(target_of(self._root, change.path)), change.after, number)
            for number, change in enumerate(writes + removals)
        ]
        return Journal(self._run_id, tuple(e for e in entries if e.before != e.after), dict(payload))

    def _stage(self, changes: Sequence[FileChange], journal: Journal) -> None:
        contents = {change.path: change.content for change in changes}
        written = journal.encode()
        try:
            sweep_staging(self._root)
            self._fault("make the staging folder")
            self._staging.mkdir(parents=True)
            for entry in journal.entries:
                self._stage_one(entry, contents[entry.path])
            sync_folder(self._staging)
            sync_folder(self._staging.parent)
            self._fault("write the journal")
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            write_durably(_beside(self._journal), written)
            self._fault("put the journal in place")
            _beside(self._journal).replace(self._journal)
            sync_folder(self._journal.parent)
        except (OSError, WikiError) as error:
            with contextlib.suppress(OSError):
                self._journal.unlink(missing_ok=True)
                _beside(self._journal).unlink(missing_ok=True)
                sweep_staging(self._root)
            raise WikiError(f"The pages could not be staged ({error}); everything is as it was.") from error

    def _stage_one(self, entry: Entry, content: bytes | None) -> None:
        target = target_of(self._root, entry.path)
        if entry.before is not None:
            self._fault(f"keep {entry.path}")
            write_durably(self._kept(entry), target.read_bytes())
        if content is not None:
            self._fault(f"stage {entry.path}")
            mode = stat.S_IMODE(target.stat().st_mode) if entry.before is not None else None
            write_durably(self._staged(entry), content, mode)

    def _put(self, entry: Entry) -> None:
        target = target_of(self._root, entry.path)
        now = hash_of(target)
        if now == entry.after:
            return
        if now != entry.before:
            raise WikiError(f"{entry.path} changed while the run was landing")
        if entry.after is None:
            self._fault(f"remove {entry.path}")
            target.unlink()
        else:
            self._fault(f"make the folder of {entry.path}")
            target.parent.mkdir(parents=True, exist_ok=True)
            self._fault(f"put {entry.path} in place")
            self._staged(entry).replace(target)

    def _back_out(self, entries: Sequence[Entry]) -> None:
        """Undo what `entries` put in place; a file that holds something else by now is left alone."""
        for entry in entries:
            target = target_of(self._root, entry.path)
            if entry.before == entry.after or hash_of(target) != entry.after:
                continue
            self._fault(f"put {entry.path} back")
            if entry.before is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._kept(entry).replace(target)
        for entry in entries:
            if entry.before is None:
                remove_empty(target_of(self._root, entry.path).parent, self._root)

    def _give_up(self, entries: Sequence[Entry], error: Exception) -> NoReturn:
        try:
            self._back_out(entries)
            self.finish()
        except OSError as second:
            raise WikiError(
                f"The pages could not be put in place ({error}) nor taken back ({second}); run it again to finish."
            ) from second
        raise WikiError(f"The pages could not be put in place ({error}); everything is as it was.") from error

    def _tidy(self, entries: Sequence[Entry]) -> None:
        """Remove the folders that removals left empty, and make what was renamed durable."""
        for entry in entries:
            parent = target_of(self._root, entry.path).parent
            if entry.after is None:
                self._fault(f"remove the folder of {entry.path}")
                remove_empty(parent, self._root)
        folders = {folder for entry in entries for folder in (self._root / entry.path).parents}
        for folder in sorted(folders):
            if folder.is_relative_to(self._root) and folder.exists():
                sync_folder(folder)

    def _can_roll_forward(self, entry: Entry) -> bool:
        now = hash_of(target_of(self._root, entry.path))
        if now == entry.after:
            return True
        return now == entry.before and (entry.after is None or hash_of(self._staged(entry)) == entry.after)

    def _staged(self, entry: Entry) -> Path:
        return self._staging / f"{entry.number:05}.new"

    def _kept(self, entry: Entry) -> Path:
        return self._staging / f"{entry.number:05}.old"


def recover(reflect_dir: Path, *, journal: Path, fault: Fault | None = None) -> Recovery | None:
    """Finish the landing that a killed run left behind, or take it back where a file was edited since.

    Returns None where there was none; what such a run had only staged is swept. Call it with the repository's lock
    held. Raises WikiError for a journal that cannot be read; nothing is changed then.
    """
    if reflect_dir.is_symlink():
        raise WikiError(f"{reflect_dir} is a symbolic link; nothing was changed. Put a real folder there.")
    found = Journal.read(journal)
    if found is None:
        _beside(journal).unlink(missing_ok=True)
        sweep_staging(reflect_dir)
        return None
    landing = Landing(reflect_dir, found.run_id, journal=journal, fault=fault)
    stuck = [entry.path for entry in found.entries if not landing._can_roll_forward(entry)]
    try:
        if stuck:
            landing._back_out(found.entries)
            reason = f"{', '.join(stuck)} changed after run {found.run_id} was killed; its pages were taken back."
            return Recovery(found.run_id, found.payload, False, found.paths, reason, landing)
        for entry in found.entries:
            landing._put(entry)
        landing._tidy(found.entries)
    except OSError as error:
        raise WikiError(
            f"Run {found.run_id} could not be finished ({error}); run it again to try once more."
        ) from error
    return Recovery(found.run_id, found.payload, True, found.paths, "", landing)


def _beside(journal: Path) -> Path:
    """Where a journal is written before it counts."""
    return journal.with_name(f"{journal.name}.new")


def _check_paths(changes: Sequence[FileChange]) -> None:
    seen: dict[str, FileChange] = {}
    for change in changes:
        if reason := why_unsafe(change.path):
            raise WikiError(f"{change.path!r} cannot be written: {reason}; nothing was written.")
        if change.path.split("/")[0] == STAGING:
            raise WikiError(f"{change.path!r} lies in the staging folder; nothing was written.")
        key = canonical_key(change.path)
        other = seen.setdefault(key, change)
        if other is not change and (other.path == change.path or None not in (other.content, change.content)):
            raise WikiError(f"{other.path!r} and {change.path!r} are the same page; nothing was written.")
