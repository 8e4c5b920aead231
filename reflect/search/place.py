"""Where an index lies and what it was made from: told by names, sizes and times of change alone."""

from __future__ import annotations

import hashlib
import os
import time
from collections import namedtuple
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    class FileState(NamedTuple):
        """A file's size in bytes and its times of change in nanoseconds."""

        path: str
        size: int
        mtime: int
        ctime: int

else:
    FileState = namedtuple("FileState", "path size mtime ctime")

INDEX_FILE = "index.db"
_OWN = frozenset({"index.md", "log.md"})
_RACY_NS = 20_000_000
"""A file changed this short a time ago may change again within the same tick of the clock: it is read again."""


def state_folder() -> Path:
    """As `Settings.state`, without what that takes to load; a test holds the two together."""
    if own := os.environ.get("REFLECT_STATE_DIR"):
        return Path(own).expanduser().absolute()
    base = Path(os.environ.get("XDG_STATE_HOME") or "")
    return (base if base.is_absolute() else Path.home() / ".local" / "state") / "reflect"


def search_folder(state: Path, root: Path) -> Path:
    """The folder of the index of the work tree `root`: never inside a repository, and never shared by two.

    A work tree reached by a link has the folder of the real one; two that are called alike have two.
    """
    real = os.fspath(root.resolve())
    return state / "search" / f"{root.resolve().name[:40]}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}"


def organisation_state() -> str:
    """Which organisation file is meant, and its size and time of change: it decides which project asks."""
    named = os.environ.get("REFLECT_ORGANISATION", "")
    try:
        state = Path(named).stat() if named else None
    except OSError:
        return f"{named} is not there"
    return named if state is None else f"{named} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"


def pages_in(folder: Path) -> list[FileState]:
    """Every page file of the wiki in `folder` that is indexed, sorted by path: links, hidden names, the archive and the
    wiki's own files are passed over. Empty for a wiki that is not there or that is reached by a link."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return []
    found: list[FileState] = []
    pending = [""]
    while pending:
        below = pending.pop()
        with suppress(OSError):  # a folder that cannot be read has nothing to show; lint names it
            pending += _take_folder(os.fspath(folder / below), below, found)
    return sorted(found)


def _take_folder(folder: str, below: str, found: list[FileState]) -> list[str]:
    """Add the pages right in `folder` to `found`; the folders in it. Looked up from the open folder, which is half the
    work of looking each page up by its path."""
    folders: list[str] = []
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith((".", "_")) or (not below and name in _OWN):
                    continue
                if name.endswith(".md") and entry.is_file(follow_symlinks=False):
                    try:
                        state = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    found.append(FileState(below + name, state.st_size, state.st_mtime_ns, state.st_ctime_ns))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(f"{below}{name}/")
    finally:
        os.close(descriptor)
    return folders


def settled(files: Iterable[FileState]) -> list[FileState]:
    """`files` with a time of nothing where one is too young to tell whether it will change again within the tick."""
    border = time.time_ns() - _RACY_NS
    return [file if file.ctime < border else file._replace(ctime=0) for file in files]


def fingerprint_of(files: Iterable[FileState]) -> str:
    """A digest of names, sizes and times."""
    said = "\n".join(["%s\0%d %d %d" % file for file in files])  # noqa: UP031 - twice as fast as formatting parts
    return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()
