"""A lock per cache key that the kernel frees when its holder dies.

Prefect's own file-system lock stays behind after a crash and breaks on contention; flock(2) does neither, so a killed
run can be repeated at once and two runs that race pay once.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_POLL_S = 0.02


class FlockLockManager:
    """Prefect's `LockManager` protocol over one lock file per key in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, tuple[str, int]] = {}
        self._guard = threading.Lock()

    def __deepcopy__(self, memo: object) -> FlockLockManager:
        """A cache policy copies itself when configured; its locks must stay the same locks."""
        return self

    def __reduce__(self) -> tuple[type[FlockLockManager], tuple[Path]]:
        return type(self), (self._folder,)

    def acquire_lock(
        self, key: str, holder: str, acquire_timeout: float | None = None, hold_timeout: float | None = None
    ) -> bool:
        return any(self._take(key, holder) for _ in _attempts(acquire_timeout))

    async def aacquire_lock(
        self, key: str, holder: str, acquire_timeout: float | None = None, hold_timeout: float | None = None
    ) -> bool:
        return await asyncio.to_thread(self.acquire_lock, key, holder, acquire_timeout, hold_timeout)

    def release_lock(self, key: str, holder: str) -> None:
        with self._guard:
            if not self._is_mine(key, holder):
                raise ValueError(f"No lock for the key {key!r} is held by {holder!r}; nothing was released.")
            os.close(self._held.pop(key)[1])

    def is_locked(self, key: str) -> bool:
        with self._guard:
            if key in self._held:
                return True
        path = self._path(key)
        if not path.exists():
            return False
        descriptor = os.open(path, os.O_RDWR)
        try:
            return not _locked(descriptor)
        finally:
            os.close(descriptor)

    def is_lock_holder(self, key: str, holder: str) -> bool:
        with self._guard:
            return self._is_mine(key, holder)

    def wait_for_lock(self, key: str, timeout: float | None = None) -> bool:
        return any(not self.is_locked(key) for _ in _attempts(timeout))

    async def await_for_lock(self, key: str, timeout: float | None = None) -> bool:
        return await asyncio.to_thread(self.wait_for_lock, key, timeout)

    def _take(self, key: str, holder: str) -> bool:
        with self._guard:
            if key in self._held:
                return self._is_mine(key, holder)
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path(key), os.O_RDWR | os.O_CREAT, 0o600)
            if not _locked(descriptor):
                os.close(descriptor)
                return False
            self._held[key] = (holder, descriptor)
            return True

    def _is_mine(self, key: str, holder: str) -> bool:
        return key in self._held and self._held[key][0] == holder

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()}.lock"


def _locked(descriptor: int) -> bool:
    """Take the lock on an open file without waiting; False where another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _attempts(timeout_s: float | None) -> Iterator[None]:
    end = None if timeout_s is None else time.monotonic() + timeout_s
    yield
    while end is None or time.monotonic() < end:
        time.sleep(_POLL_S)
        yield
