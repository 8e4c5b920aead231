"""Run the nights, print them, and draw them."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.over_time.night import Night, spend_night
from benchmarks.over_time.replay import Replay


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.over_time", description=__doc__)
    parser.add_argument("repository", type=Path, help="a repository or bundle with sessions")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--picture", type=Path, help="an SVG file to draw into")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="reflect-nights-") as folder:
        _warm_up(chosen.repository, Path(folder))
        replay = Replay(chosen.repository, Path(folder) / "clone")
        nights = [spend_night(replay, evening, Path(folder) / "state") for evening in replay.evenings(chosen.nights)]
    Console(width=120).print(_table(nights))
    print(_summary(nights))
    if chosen.picture:
        from benchmarks.over_time.picture import draw

        draw(nights, chosen.picture)
    return 1 if any(night.stirred or night.again for night in nights) else 0


def _warm_up(repository: Path, folder: Path) -> None:
    """Spend a first evening elsewhere: the first night of a process imports what all others share."""
    replay = Replay(repository, folder / "warm")
    for evening in replay.evenings(1):
        spend_night(replay, evening, folder / "warm-state")


def _table(nights: Sequence[Night]) -> Table:
    table = Table(
        "night", "evidence", "created", "updated", "resolved", "archived", "pages", "index KB", "search KB", "seconds"
    )
    for number, night in enumerate(nights, 1):
        counts = (night.evidence, night.created, night.updated, night.resolved, night.archived, night.pages)
        sizes = (f"{night.index_bytes / 1000:.1f}", f"{night.search_bytes / 1000:.0f}", f"{night.seconds:.2f}")
        table.add_row(str(number), *map(str, counts), *sizes)
    return table


def _summary(nights: Sequence[Night]) -> str:
    third = max(1, len(nights) // 3)
    early, late = (statistics.median(night.seconds for night in part) for part in (nights[:third], nights[-third:]))
    created, updated = sum(night.created for night in nights), sum(night.updated for night in nights)
    return (
        f"{len(nights)} nights: {created} pages created, {updated} updates, "
        f"{sum(night.resolved for night in nights)} resolved, {sum(night.archived for night in nights)} archived; "
        f"{sum(len(night.stirred) for night in nights)} rewrites without new evidence, "
        f"{sum(night.again for night in nights)} files changed by a second run; "
        f"median night {early:.2f} s in the first third, {late:.2f} s in the last"
    )


if __name__ == "__main__":
    raise SystemExit(main())
