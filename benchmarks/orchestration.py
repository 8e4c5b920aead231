"""What Prefect adds to a run, against an empty flow with as many tasks, on a server of its own; and how fast
"nothing new" is answered, against `git for-each-ref` and Python's start.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.timing import in_turns
from examples.organisation import build

ROUNDS = 5

_SERVER = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both figures. Takes no arguments."""
    with tempfile.TemporaryDirectory() as place, server(Path(place)) as address:
        os.environ |= {
            "PREFECT_API_URL": address,
            "PREFECT_HOME": f"{place}/prefect",
            "PREFECT_FLOWS": '{"heartbeat_frequency": null}',
            "PREFECT_LOGGING_LEVEL": "CRITICAL",
            "REFLECT_STATE_DIR": f"{place}/state",
            "DO_NOT_TRACK": "1",
        }
        repository = build(Path(place) / "organisation")[0]
        _overhead(Path(place), repository)
        _nothing_new(repository)


def _overhead(place: Path, repository: Path) -> None:
    from prefect import flow, task
    from prefect.cache_policies import NO_CACHE

    from benchmarks.plain import ingest_without_prefect
    from flows.repository import ingest_repository
    from reflect.workspace import Workspace

    @task(cache_policy=NO_CACHE)
    def nothing(number: int) -> int:
        return number

    @flow
    def empty(tasks: int) -> None:
        for number in range(tasks):
            nothing(number)

    def fresh() -> None:
        shutil.rmtree(repository / ".reflect", ignore_errors=True)
        shutil.rmtree(place / "state", ignore_errors=True)

    named = ingest_repository.with_options(flow_run_name="benchmark")
    named(repository)
    fresh()
    tasks = ingest_without_prefect(Workspace.open(repository)).tasks
    runs: dict[str, Callable[[], object]] = {
        "plain": lambda: ingest_without_prefect(Workspace.open(repository)),
        "flow": lambda: named(repository),
        "empty": lambda: empty(tasks),
    }
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            fresh()
            start = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - start)
    plain, whole, bare = (statistics.median(taken[name]) for name in ("plain", "flow", "empty"))
    print(f"\nwhat Prefect adds, one repository, {tasks} tasks, median of {ROUNDS} rounds")
    print(f"  stages without Prefect      {plain * 1000:7.0f} ms")
    print(f"  the same as a flow run      {whole * 1000:7.0f} ms")
    print(f"  an empty flow, as many tasks{bare * 1000:7.0f} ms")
    print(f"  added against empty         {(whole - plain) / bare:7.2f} (at most 1.2)")


def _nothing_new(repository: Path) -> None:
    reflect = Path(sys.executable).parent / "reflect"
    subprocess.run([reflect, "ingest", "--repo", repository], check=True, capture_output=True)
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "git": ["git", "-C", str(repository), "for-each-ref"],
        "reflect": [str(reflect), "ingest", "--json", "--repo", str(repository)],
    }
    timed = in_turns(commands, rounds=30)
    floor = timed["python"].median + timed["git"].median
    print("\na run with nothing new, median of 30 rounds")
    print(f"  git for-each-ref + python -c pass{floor * 1000:6.1f} ms")
    print(f"  reflect ingest                   {timed['reflect'].median * 1000:6.1f} ms")
    print(f"  ratio                            {timed['reflect'].median / floor:6.2f} (at most 3)")


@contextmanager
def server(place: Path, port: int | None = None) -> Iterator[str]:
    """A Prefect server of its own with its database below `place`; the address of its API."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = port or probe.getsockname()[1]
    environment = {**os.environ, **_SERVER, "PREFECT_HOME": str(place / "server")}
    environment |= {"PREFECT_SERVER_API_HOST": "127.0.0.1", "PREFECT_SERVER_API_PORT": str(port)}
    command = [sys.executable, "-m", "prefect", "server", "start", "--no-ui"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/api/health")
            yield f"http://127.0.0.1:{port}/api"
        finally:
            server.terminate()


def _wait(address: str) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise TimeoutError(f"no Prefect server at {address}")


if __name__ == "__main__":
    main()
