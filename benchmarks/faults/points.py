"""`reflect` with a hand on the switch: counts what a run does to the world, and may kill it before any one of them.

`python -m benchmarks.faults.points …` takes the arguments of `reflect`. A point is a file of the organisation opened
for writing, renamed or removed, a folder made, a program started, or a statement that changes a database. Points are
written to the file REFLECT_FAULTS names; the process kills itself before the one with the number REFLECT_FAULT_AT.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOVES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"}
_READS = ("SELECT", "PRAGMA", "EXPLAIN", "--")
_NO_STAGE = {"sealed", "locking", "parallel", "project"}


class Points:
    """The points of one process below `root`. Installed as an audit hook, which cannot be taken out again."""

    def __init__(self, root: str, file: str, at: int | None) -> None:
        self._root = root
        self._at = at
        self._log = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._numbers = count()
        self._busy = threading.local()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            self._reach("program", " ".join(map(str, arguments[1]))[:80])
        elif event in _MOVES:
            if any(self._is_ours(one) for one in arguments[:2]):
                self._reach("file", f"{event} {self._short(arguments[0])}")
        elif (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES and self._is_ours(arguments[0])
        ):
            self._reach("file", f"open {self._short(arguments[0])}")

    def on_statement(self, statement: str) -> None:
        """A statement that some connection is about to run."""
        if not statement.lstrip().upper().startswith(_READS) and "leases" not in statement:
            self._reach("statement", " ".join(statement.split())[:60])

    def _is_ours(self, path: object) -> bool:
        name = os.fsdecode(path) if isinstance(path, bytes | str) else ""
        return name.startswith(self._root) and "/prefect/" not in name

    def _short(self, path: object) -> str:
        return os.fsdecode(path).removeprefix(self._root) if isinstance(path, bytes | str) else str(path)

    def _reach(self, kind: str, what: str) -> None:
        if getattr(self._busy, "on", False):
            return
        self._busy.on = True
        try:
            number = next(self._numbers)
            os.write(self._log, f"{number}\t{_stage()}\t{kind}\t{what}\n".encode("utf-8", "replace"))
            if number == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            self._busy.on = False


def _stage() -> str:
    """The task that is at work in this thread, by the outermost of our own modules that is one."""
    found, frame = "night", sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("tasks.") and name.removeprefix("tasks.") not in _NO_STAGE:
            found = name.removeprefix("tasks.")
        frame = frame.f_back  # type: ignore[assignment]
    return found


def _watched(connect: Callable[..., sqlite3.Connection], points: Points) -> Callable[..., sqlite3.Connection]:
    def connected(*arguments: Any, **keys: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **keys)
        connection.set_trace_callback(points.on_statement)
        return connection

    return connected


def main() -> None:
    at = os.environ.get("REFLECT_FAULT_AT")
    log = Path(os.environ["REFLECT_FAULTS"])
    points = Points(os.environ["REFLECT_FAULT_ROOT"], str(log), int(at) if at else None)
    sys.addaudithook(points)
    sqlite3.connect = sqlite3.dbapi2.connect = _watched(sqlite3.connect, points)  # type: ignore[assignment]
    from reflect.cli.main import main as reflect

    reflect()


if __name__ == "__main__":
    main()
