"""What a night of 2,000 repositories would need, read off smaller nights on this machine and checked on a larger one.

`python -m benchmarks.projection [--check 500] [--record]`
Each repository has twenty new checkpoints. Nights of 25 and 50 repositories give what one more costs in time, in the
ledger, on Prefect's database and in memory; a night of 500 says how far that holds. Spend comes from the tokens that
the `claude` engine sends for such a repository, at the published prices.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import yaml

from benchmarks import tokens
from benchmarks.evidence import ROOT, Floor, Proof
from benchmarks.orchestration import server
from benchmarks.transcripts import Shape, generated
from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession
from reflect.configuration import Config
from reflect.triage.claude.prices import Usage, cost, priced

CHECKPOINTS = 20
SMALL, MIDDLE, CHECK, WANTED = 25, 50, 500, 2_000
AT_ONCE = 4
WINDOW_HOURS = 4
NEAR = 1.35
"""How far the night that was predicted may be from the one that was seen, either way."""

_RULES = (
    "no, never call {topic} inside a transaction, the lock is held until the other side answers",
    "please always give {topic} a timeout in seconds, unlimited waits took the site down in March",
    "that's fine",
    "run the tests again",
    "don't retry {topic} on a 4xx, it never gets better by trying again",
)


@dataclass(frozen=True)
class Night:
    """What a night of `repositories` took: seconds, megabytes on disk, and megabytes of the parent at most."""

    repositories: int
    seconds: float
    ledger_mb: float
    prefect_mb: float
    memory_mb: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=int, default=CHECK, help="repositories of the night that checks the others")
    chosen, _ = parser.parse_known_args()
    sizes = (SMALL, MIDDLE, chosen.check)
    with tempfile.TemporaryDirectory(prefix="reflect-projection-") as folder:
        grown = list(_grown(Path(folder) / "repositories", max(sizes)))
        nights = [_night(Path(folder) / f"night-{size}", grown[:size]) for size in sizes]
    small, middle, seen = nights
    predicted = _projected(small, middle, seen.repositories)
    ratio = seen.seconds / predicted.seconds
    floors = [
        Floor.at_most(f"seconds of a night of {seen.repositories}, to those predicted", ratio, NEAR),
        Floor.at_least(f"seconds of a night of {seen.repositories}, to those predicted", ratio, 1 / NEAR),
    ]
    details = [*_table([*nights, _projected(middle, seen, WANTED)]), "", *_needs(_projected(middle, seen, WANTED))]
    command = "python -m benchmarks.projection"
    title = f"What {WANTED:,} repositories with {CHECKPOINTS} checkpoints a night would need"
    return Proof("projection", title, command, floors, "\n".join(details)).show()


def _projected(small: Night, large: Night, repositories: int) -> Night:
    """A night of `repositories` on the line through two that were seen."""

    def at(one: float, other: float) -> float:
        slope = (other - one) / (large.repositories - small.repositories)
        return other + slope * (repositories - large.repositories)

    return Night(
        repositories,
        at(small.seconds, large.seconds),
        at(small.ledger_mb, large.ledger_mb),
        at(small.prefect_mb, large.prefect_mb),
        at(small.memory_mb, large.memory_mb),
    )


def _table(nights: Sequence[Night]) -> Iterator[str]:
    yield "| repositories | seconds | ledger MB | Prefect's database MB | memory of the night MB |"
    yield "|---:|---:|---:|---:|---:|"
    for night in nights:
        name = f"{night.repositories:,}" + (" (computed)" if night.repositories == WANTED else "")
        sizes = f"{night.ledger_mb:.0f} | {night.prefect_mb:.0f} | {night.memory_mb:.0f}"
        yield f"| {name} | {night.seconds:.0f} | {sizes} |"


def _needs(night: Night) -> Iterator[str]:
    """The needs of `night` in machines, disk and money."""
    hours = night.seconds / 3600
    workers = max(1, -(-night.seconds // (WINDOW_HOURS * 3600)))
    live, batch = _usd_per_repository()
    yield "| a night of 2,000 needs | |"
    yield "|---|---|"
    yield f"| machines like this one for a window of {WINDOW_HOURS} hours | {workers:.0f} ({hours:.1f} hours of one) |"
    yield f"| the ledger, a year of such nights | {night.ledger_mb * 365 / 1000:.0f} GB at most: PostgreSQL |"
    yield f"| Prefect's database, thirty nights kept | {night.prefect_mb * 30 / 1000:.0f} GB: PostgreSQL |"
    yield "| `engine: extractive` | no model |"
    yield f"| `engine: claude`, profile `default` | {live * WANTED:,.0f} USD live, {batch * WANTED:,.0f} in batches |"


def _usd_per_repository() -> tuple[float, float]:
    """USD for one such repository, asked live and in batches, by what the local server counts."""
    claude = Config().claude
    prices = priced(claude.model_of.values(), {})
    with tempfile.TemporaryDirectory() as folder:
        repository = generated(Shape(CHECKPOINTS, session_bytes=tokens.SESSION_BYTES), Path(folder))
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "-q", "--mirror", str(repository), str(copy / ".git")], check=True)
        subprocess.run(["git", "-C", str(copy), "config", "core.bare", "false"], check=True)
        asked = tokens.night(copy, Path(folder) / "state").sent.requests
    live = sum(cost(_usage(one.usage), prices[one.body["model"]]) for one in asked)
    return live, live / 2


def _usage(told: Mapping[str, int]) -> Usage:
    return Usage(
        told["input_tokens"],
        told["output_tokens"],
        told["cache_read_input_tokens"],
        told["cache_creation_input_tokens"],
    )


def _grown(folder: Path, repositories: int) -> Iterator[Path]:
    """Repositories with twenty checkpoints and as many commits that no night has read."""
    for number in range(repositories):
        made = GitRepository.create(folder / f"r{number:04}")
        made.commit("feat: begin", {"README.md": "# begin\n"})
        rows = []
        for one in range(CHECKPOINTS):
            topic = f"module {one} of {number}"
            said = ClaudeTranscript(f"{number}-{one}", cwd=str(made.path), at=START + timedelta(hours=one))
            said.prompt(f"Look at {topic}.").reply("I looked. " * 40).tool("Read", {"file_path": "a.py"}, "x\n" * 200)
            said.prompt(_RULES[one % len(_RULES)].format(topic=topic)).reply("Done.")
            rows.append((f"{number:06x}{one:06x}", [StoredSession(said.encode(), f"{number}-{one}")]))
        made.checkpoint_branch(rows)
        yield made.path


def _night(place: Path, repositories: Sequence[Path]) -> Night:
    """A first night over copies of `repositories`, on a Prefect server of its own, in a process of its own."""
    place.mkdir(parents=True)
    copies = [place / "repositories" / one.name for one in repositories]
    for one, copy in zip(repositories, copies, strict=True):
        shutil.copytree(one, copy, symlinks=True)
    file = place / "organisation.yaml"
    projects = [{"id": copy.name, "repository": str(copy)} for copy in copies]
    described = {
        "name": "many",
        "state_dir": str(place / "state"),
        "nightly": {"at_once": AT_ONCE},
        "projects": projects,
    }
    file.write_text(yaml.safe_dump(described), encoding="utf-8")
    with server(place) as address:
        environment = {**os.environ, "PREFECT_API_URL": address, "PREFECT_HOME": str(place / "prefect")}
        command = [sys.executable, "-m", "benchmarks.projection_night", str(file)]
        began = time.monotonic()
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
        seconds = time.monotonic() - began
        said = json.loads(done.stdout.splitlines()[-1])
        if said["done"] != len(repositories):
            raise RuntimeError(f"{said['done']} of {len(repositories)} projects were done")
        night = Night(
            len(repositories),
            seconds,
            _megabytes(place / "state", "ledger.db*"),
            _megabytes(place / "server", "*.db*"),
            said["memory_mb"],
        )
    print(f"  {night}", file=sys.stderr, flush=True)
    shutil.rmtree(place)
    return night


def _megabytes(folder: Path, pattern: str) -> float:
    return sum(file.stat().st_size for file in folder.glob(pattern)) / 1e6


if __name__ == "__main__":
    sys.exit(main())
