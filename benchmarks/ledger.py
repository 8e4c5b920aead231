"""What the ledger costs: `python -m benchmarks.ledger [URL]`.

Records one run of 10,000 pieces of evidence with 100,000 turns, records it again, asks what is settled, and opens the
ledger. Without an address it measures SQLite in a temporary folder; an address has to name an empty database.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from reflect.ledger.entry import EvidenceRecord, LedgerEntry, PageRecord, RunState
from reflect.ledger.ledger import Ledger
from reflect.model import Accounted, EvidenceKind, Outcome

EVIDENCE = 10_000
TURNS_EACH = 10
MAX_RECORD_S = 3.0

_A = TypeVar("_A")


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    with tempfile.TemporaryDirectory() as folder:
        url = given[0] if given else f"sqlite:///{Path(folder) / 'ledger.db'}"
        return _measure(url)


def _measure(url: str) -> int:
    table = Table(
        "measured", "seconds", "limit", title=f"ledger: {EVIDENCE} pieces of evidence, {TURNS_EACH} turns each"
    )
    entry = _large_entry()
    made, ledger = _timed(lambda: Ledger.open(url))
    recorded, _ = _timed(lambda: ledger.record(entry))
    again, _ = _timed(lambda: ledger.record(entry))
    asked, seen = _timed(lambda: ledger.seen("bench", {"run-1"}))
    counted, _ = _timed(lambda: ledger.counts("bench"))
    ledger.close()
    opened, ledger = _timed(lambda: Ledger.open(url))
    ledger.close()
    assert (len(seen.contents), len(seen.turn_keys)) == (EVIDENCE, EVIDENCE * TURNS_EACH)
    rows = {
        "import reflect.ledger.ledger": _import_time(),
        "open: make and migrate": made,
        "open: nothing to do": opened,
        "record": recorded,
        "record again": again,
        "seen": asked,
        "counts": counted,
    }
    for name, seconds in rows.items():
        table.add_row(name, f"{seconds:.3f}", f"{MAX_RECORD_S:.1f}" if name == "record" else "")
    Console().print(table)
    return 0 if recorded <= MAX_RECORD_S else 1


def _large_entry() -> LedgerEntry:
    return LedgerEntry(
        project="bench",
        run_id="run-1",
        engine="extractive",
        state=RunState.LANDED,
        evidence=tuple(_evidence(number) for number in range(EVIDENCE)),
        pages=(PageRecord(path="gotchas/one.md", action="create"),),
    )


def _evidence(number: int) -> EvidenceRecord:
    accounted = Accounted(
        id=f"{number:012x}/0",
        kind=EvidenceKind.SESSION,
        outcome=Outcome.SKIPPED,
        reason="nothing in it reads as a lesson",
    )
    keys = [(number * TURNS_EACH + turn).to_bytes(8, "big") for turn in range(TURNS_EACH)]
    return EvidenceRecord.of(accounted, content=f"{number:040x}", turn_keys=keys)


def _import_time() -> float:
    """Of the module in a process of its own, without Python's start."""
    script = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", script.format("reflect.ledger.ledger")]
    return min(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3))


def _timed(work: Callable[[], _A]) -> tuple[float, _A]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    sys.exit(main())
