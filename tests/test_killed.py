"""A run that is killed and repeated ends with the same bytes as one that was left alone."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from examples.organisation import build, next_night
from tests.conftest import CommandLine, command_line_in

pytestmark = pytest.mark.xdist_group("prefect")

STAGES = ("collect", "triage", "expectations", "scope", "write", "index", "archive")
_CLOCKED = {"started_at", "finished_at", "number"}


class Bench:
    """One repository that can be put back to how it was before its second night."""

    def __init__(self, folder: Path, server: str) -> None:
        self.folder = folder
        self.server = server
        self.organisation = folder / "organisation"
        self.repository = build(self.organisation)[0]
        reflect = command_line_in(folder / "state", server)
        reflect("ingest", "--repo", self.repository)
        next_night(self.organisation)
        shutil.copytree(folder, folder.with_name("before"), symlinks=True)

    def reset(self) -> CommandLine:
        shutil.rmtree(self.folder)
        shutil.copytree(self.folder.with_name("before"), self.folder, symlinks=True)
        return command_line_in(self.folder / "state", self.server)

    def state(self) -> dict[str, object]:
        wiki = self.repository / ".reflect"
        files: dict[str, object] = {
            str(path.relative_to(wiki)): path.read_bytes() for path in sorted(wiki.rglob("*")) if path.is_file()
        }
        return files | _rows(self.folder / "state" / "ledger.db")


def _rows(ledger: Path) -> dict[str, object]:
    with sqlite3.connect(ledger) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type='table'")]
        found: dict[str, object] = {}
        for table in tables:
            cursor = connection.execute(f"select * from {table}")
            names = [column[0] for column in cursor.description]
            kept = [index for index, name in enumerate(names) if name not in _CLOCKED]
            found[f"ledger:{table}"] = sorted(repr([row[index] for index in kept]) for row in cursor)
        return found


@pytest.fixture(scope="module")
def bench(prefect_server: str, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("killed") / "night", prefect_server)


@pytest.fixture(scope="module")
def undisturbed(bench: Bench) -> dict[str, object]:
    reflect = bench.reset()
    report = reflect.json("ingest", "--repo", bench.repository)
    assert report["pages"], "the second night must have something to write, or nothing is tested here"
    return bench.state()


@pytest.mark.parametrize("stage", STAGES)
def test_killed_at_any_stage_and_repeated_gives_the_same_bytes(
    bench: Bench, undisturbed: dict[str, object], stage: str
) -> None:
    reflect = bench.reset()
    with reflect.start("ingest", "--repo", bench.repository) as process:
        reached = _wait_for(process, stage)
        process.send_signal(signal.SIGKILL)
    assert reached, f"the run never said that it reached {stage}"
    reflect("ingest", "--repo", bench.repository)
    assert bench.state() == undisturbed


def test_second_run_at_the_same_time_is_kept_out(bench: Bench) -> None:
    reflect = bench.reset()
    with reflect.start("ingest", "--repo", bench.repository) as first:
        assert _wait_for(first, "collect")
        first.send_signal(signal.SIGSTOP)
        try:
            second = reflect("ingest", "--repo", bench.repository, check=5)
        finally:
            first.send_signal(signal.SIGCONT)
        first.communicate(timeout=120)
    assert f"process {first.pid}" in second.stderr
    assert first.returncode == 0


def _wait_for(process: subprocess.Popen[str], stage: str) -> bool:
    """Whether the run said that it began `stage`; returns at that moment."""
    assert process.stderr is not None
    return any(line.startswith(f"{stage}:") for line in process.stderr)
