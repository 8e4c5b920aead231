"""The lock per cache key: exclusive, re-entrant for its holder, and free the moment its process dies."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from prefect.locking.protocol import LockManager

from tasks.locking import FlockLockManager


@pytest.fixture
def locks(tmp_path: Path) -> FlockLockManager:
    return FlockLockManager(tmp_path / "locks")


def test_it_is_what_prefect_asks_for(locks: FlockLockManager) -> None:
    assert isinstance(locks, LockManager)


def test_one_holder_at_a_time(locks: FlockLockManager) -> None:
    assert locks.acquire_lock("a/key", "one")
    assert locks.acquire_lock("a/key", "one"), "a holder that asks again has it"
    assert not locks.acquire_lock("a/key", "two", acquire_timeout=0.05)
    assert locks.is_locked("a/key") and locks.is_lock_holder("a/key", "one")
    locks.release_lock("a/key", "one")
    assert locks.acquire_lock("a/key", "two", acquire_timeout=0.05)


def test_only_its_holder_releases_it(locks: FlockLockManager) -> None:
    locks.acquire_lock("key", "one")
    with pytest.raises(ValueError, match="two"):
        locks.release_lock("key", "two")
    assert locks.is_locked("key")


def test_a_copy_is_the_same_lock(locks: FlockLockManager) -> None:
    copied = copy.deepcopy(locks)
    locks.acquire_lock("key", "one")
    assert copied.is_lock_holder("key", "one")
    other = pickle.loads(pickle.dumps(locks))
    assert not other.acquire_lock("key", "two", acquire_timeout=0.05)


def test_waiting_ends_when_the_holder_lets_go(locks: FlockLockManager) -> None:
    locks.acquire_lock("key", "one")
    threading.Timer(0.1, locks.release_lock, ("key", "one")).start()
    assert locks.wait_for_lock("key", timeout=5)
    assert locks.acquire_lock("key", "two", acquire_timeout=5)
    assert not locks.wait_for_lock("key", timeout=0.05)


def test_hazard_135_a_killed_holder_leaves_nothing_behind(locks: FlockLockManager, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from tasks.locking import FlockLockManager\n"
        f"FlockLockManager(Path({str(tmp_path / 'locks')!r})).acquire_lock('key', 'other'); print('held', flush=True)\n"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert locks.is_locked("key") and not locks.acquire_lock("key", "me", acquire_timeout=0.05)
        holder.send_signal(signal.SIGKILL)
    assert locks.acquire_lock("key", "me", acquire_timeout=1)
