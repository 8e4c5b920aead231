"""One run at a time per repository. The kernel frees the lock when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reflect.errors import RepositoryBusy, WikiError

_POLL_S = 0.05


@contextmanager
def repository_lock(path: Path, patience_s: float = 0.0) -> Iterator[None]:
    """Hold the lock in file `path` for the length of a `with` block.

    `path` lies in git's common folder, so that all worktrees of a repository share it. Raises RepositoryBusy, naming
    the holder's process, where another run holds it for `patience_s` seconds more.
    """
    descriptor = _open(path)
    try:
        _take_within(patience_s, descriptor, path)
        with suppress(OSError):  # a full disk keeps nobody from holding the lock, only from saying who does
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise WikiError(f"{path} cannot be opened ({error.strerror}); nothing was read or written.") from error


def _take_within(patience_s: float, descriptor: int, path: Path) -> None:
    end = time.monotonic() + patience_s
    while True:
        try:
            return _take(descriptor, path)
        except RepositoryBusy:
            if time.monotonic() >= end:
                raise
            time.sleep(_POLL_S)


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        who = f"process {holder}" if holder.isdigit() else "another process"
        raise RepositoryBusy(
            f"The repository is held by {who} (lock {path}); nothing was read or written. Try again when it has ended."
        ) from error
    except OSError as error:
        raise WikiError(f"{path} cannot be locked ({error}); nothing was read or written.") from error
