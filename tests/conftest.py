"""What several rooms' tests need: the sample repository where it is there, a real Prefect server, the command line."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT.parent / "shared" / "data" / "sample-repository.bundle"

_QUIET_PREFECT = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}


@pytest.fixture(scope="session")
def sample_bundle() -> Path:
    """The bundle of a real repository; the tests that need it are skipped where it is not at hand."""
    if not SAMPLE.exists():
        pytest.skip("the sample repository is not beside this checkout")
    return SAMPLE


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API address of a real Prefect server on loopback."""
    home = tmp_path_factory.mktemp("prefect")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, **_QUIET_PREFECT, "PREFECT_HOME": str(home)}
    environment |= {"PREFECT_SERVER_API_HOST": "127.0.0.1", "PREFECT_SERVER_API_PORT": str(port)}
    log = (home / "server.log").open("wb")
    server = subprocess.Popen(
        [sys.executable, "-m", "prefect", "server", "start", "--no-ui"], env=environment, stdout=log, stderr=log
    )
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}/api/health", server)
        yield f"http://127.0.0.1:{port}/api"
    finally:
        server.terminate()
        server.wait(30)
        log.close()


@dataclass(frozen=True)
class CommandLine:
    """`reflect` as a person runs it: a process of its own, with a state folder of its own."""

    state: Path
    environment: dict[str, str]
    command: tuple[str, ...] = (sys.executable, "-m", "reflect.cli.main")

    def __call__(self, *arguments: str | Path, check: int | None = 0) -> subprocess.CompletedProcess[str]:
        command = [*self.command, *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=self.environment, cwd=ROOT, timeout=240, check=False
        )
        if check is not None:
            assert done.returncode == check, f"{arguments} left with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: str | Path, check: int | None = 0) -> Any:
        return json.loads(self(*arguments, "--json", check=check).stdout)

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        command = [*self.command, *map(str, arguments)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, cwd=ROOT
        )


@pytest.fixture
def command_line(tmp_path: Path, prefect_server: str) -> CommandLine:
    return command_line_in(tmp_path / "state", prefect_server)


def command_line_in(state: Path, server: str | None) -> CommandLine:
    """The command line with everything it keeps below `state`, on the Prefect server at `server` where one is given."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "REFLECT_", "GIT_"))},
        "REFLECT_STATE_DIR": str(state),
        "PREFECT_HOME": str(state / "prefect"),
        "SOURCE_DATE_EPOCH": "1790000000",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    if server is not None:
        environment["PREFECT_API_URL"] = server
    return CommandLine(state, environment)


def clone_sample(bundle: Path, target: Path) -> Path:
    subprocess.run(["git", "clone", "-q", str(bundle), str(target)], check=True, capture_output=True)
    return target


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes], timeout_s: float = 120) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"the Prefect server stopped with {server.returncode} before it answered")
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise TimeoutError(f"the Prefect server did not answer at {address} within {timeout_s} s")


def asked(request: str | urllib.request.Request, patience_s: float = 20) -> Any:
    """The JSON that a Prefect server answers with. It says 503 while its database is busy: then it is asked again."""
    end = time.monotonic() + patience_s
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503 or time.monotonic() > end:
                raise
            error.close()
            time.sleep(0.5)
