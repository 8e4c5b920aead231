"""An organisation that can be put back to how it was, run, killed, and compared."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence import ROOT
from benchmarks.faults.grown import REPOSITORIES, build, grow_on

_CLOCKED = {"started_at", "finished_at", "number"}
_NIGHTS = {"nights", "night_projects", "lint_runs", "leases", "sqlite_sequence"}
"""A killed night happened, and stays on record, and so does what was linted in it; what it did to each project is
compared, and what the newest lint found."""

_NEWEST_LINTS = """
select project_id, state, reason, pages, errors, warnings, hints, details from lint_runs
where number in (select max(number) from lint_runs group by project_id)
"""

PATIENCE_S = 300


@dataclass(frozen=True)
class Point:
    """One thing a run did to the world, in its stage."""

    number: int
    stage: str
    kind: str
    what: str


class Bench:
    """The organisation below `place`, each time as it stood before its second night."""

    def __init__(self, place: Path, server: str) -> None:
        self.folder = place / "organisation"
        self._before = place / "before"
        self._log = place / "points.log"
        self._server = server
        self.folder.mkdir(parents=True)
        self.file = build(self.folder)
        first = self.night()
        if first.returncode:
            raise RuntimeError(f"the first night failed: {first.stdout}{first.stderr}")
        grow_on(self.folder)
        shutil.copytree(self.folder, self._before, symlinks=True)

    def reset(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self._before, self.folder, symlinks=True)
        self._log.unlink(missing_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        foreign = ("PREFECT_", "REFLECT_", "GIT_")
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith(foreign)},
            "PREFECT_API_URL": self._server,
            "PREFECT_HOME": str(self.folder / "prefect"),
            "SOURCE_DATE_EPOCH": "1790000000",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def night(self, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """`reflect org ingest`, to its end."""
        command = [sys.executable, "-m", "reflect.cli.main", *self.arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=PATIENCE_S,
                              env=self.environment | dict(more or {}))  # fmt: skip

    @contextmanager
    def begun(self, more: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
        """A night under way; what it says is for the caller to read."""
        command = [sys.executable, "-m", "reflect.cli.main", *self.arguments]
        said = subprocess.PIPE
        environment = self.environment | dict(more or {})
        with subprocess.Popen(command, stdout=said, stderr=said, text=True, cwd=ROOT, env=environment) as night:
            yield night

    @property
    def ledger(self) -> Path:
        return self.folder / "state" / "ledger.db"

    def pages(self) -> int:
        """How many files stand in all wikis now."""
        return sum(1 for name in REPOSITORIES for _ in (self.folder / name / ".reflect" / "wiki").rglob("*.md"))

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("org", "ingest", "--json", "--organisation", str(self.file))

    def watched(self, at: int | None = None) -> subprocess.CompletedProcess[str]:
        """The same, counting its points, and killed before the one with number `at`."""
        command = [sys.executable, "-m", "benchmarks.faults.points", *self.arguments]
        watching = {"REFLECT_FAULTS": str(self._log), "REFLECT_FAULT_ROOT": str(self.folder)}
        if at is not None:
            watching["REFLECT_FAULT_AT"] = str(at)
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=PATIENCE_S,
                              env=self.environment | watching)  # fmt: skip

    def points(self) -> list[Point]:
        """What the last watched run did."""
        rows = (line.split("\t", 3) for line in self._log.read_text(encoding="utf-8").splitlines())
        return [Point(int(number), stage, kind, what) for number, stage, kind, what in rows]

    def state(self) -> dict[str, str]:
        """Everything a night answers for, by name: files below `.reflect/`, git's refs and commits, the ledger."""
        found: dict[str, str] = {}
        for name in REPOSITORIES:
            found |= _files(self.folder / name / ".reflect", name)
            for path in (self.folder / name, self.folder / f"{name}.git"):
                if path.exists():
                    found |= _history(path)
        return found | _rows(self.ledger)


def difference(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names under which the two differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _files(folder: Path, name: str) -> dict[str, str]:
    return {
        f"{name}:{path.relative_to(folder)}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _history(path: Path) -> dict[str, str]:
    asked: dict[str, tuple[str, ...]] = {
        "refs": ("for-each-ref", "--format=%(refname) %(objectname)"),
        "commits": ("rev-list", "--all"),
    }
    if (path / ".git").exists():
        asked["status"] = ("status", "--porcelain", "--untracked-files=all")
    told = {what: _git(path, *arguments) for what, arguments in asked.items()}
    left = [str(one.relative_to(path)) for one in path.rglob("*.lock") if one.parent.name in (".git", path.name)]
    return {f"{path.name}:{what}": text for what, text in told.items()} | {f"{path.name}:locks": str(left)}


def _git(path: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(path), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _rows(ledger: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with closing(sqlite3.connect(ledger)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type='table'")]
        asked = {table: f"select * from {table}" for table in sorted(set(tables) - _NIGHTS)}
        for table, query in (asked | {"newest lints": _NEWEST_LINTS}).items():
            cursor = connection.execute(query)
            names = [column[0] for column in cursor.description]
            kept = [index for index, name in enumerate(names) if name not in _CLOCKED]
            for row in sorted(repr([row[index] for index in kept]) for row in cursor):
                found[f"ledger:{table}:{hashlib.sha256(row.encode()).hexdigest()[:12]}"] = row
    return found
