"""Kills a night at points spread over all its stages, runs it again, and compares every byte with an undisturbed one.

`python -m benchmarks.faults.kill [--points N] [--seed N] [--record]`
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence import Floor, Proof
from benchmarks.faults.bench import Bench, Point, difference
from benchmarks.faults.grown import CHECKPOINTS, REPOSITORIES
from benchmarks.orchestration import server

POINTS = 60


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--seed", type=int, default=7)
    chosen, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as place, server(Path(place)) as address:
        return _proof(Bench(Path(place) / "bench", address), chosen.points, chosen.seed).show()


def _proof(bench: Bench, wanted: int, seed: int) -> Proof:
    bench.reset()
    began = time.monotonic()
    must_succeed(bench.watched())
    seconds = time.monotonic() - began
    points = bench.points()
    must_succeed(bench.night())
    undisturbed = bench.state()
    bench.reset()
    for _ in range(2):
        must_succeed(bench.night())
    if moved := difference(undisturbed, bench.state()):
        raise RuntimeError(f"two undisturbed pairs of nights differ, so nothing can be compared: {moved[:5]}")
    chosen = spread(points, wanted, seed)
    print(f"seed {seed}: {len(points)} points in {seconds:.0f} s, killing before {len(chosen)} of them", flush=True)
    ends = [_killed(bench, point, undisturbed) for point in chosen]
    killed = Counter(end.stage for end in ends if end.was_killed)
    stages = ", ".join(f"{stage} {number}" for stage, number in sorted(killed.items()))
    details = [
        f"Seed {seed}; {len(points)} points in an undisturbed night. Killed by stage: {stages}.",
        "After the kill two nights run, as two did that nobody disturbed: the second meets the commits of the first.",
        *(f"- {end.label}: {end.wrong}" for end in ends if end.wrong or not end.was_killed),
    ]
    return Proof(
        "kill",
        f"Killed anywhere: {len(REPOSITORIES)} repositories, {len(REPOSITORIES) * CHECKPOINTS} checkpoints",
        f"python -m benchmarks.faults.kill --seed {seed}",
        (
            Floor.all("nights that were killed with SIGKILL", sum(killed.values()), len(chosen)),
            Floor.none("after which a wiki, git's history or the ledger had other bytes", [e for e in ends if e.wrong]),
        ),
        "\n".join(details),
    )


@dataclass(frozen=True)
class _End:
    """What became of a night that was to be killed; `wrong` says what the next ones left otherwise than they should."""

    label: str
    stage: str
    was_killed: bool
    wrong: str = ""


def _killed(bench: Bench, point: Point, undisturbed: Mapping[str, str]) -> _End:
    bench.reset()
    done = bench.watched(point.number)
    last = bench.points()[-1]
    label = f"point {point.number} ({last.stage}, {last.kind}: {last.what})"
    wrong = ""
    for again in (bench.night(), bench.night()):
        if again.returncode:
            wrong = f"a next night left with {again.returncode}: {again.stdout[-600:]}{again.stderr[-600:]}"
    if not wrong and (moved := difference(undisturbed, bench.state())):
        wrong = f"{len(moved)} differ: {', '.join(moved[:6])}"
    print(f"  {label}: {wrong or 'the same bytes'}", flush=True)
    return _End(label, last.stage, done.returncode == -signal.SIGKILL, wrong)


def must_succeed(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise RuntimeError(f"a night that nobody disturbed left with {done.returncode}: {done.stdout}{done.stderr}")


def spread(points: Sequence[Point], wanted: int, seed: int) -> list[Point]:
    """`wanted` of the points: from each stage in turn, within a stage by chance."""
    by_stage: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        by_stage[point.stage].append(point)
    chance = random.Random(seed)
    for own in by_stage.values():
        chance.shuffle(own)
    chosen: list[Point] = []
    while len(chosen) < min(wanted, len(points)):
        for stage in sorted(by_stage):
            if by_stage[stage] and len(chosen) < wanted:
                chosen.append(by_stage[stage].pop())
    return sorted(chosen, key=lambda point: point.number)


if __name__ == "__main__":
    sys.exit(main())
