"""A PostgreSQL server of the tests' own: started in a temporary folder, reached by a socket in it, gone afterwards."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

MISSING = "PostgreSQL is not installed: apt-get install postgresql"

_FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=16MB -c max_connections=30"
_ACCOUNTS = ("postgres", "nobody")


def programs() -> Path | None:
    """The folder of the newest installed `initdb` and `pg_ctl`, or None."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    found = shutil.which("initdb")
    if versions:
        return versions[-1].parent
    return Path(found).resolve().parent if found else None


@contextmanager
def cluster(bin_folder: Path) -> Iterator[str]:
    """The address of an empty database `postgres` on a server that listens on a socket alone."""
    home = Path(tempfile.mkdtemp(prefix="reflect-pg-", dir="/tmp"))  # a socket's path must stay under 108 bytes
    account = _account()
    if account is not None:
        os.chown(home, account.pw_uid, account.pw_gid)
    data = home / "data"
    try:
        _run(
            account,
            [bin_folder / "initdb", "-D", data, "-U", "reflect", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"],
        )
        options = f"{_FAST} -c listen_addresses='' -k {home}"
        _run(account, [bin_folder / "pg_ctl", "-D", data, "-l", home / "log", "-w", "-t", "30", "-o", options, "start"])
        try:
            yield f"postgresql://reflect@/postgres?host={home}"
        finally:
            _run(account, [bin_folder / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"])
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _account() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: the account to run it as then, None where we are somebody else already."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next(known[name] for name in _ACCOUNTS if name in known)


def _run(account: pwd.struct_passwd | None, command: Sequence[str | Path]) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    done = subprocess.run(
        [os.fspath(part) for part in command],
        env=environment | {"LC_ALL": "C"},
        cwd="/tmp",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # the server would inherit a pipe and keep it open
        stderr=subprocess.PIPE if "start" not in command else subprocess.DEVNULL,
        timeout=60,
        check=False,
        user=None if account is None else account.pw_uid,
        group=None if account is None else account.pw_gid,
        extra_groups=None if account is None else [],
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"{command[0]} ended with {done.returncode}: {(done.stderr or b'').decode(errors='replace')}"
        )


def _version(initdb: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", initdb.parts[-3]))
