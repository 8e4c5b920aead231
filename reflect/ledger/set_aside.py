"""Moving a SQLite ledger that cannot be read out of the way, so that a rebuild has a place to start."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

from reflect.errors import LedgerError
from reflect.ledger.database import parse_address, sqlite_file

_COMPANIONS = ("-wal", "-shm")


def set_aside(url: str) -> Path | None:
    """Rename the SQLite file at `url` if it is corrupt, and say where it went; None where there is nothing to move.

    Nothing is deleted. A file of something else, and a server's database, are left alone.
    """
    path = sqlite_file(parse_address(url))
    if path is None or not path.exists() or not _is_corrupt(path):
        return None
    target = _free_name(path)
    try:
        path.rename(target)
        for suffix in _COMPANIONS:
            companion = Path(f"{os.fspath(path)}{suffix}")
            if companion.exists():
                companion.rename(f"{os.fspath(target)}{suffix}")
    except OSError as error:
        raise LedgerError(
            f"The corrupt ledger {path} could not be moved to {target} ({error}); move it yourself and run "
            "`reflect ledger rebuild` again."
        ) from error
    return target


def _is_corrupt(path: Path) -> bool:
    """Whether SQLite itself says so; a file that is locked or may not be read is not called corrupt."""
    try:
        with closing(sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, timeout=5)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True


def _quoted(path: Path) -> str:
    return path.absolute().as_uri().removeprefix("file://")


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.corrupt-{number}") for number in count(1))
    return next(name for name in names if not name.exists())
