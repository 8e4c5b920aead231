"""`make serve`: Prefect server, work pool, deployments, automations and a worker on this machine, until Ctrl-C.

The organisation is the one in REFLECT_ORGANISATION; without it a sample organisation is built below `demo/serve`, with
all state beside it, so that nothing of the user's is read or changed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from deployments.sample import sample_organisation
from reflect.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
POOL = "reflect"
WORKER_SLOTS = 4
"""A night waits for its projects while it holds a slot itself, so there are never fewer than two."""

START_S = 180.0


class Stopped(Exception):
    """Somebody asked for the end, or a part ended by itself."""


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        with ExitStack() as parts:
            _serve(parts, environment(os.environ))
    except Stopped as stopped:
        print(f"reflect: {stopped}", file=sys.stderr, flush=True)
        return 1 if stopped.__cause__ is not None else 0
    return 0


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """The environment of every part: this machine's, completed by what the parts must agree on."""
    port = own.get("PREFECT_SERVER_API_PORT", "4200")
    found = {
        **server_settings(),
        **own,
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
        "PREFECT_SERVER_API_PORT": port,
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_WORKER_QUERY_SECONDS": own.get("PREFECT_WORKER_QUERY_SECONDS", "2"),
        "REFLECT_CHECKOUT": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }
    if not own.get("REFLECT_ORGANISATION"):
        found |= sample_organisation(Path(own.get("REFLECT_SAMPLE") or ROOT / "demo" / "serve"))
    state = Path(found.get("REFLECT_STATE_DIR") or Settings.of_environment().state)
    found.setdefault("PREFECT_HOME", str(state / "prefect"))
    return found


def _serve(parts: ExitStack, environment: Mapping[str, str]) -> None:
    address = environment["PREFECT_API_URL"].removesuffix("/api")
    logs = Path(environment["PREFECT_HOME"])
    logs.mkdir(parents=True, exist_ok=True)
    _say(f"Starting the Prefect server (the first time it makes its database, which takes some 20 s); logs: {logs}")
    server = parts.enter_context(part("server", ["server", "start"], environment, logs))
    _wait(f"{address}/api/health", server)
    for command in (
        ["prefect", "work-pool", "create", POOL, "--type", "process", "--overwrite"],
        ["prefect", "deploy", "--all", "--no-prompt"],
        ["deployments.automations"],
        ["deployments.sweep", "0"],
    ):
        _run(command, environment, logs)
    start = ["worker", "start", "--pool", POOL, "--limit", str(WORKER_SLOTS), "--install-policy", "never"]
    worker = parts.enter_context(part("worker", start, environment, logs))
    _say(f"The UI is at {address} (organisation: {environment['REFLECT_ORGANISATION']}). Ctrl-C stops everything.")
    while True:
        for name, process in (("server", server), ("worker", worker)):
            if process.poll() is not None:
                raise Stopped(f"the {name} ended with {process.returncode}; its log is in {logs}.") from OSError(name)
        time.sleep(0.5)


def _run(command: list[str], environment: Mapping[str, str], logs: Path) -> None:
    with (logs / "serve.log").open("ab") as log:
        done = subprocess.run(
            [sys.executable, "-m", *command], env=environment, cwd=ROOT, stdout=log, stderr=log, check=False
        )
    if done.returncode:
        failed = f"`{' '.join(command)}` failed with {done.returncode}; what it said is in {log.name}."
        raise Stopped(failed) from OSError(command[0])


@contextmanager
def part(
    name: str, command: list[str], environment: Mapping[str, str], logs: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A part that runs as long as the body, in a process group of its own: Ctrl-C reaches it through us, in order."""
    with (logs / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", *command],
            env=environment,
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            end(process)


def end(process: subprocess.Popen[bytes], patience_s: float = 20) -> None:
    """Ask the leader of a process group to end, and kill the whole group where it does not."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            raise Stopped("the Prefect server ended before it answered; is its port taken?") from OSError("server")
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise Stopped(f"the Prefect server did not answer within {START_S:g} s.") from TimeoutError(address)


def server_settings() -> dict[str, str]:
    """What `server.env` says."""
    lines = (Path(__file__).parent / "server.env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped("stopping.")


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
