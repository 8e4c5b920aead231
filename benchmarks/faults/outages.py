"""What else may happen to a night besides a kill: each done to a real one, and afterwards two nights in peace.

`python -m benchmarks.faults.outages [--record]`. Needs to be root: a full disk is a small tmpfs, and a read-only wiki a
read-only mount, because permissions do not stop root.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence import Floor, Proof
from benchmarks.faults.bench import Bench, difference
from benchmarks.faults.kill import must_succeed
from benchmarks.faults.races import table_of_races
from benchmarks.orchestration import server

ROOM_BYTES = 160_000
"""How much a night may write before the disk is full: less than it needs."""

TAKE_OVER_S = 30.0
"""By when a night has begun and ended that finds what a killed one held."""

_TOLD = {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "ERROR"}
"""What a night's runs log of an error goes to standard error, where it is told if the night fails."""

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Outage:
    """One thing that goes wrong, what a night is allowed to answer, and what it did. `lost` are the differences."""

    what: str
    allowed: tuple[int, ...]
    left_with: int
    said: str
    lost: tuple[str, ...]

    @property
    def is_borne(self) -> bool:
        return self.left_with in self.allowed and not self.lost and "Traceback" not in self.said


def main() -> int:
    with tempfile.TemporaryDirectory() as place, _disk(Path(place) / "disk") as disk, server(Path(place)) as address:
        bench = Bench(disk / "bench", address)
        bench.reset()
        for _ in range(2):
            must_succeed(bench.night())
        undisturbed = bench.state()
        outages: list[Outage] = []
        for what, allowed, strike in _STRIKES:
            outages.append(_struck(bench, disk, undisturbed, what, allowed, strike))
            print(f"  {what}: left with {outages[-1].left_with}, {outages[-1].lost or 'nothing lost'}", flush=True)
        took_over = _take_over(bench, undisturbed)
    floors = [
        Floor.none("outages that cost a byte, or ended in a traceback", [one for one in outages if not one.is_borne]),
        Floor.at_most("seconds until a night after a killed one has taken over and ended", took_over, TAKE_OVER_S),
    ]
    rows = ["| what happened | the night left with | after two nights in peace |", "|---|---:|---|"]
    for one in outages:
        lost = f"{len(one.lost)} differ: {', '.join(one.lost[:4])}" if one.lost else "the same bytes"
        rows.append(f"| {one.what} | {one.left_with} | {lost} |")
    told = [f"- {one.what}: {one.said[-300:]}" for one in outages if not one.is_borne]
    details = "\n".join([*rows, *told, "", *table_of_races()])
    return Proof("outages", "Outages and races", "python -m benchmarks.faults.outages", floors, details).show()


def _struck(
    bench: Bench,
    disk: Path,
    undisturbed: Mapping[str, str],
    what: str,
    allowed: tuple[int, ...],
    strike: Callable[[Bench, Path], Done],
) -> Outage:
    bench.reset()
    done = strike(bench, disk)
    for _ in range(2):
        must_succeed(bench.night(_TOLD))
    lost = difference(undisturbed, bench.state())
    if what == LEDGER_GONE:  # everything is read again, in runs named by what they read
        lost = [name for name in lost if ":wiki/" in name and not name.endswith("/log.md")]
    if what == CLOCK_BACK:  # commits, runs and lints say when they were made
        lost = [name for name in lost if ":wiki/" in name]
    return Outage(what, allowed, done.returncode, f"{done.stdout}{done.stderr}", tuple(lost))


def _terminated(bench: Bench, _: Path) -> Done:
    return _stopped(bench, signal.SIGTERM)


def _stopped(bench: Bench, number: signal.Signals) -> Done:
    """A night that gets the signal `number` in its middle: when the first new page stands."""
    before = bench.pages()
    with bench.begun() as night:
        while night.poll() is None and bench.pages() == before:
            time.sleep(0.01)
        night.send_signal(number)
        out, error = night.communicate(timeout=120)
    return subprocess.CompletedProcess(night.args, night.returncode, out, error)


