"""What Prefect adds to a night, against the cheapest pattern with as many empty tasks, on a server of its own in the
same run; and with `--large` 500 projects of six stages on a SQLite server, and whether the parent's memory stays flat.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from benchmarks.orchestration import server
from examples.sessions import GitRepository

PROJECTS = 50
LARGE = 500
AT_ONCE = 4
ROUNDS = 3
_LARGE = "large night"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures; `--large` adds those that take minutes."""
    chosen = sys.argv[1:] if arguments is None else arguments
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as address:
        os.environ |= {
            "PREFECT_API_URL": address,
            "PREFECT_HOME": f"{folder}/prefect",
            "PREFECT_FLOWS": '{"heartbeat_frequency": null}',
            "PREFECT_LOGGING_LEVEL": "CRITICAL",
            "DO_NOT_TRACK": "1",
        }
        _night_against_plain(Path(folder))
        if "--large" in chosen:
            _many_projects(address)


def _night_against_plain(place: Path) -> None:
    from benchmarks.plain import ingest_without_prefect
    from benchmarks.plain_night import night_without_prefect
    from flows.organisation import ingest_organisation
    from reflect.organisation.estate import Estate
    from tasks.organisation import PROBES

    repositories = [_repository(place / "repositories" / f"p{number:02}") for number in range(PROJECTS)]
    estate = Estate.load(_described(place, repositories))
    with estate.opened(estate.projects[0]) as workspace:
        tasks = ingest_without_prefect(workspace).tasks
    _forget(place, repositories)
    ingest_organisation(estate.file, estate.projects[:1])  # the first night of a process imports and connects
    patterns = {
        "plain": lambda: night_without_prefect(estate, AT_ONCE, PROBES),
        "night": lambda: ingest_organisation(estate.file),
        "empty": lambda: _empty_nested(PROJECTS, tasks),
    }
    taken: dict[str, list[_Spent]] = {name: [] for name in patterns}
    for _ in range(ROUNDS):
        for name, pattern in patterns.items():
            _forget(place, repositories)
            taken[name].append(_spent(pattern))
    plain, night, empty = (_least(taken[name]) for name in patterns)
    print(f"\na night of {PROJECTS} projects, {tasks} tasks each, {AT_ONCE} at once, best of {ROUNDS}, per project")
    print("                                        wall   processor of this process")
    print(f"  the same night without Prefect     {plain}")
    print(f"  the night                          {night}")
    print(f"  as many empty tasks, nested        {empty}")
    print(f"  added against empty                {(night.wall - plain.wall) / empty.wall:7.2f} (at most 1.5)")


@dataclass(frozen=True)
class _Spent:
    """Seconds."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall / PROJECTS * 1000:7.0f} ms {self.processor / PROJECTS * 1000:7.0f} ms"


def _spent(work: Callable[[], object]) -> _Spent:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return _Spent(time.perf_counter() - wall, time.process_time() - processor)


def _least(rounds: Sequence[_Spent]) -> _Spent:
    """The least of each: what other work of the machine adds is no part of it."""
    return _Spent(min(one.wall for one in rounds), min(one.processor for one in rounds))


def _many_projects(address: str) -> None:
    before = _peak_mb()
    _empty_nested(50, 6, _LARGE)
    small = _peak_mb()
    seconds = _spent(lambda: _empty_nested(LARGE, 6, _LARGE)).wall
    recorded = _recorded(address, (LARGE + 50) * 7)
    print(f"\n{LARGE} projects of six stages on a SQLite server")
    print(f"  taken                              {seconds:7.1f} s")
    print(f"  task runs recorded                 {recorded:7} (all of them)")
    print(f"  memory: before, after 50, after {LARGE} {before:.0f}, {small:.0f}, {_peak_mb():.0f} MB")


def _empty_nested(projects: int, tasks: int, name: str = "empty night") -> None:
    """The cheapest pattern there is: a task per project with its stages nested, in threads of our own."""
    from prefect import flow, task
    from prefect.cache_policies import NO_CACHE

    from tasks.parallel import over

    @task(cache_policy=NO_CACHE)
    def stage(number: int) -> int:
        return number

    @task(cache_policy=NO_CACHE)
    def project(number: int) -> int:
        return sum(stage(one) for one in range(tasks))

    @flow(name=name)
    def night() -> None:
        failed = [done.error for done in over(range(projects), project, AT_ONCE) if done.error]
        if failed:
            raise failed[0]

    night()


def _recorded(address: str, expected: int) -> int:
    """How many task runs of empty nights the server has written down, once it has written all of them."""
    count = 0
    for _ in range(240):
        asked = json.dumps({"flows": {"name": {"any_": [_LARGE]}}, "sort": "ID_DESC"}).encode()
        request = urllib.request.Request(f"{address}/task_runs/count", asked, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            count = int(json.load(answer))
        if count >= expected:
            return count
        time.sleep(0.5)
    raise AssertionError(f"{count} of {expected} task runs were written down")


def _repository(path: Path) -> Path:
    made = GitRepository.create(path)
    for number, why in enumerate(
        ("Floats lose cents, so amounts are integers.", "An empty order was billed by mistake.")
    ):
        made.commit(f"fix: change {number} of {path.name}\n\n{why}", {"shop.py": f"a = {number}\n"})
    return path


def _described(place: Path, repositories: Sequence[Path]) -> Path:
    file = place / "organisation.yaml"
    projects = [{"id": path.name, "repository": str(path)} for path in repositories]
    nightly = {"at_once": AT_ONCE}
    described = {"name": "benchmark", "state_dir": f"{place}/state", "nightly": nightly, "projects": projects}
    file.write_text(yaml.safe_dump(described), encoding="utf-8")
    return file


def _forget(place: Path, repositories: Sequence[Path]) -> None:
    shutil.rmtree(place / "state", ignore_errors=True)
    for repository in repositories:
        shutil.rmtree(repository / ".reflect", ignore_errors=True)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
