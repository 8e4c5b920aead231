"""How far long work has come, on standard error: what the run logs, line by line, and below it, on a terminal, a bar
for whatever is being counted."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

COUNTING = "reflect.counting"
"""The logger that is told `what`, how many are done, and of how many; nothing but bars listens to it."""


@contextmanager
def progress_shown(*, wanted: bool = True) -> Iterator[None]:
    """Show progress for the length of a `with` block, if it is `wanted`."""
    if not wanted:
        yield
        return
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars,
        _heard("reflect", _Lines(console), logging.INFO),
        _heard(COUNTING, _Bars(bars), logging.DEBUG),
    ):
        yield


@contextmanager
def _heard(name: str, handler: logging.Handler, level: int) -> Iterator[None]:
    logger = logging.getLogger(name)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Lines(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.print(record.getMessage(), markup=False)


class _Bars(logging.Handler):
    """One bar for each thing that is counted."""

    def __init__(self, bars: Progress) -> None:
        super().__init__()
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if not isinstance(record.args, tuple):
            return
        what, done, total = str(record.args[0]), int(str(record.args[1])), int(str(record.args[2]))
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=total)
        self._bars.update(self._tasks[what], completed=done, total=total)


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Say on a terminal, while a `with` block runs, what it is busy with; a program is told nothing."""
    console = Console(stderr=True, highlight=False)
    if not (console.is_terminal and sys.stdout.isatty()):
        yield
        return
    with console.status(what):
        yield