def _disk_full(bench: Bench, disk: Path) -> Done:
    room = os.statvfs(disk)
    used = (room.f_blocks - room.f_bfree) * room.f_frsize
    _resized(disk, used + ROOM_BYTES)
    try:
        return bench.night()
    finally:
        _resized(disk, 2**30)


def _wiki_read_only(bench: Bench, _: Path) -> Done:
    wiki = str(bench.folder / "tax-rules" / ".reflect")
    _run("mount", "--bind", wiki, wiki)
    try:
        _run("mount", "-o", "remount,bind,ro", wiki)
        return bench.night()
    finally:
        _run("umount", wiki)


def _ledger_locked(bench: Bench, _: Path) -> Done:
    """For five seconds: a night waits."""
    holder = sqlite3.connect(bench.ledger, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with bench.begun() as night:
        time.sleep(5)
        holder.rollback()
        holder.close()
        out, error = night.communicate(timeout=120)
    return subprocess.CompletedProcess(night.args, night.returncode, out, error)


def _ledger_gone(bench: Bench, _: Path) -> Done:
    bench.ledger.unlink()
    return bench.night()


def _server_gone(bench: Bench, _: Path) -> Done:
    """Prefect's server is killed half-way, and is back after five seconds."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as address:
        before = bench.pages()
        with bench.begun({"PREFECT_API_URL": address}) as night:
            while night.poll() is None and bench.pages() == before:
                time.sleep(0.01)
            _kill_server(address)
            time.sleep(5)
            with server(Path(folder), _port_of(address)):
                out, error = night.communicate(timeout=240)
    return subprocess.CompletedProcess(night.args, night.returncode, out, error)


def _port_of(address: str) -> int:
    return int(address.rsplit(":", 1)[-1].partition("/")[0])


def _kill_server(address: str) -> None:
    """Every process that was started to serve `address`, told by its environment."""
    meant = f"PREFECT_SERVER_API_PORT={_port_of(address)}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if meant in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


def _clock_back(bench: Bench, _: Path) -> Done:
    return bench.night({"SOURCE_DATE_EPOCH": str(1_790_000_000 - 400 * 86_400)})


LEDGER_GONE = "the ledger is gone (pages are compared)"
CLOCK_BACK = "the clock is set back by 400 days (pages, index and log are compared)"
_STRIKES: tuple[tuple[str, tuple[int, ...], Callable[[Bench, Path], Done]], ...] = (
    ("SIGTERM in the middle", (-signal.SIGTERM, 143, 4, 130), _terminated),
    ("the disk is full", (3, 4), _disk_full),
    ("one wiki is read-only", (3,), _wiki_read_only),
    ("the ledger is locked for five seconds", (0,), _ledger_locked),
    (LEDGER_GONE, (0,), _ledger_gone),
    ("Prefect's server is killed half-way, and back after five seconds", (0, 3), _server_gone),
    (CLOCK_BACK, (0,), _clock_back),
)


def _take_over(bench: Bench, undisturbed: Mapping[str, str]) -> float:
    """Seconds from the kill of a night, which holds a project, to the end of the next one."""
    bench.reset()
    _stopped(bench, signal.SIGKILL)
    began = time.monotonic()
    must_succeed(bench.night())
    seconds = time.monotonic() - began
    must_succeed(bench.night())
    if moved := difference(undisturbed, bench.state()):
        raise RuntimeError(f"after a take-over {len(moved)} differ: {moved[:5]}")
    return seconds


@contextmanager
def _disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    _run("mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", str(place))
    try:
        yield place
    finally:
        _run("umount", "-l", str(place))


def _resized(disk: Path, size: int) -> None:
    _run("mount", "-o", f"remount,size={size}", str(disk))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main())
