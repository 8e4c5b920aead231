"""What collecting costs: `python -m benchmarks.collect`.

Measures in one run, in turns: git alone reading every transcript (`git cat-file --batch`, output thrown away) and
`collect` doing its work on the same objects in a process of its own. Then the same work over ten times as many
checkpoints, to see that the cost of one does not grow.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.transcripts import Shape, generated, transcript_objects

MEASURE = """
import json, resource, sys, time
from pathlib import Path
from reflect.configuration import Config
from reflect.evidence.collect import Seen, collect
from reflect.evidence.git import Git
idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
batch = collect(Git.open(Path(sys.argv[1])), Config(), Seen())
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
turns = sum(len(session.turns) for session in batch.sessions)
print(json.dumps({"seconds": seconds, "peak_kb": peak, "idle_kb": idle, "turns": turns,
                  "pieces": len(batch.contents), "sessions": len(batch.sessions)}))
"""

ROUNDS = 3
MAX_RATIO = 2.0
MAX_PEAK_MB = 400
MAX_GROWTH = 11.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The best of several rounds: seconds, and for `collect` the peak of its memory in megabytes and its turns."""

    seconds: float
    peak_mb: float = 0.0
    turns: int = 0
    sessions: int = 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=500, help="transcripts to generate for the first comparison")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "reflect-benchmarks")
    parser.add_argument("--as-imported", action="store_true", help="leave out the repository packed as a server would")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    console = Console()
    table = Table("measured", "git alone", "collect", "ratio", "limit", "peak memory", title="collect")
    large = _large(chosen.megabytes, chosen.folder)
    good = _compare(table, large, "as imported")
    if not chosen.as_imported:
        good &= _compare(table, _packed(large), "as cloned from a server")
    good &= _growth(table, chosen.folder)
    console.print(table)
    return 0 if good else 1


def _large(megabytes: int, folder: Path) -> Path:
    return generated(Shape(checkpoints=max(megabytes * 12 // 13, 2), session_bytes=1_000_000), folder)


def _compare(table: Table, path: Path, how: str) -> bool:
    oids, size = transcript_objects(path)
    plain, ours = [], []
    for _ in range(ROUNDS):
        plain.append(_read_by_git(path, oids))
        ours.append(_collect(path))
    git, collect = min(plain), min(ours, key=lambda one: one.seconds)
    ratio = collect.seconds / git
    table.add_row(
        f"{size / 1e6:.0f} MB in {len(oids)} transcripts, {how}",
        f"{git:.2f} s",
        f"{collect.seconds:.2f} s ({collect.turns} turns)",
        f"{ratio:.2f}",
        f"{MAX_RATIO:.1f}",
        f"{collect.peak_mb:.0f} MB of {MAX_PEAK_MB}",
    )
    return ratio <= MAX_RATIO and collect.peak_mb <= MAX_PEAK_MB


def _growth(table: Table, folder: Path) -> bool:
    few, many = (generated(Shape(checkpoints, session_bytes=60_000), folder) for checkpoints in (100, 1000))
    small = min((_collect(few) for _ in range(ROUNDS)), key=lambda one: one.seconds)
    large = min((_collect(many) for _ in range(ROUNDS)), key=lambda one: one.seconds)
    growth = large.seconds / small.seconds
    table.add_row(
        "1,000 checkpoints against 100",
        f"{small.seconds:.2f} s (100)",
        f"{large.seconds:.2f} s (1,000)",
        f"{growth:.1f}",
        f"{MAX_GROWTH:.1f}",
        f"{large.peak_mb:.0f} MB",
    )
    return growth <= MAX_GROWTH


def _read_by_git(path: Path, oids: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(
        ["git", "-C", str(path), "cat-file", "--batch"],
        input="".join(f"{oid}\n" for oid in oids).encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start


def _collect(path: Path) -> Measured:
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, check=True)
    said = json.loads(done.stdout)
    return Measured(said["seconds"], said["peak_kb"] / 1024, said["turns"], said["sessions"])


def _packed(path: Path) -> Path:
    """A copy of the repository with its objects as deltas of each other, as every clone has them."""
    packed = path.with_name(f"{path.name}-packed")
    if not (packed / "packed").exists():
        print("Packing once, as a server does: this takes minutes.", file=sys.stderr)
        shutil.rmtree(packed, ignore_errors=True)
        shutil.copytree(path, packed)
        subprocess.run(["git", "-C", str(packed), "repack", "-adfq", "--depth=50", "--window=10"], check=True)
        (packed / "packed").touch()
    return packed


if __name__ == "__main__":
    sys.exit(main())
