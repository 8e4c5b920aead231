"""One run at a time; a run that dies frees the repository."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from examples.sessions import GitRepository
from reflect.errors import RepositoryBusy
from reflect.wiki.lock import repository_lock

HOLD = """
import sys, time
from pathlib import Path
from reflect.wiki.lock import repository_lock
with repository_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_run_is_told_who_holds_it_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    lock = tmp_path / "git/reflect.lock"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, env=environment)
    with holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(RepositoryBusy, match=rf"held by process {holder.pid} ") as raised, repository_lock(lock):
            pass
        assert raised.value.exit_code == 5
        holder.send_signal(signal.SIGKILL)
    with repository_lock(lock):
        assert lock.read_text().strip() == str(os.getpid())


def test_the_lock_is_free_after_the_block_even_after_an_error(tmp_path: Path) -> None:
    lock = tmp_path / "reflect.lock"
    with pytest.raises(ValueError, match="inside"), repository_lock(lock):
        raise ValueError("inside")
    busy = pytest.raises(RepositoryBusy, match=f"process {os.getpid()}")
    with repository_lock(lock), busy, repository_lock(lock):
        pass


def test_hazard_53_worktrees_of_one_repository_share_its_lock(tmp_path: Path) -> None:
    repository = GitRepository.create(tmp_path / "main")
    repository.commit("start", {"a.txt": "a"})
    repository.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")

    def lock_of(folder: Path) -> Path:
        common = GitRepository(folder).git("rev-parse", "--path-format=absolute", "--git-common-dir")
        return Path(common) / "reflect.lock"

    first, second = lock_of(tmp_path / "main"), lock_of(tmp_path / "other")
    with repository_lock(first), pytest.raises(RepositoryBusy), repository_lock(second):
        pass


def test_a_lock_file_that_says_nothing_is_no_error(tmp_path: Path) -> None:
    lock = tmp_path / "reflect.lock"
    with repository_lock(lock):
        lock.write_bytes(b"\xff\xfe not a number")
        with pytest.raises(RepositoryBusy, match="held by another process"), repository_lock(lock):
            pass
