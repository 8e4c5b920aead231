"""The history of a repository, in the order it was made, cut into nights."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BRANCH = "main"
CHECKPOINTS = "entire/checkpoints/v1"


@dataclass(frozen=True, slots=True)
class Evening:
    """Where the two branches stand when a night begins. `checkpoints` is None before the first."""

    head: str
    checkpoints: str | None
    at: int


class Replay:
    """A clone of `source` in `folder` that begins empty and is moved on through its history.

    Its `.reflect/` is its own: what the history holds there is never checked out.
    """

    def __init__(self, source: Path, folder: Path) -> None:
        self.folder = folder
        subprocess.run(["git", "init", "-q", "-b", BRANCH, str(folder)], check=True)
        self._git("fetch", "-q", str(source.resolve()), "+refs/*:refs/replay/*")

    def evenings(self, nights: int) -> Iterator[Evening]:
        """At most `nights` points of the first-parent history, with as many commits between any two of them."""
        heads = self._dated("--first-parent", self._tip(BRANCH))
        checkpoints = self._dated(self._tip(CHECKPOINTS))
        nights = min(nights, len(heads))
        for night in range(1, nights + 1):
            head, at = heads[len(heads) * night // nights - 1]
            seen = [name for name, when in checkpoints if when <= at or night == nights]
            yield Evening(head, seen[-1] if seen else None, at)

    def move_to(self, evening: Evening) -> None:
        """Put both branches and the files, all but `.reflect/`, where they stood that evening."""
        self._git("update-ref", f"refs/heads/{BRANCH}", evening.head)
        if evening.checkpoints is not None:
            self._git("update-ref", f"refs/heads/{CHECKPOINTS}", evening.checkpoints)
        self._git("read-tree", evening.head)
        self._git("checkout", "-q", "-f", evening.head, "--", ".", ":(exclude).reflect")

    def _tip(self, branch: str) -> str:
        names = self._git("for-each-ref", "--format=%(refname)", "refs/replay").split()
        return next(name for name in names if name.endswith(f"/{branch}"))

    def _dated(self, *revisions: str) -> list[tuple[str, int]]:
        lines = self._git("log", "--reverse", "--format=%H %ct", *revisions).splitlines()
        return [(name, int(at)) for name, _, at in (line.partition(" ") for line in lines)]

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(self.folder), *arguments], capture_output=True, text=True, check=True)
        return done.stdout
