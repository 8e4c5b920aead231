"""Run the nights, print them, and draw them."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.evidence import Floor, Proof
from benchmarks.over_time.night import Night, spend_night
from benchmarks.over_time.replay import Replay

FLAT = 2.0
"""A late night may take this many times an early one: it reads as much, and compares with more pages."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.over_time", description=__doc__)
    parser.add_argument("repository", type=Path, help="a repository or bundle with sessions")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--picture", type=Path, help="an SVG file to draw into")
    parser.add_argument("--record", action="store_true", help="write the section of docs/evidence.md")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="reflect-nights-") as folder:
        _warm_up(chosen.repository, Path(folder))
        replay = Replay(chosen.repository, Path(folder) / "clone")
        nights = [spend_night(replay, evening, Path(folder) / "state") for evening in replay.evenings(chosen.nights)]
    if chosen.picture:
        from benchmarks.over_time.picture import draw

        draw(nights, chosen.picture)
    return proof_of(nights).show()


def proof_of(nights: Sequence[Night]) -> Proof:
    """What the nights prove, and each of them."""
    third = max(1, len(nights) // 3)
    early, late = (statistics.median(night.seconds for night in part) for part in (nights[:third], nights[-third:]))
    stirred = [path for night in nights for path in night.stirred]
    floors = [
        Floor.none("pages rewritten without new evidence", stirred),
        Floor.all("evenings whose second run changed no byte", sum(not night.again for night in nights), len(nights)),
        Floor.at_most("a late night's seconds to an early one's", late / early, FLAT),
    ]
    return Proof("over-time", "Over time", "python -m benchmarks.over_time", floors, "\n".join(_table(nights)))


def _warm_up(repository: Path, folder: Path) -> None:
    """Spend a first evening elsewhere: the first night of a process imports what all others share."""
    replay = Replay(repository, folder / "warm")
    for evening in replay.evenings(1):
        spend_night(replay, evening, folder / "warm-state")


def _table(nights: Sequence[Night]) -> list[str]:
    names = ("night", "evidence", "created", "updated", "resolved", "archived", "pages", "index KB", "search KB", "s")
    rows = [f"| {' | '.join(names)} |", f"|{'---:|' * len(names)}"]
    for number, night in enumerate(nights, 1):
        counts = (number, night.evidence, night.created, night.updated, night.resolved, night.archived, night.pages)
        sizes = (f"{night.index_bytes / 1000:.1f}", f"{night.search_bytes / 1000:.0f}", f"{night.seconds:.2f}")
        rows.append(f"| {' | '.join((*map(str, counts), *sizes))} |")
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
