"""Writes what a proof measured into `docs/evidence.md`: with the date, the kind of machine and the commit.

Nobody writes that file by hand. A proof is a set of floors; a command that misses one says so and leaves with 1.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "evidence.md"

_HEAD = """# Evidence

What was measured, by the commands that measured it: `make evidence` runs all of them, each writes its own section and
leaves with an error where a floor is missed.
"""


@dataclass(frozen=True)
class Floor:
    """One thing that must hold: what it is, what was seen, what is wanted, and whether it holds."""

    what: str
    seen: str
    wanted: str
    holds: bool

    @classmethod
    def at_least(cls, what: str, seen: float, least: float) -> Floor:
        return cls(what, f"{seen:.2f}", f"at least {least:.2f}", seen >= least)

    @classmethod
    def at_most(cls, what: str, seen: float, most: float) -> Floor:
        return cls(what, f"{seen:.2f}", f"at most {most:.2f}", seen <= most)

    @classmethod
    def none(cls, what: str, found: Sequence[object]) -> Floor:
        return cls(what, str(len(found)), "0", not found)

    @classmethod
    def all(cls, what: str, passed: int, of: int) -> Floor:
        return cls(what, f"{passed} of {of}", "all", passed == of)


@dataclass(frozen=True)
class Proof:
    """One section of the evidence. `command` repeats it; `details` are markdown below the floors."""

    name: str
    title: str
    command: str
    floors: Sequence[Floor]
    details: str = ""

    def show(self) -> int:
        """Print it, with `--record` write it down, and give the exit code: 1 where a floor is missed."""
        recording = argparse.ArgumentParser(add_help=False)
        recording.add_argument("--record", action="store_true")
        text = self.render()
        print(text)
        if recording.parse_known_args()[0].record:
            record(self.name, text)
        missed = [floor.what for floor in self.floors if not floor.holds]
        for what in missed:
            print(f"MISSED: {what}", file=sys.stderr)
        return 1 if missed else 0

    def render(self) -> str:
        rows = [f"| {f.what} | {f.seen} | {f.wanted} | {'yes' if f.holds else '**no**'} |" for f in self.floors]
        table = "\n".join(["| what | seen | wanted | holds |", "|---|---|---|---|", *rows])
        stamp = f"`{self.command}`, {datetime.now(UTC):%Y-%m-%d}, {machine()}, commit {commit()}"
        return "\n\n".join(filter(None, (f"## {self.title}", stamp, table, self.details.strip()))) + "\n"


def record(name: str, text: str, file: Path = FILE) -> None:
    """Put `text` in place of the section `name` of the evidence, or behind the last one."""
    marked = f"<!-- {name} -->\n{text.strip()}\n<!-- end of {name} -->\n"
    whole = file.read_text(encoding="utf-8") if file.exists() else _HEAD
    section = re.compile(rf"<!-- {re.escape(name)} -->\n.*?<!-- end of {re.escape(name)} -->\n", re.DOTALL)
    known = section.search(whole) is not None
    now = section.sub(lambda _: marked, whole) if known else f"{whole.rstrip()}\n\n{marked}"
    file.write_text(now, encoding="utf-8")


def machine() -> str:
    """The kind of machine, without its name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB, "
        f"Python {platform.python_version()}"
    )


def commit() -> str:
    """The commit that was measured, and whether something was changed since."""
    sha = _git("rev-parse", "--short=12", "HEAD")
    changed = [line for line in _git("status", "--porcelain").splitlines() if not line.endswith("docs/evidence.md")]
    return f"{sha}, with changes" if changed else sha


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
