"""Many machines: two workers and two nights at once over the same projects, everything on one PostgreSQL."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import yaml

from deployments.serve import part, server_settings
from tests.conftest import ROOT, _wait_until_healthy, command_line_in
from tests.flows.test_organisation import grow, states, wiki
from tests.ledger.conftest import postgresql

__all__ = ["postgresql"]

pytestmark = [pytest.mark.xdist_group("serve"), pytest.mark.timeout(400)]

PROJECTS = int(os.environ.get("REFLECT_PROJECTS", "3"))
"""`REFLECT_PROJECTS=20` asks for as many as an organisation has; each is a process, so that takes minutes."""


def test_two_workers_and_two_nights_make_the_wikis_of_a_single_run(postgresql: str, tmp_path: Path) -> None:
    names = [f"p{number:02}" for number in range(PROJECTS)]
    for name in names:
        grow(tmp_path / "shared" / name)
    shutil.copytree(tmp_path / "shared", tmp_path / "alone", symlinks=True)
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(b"CREATE DATABASE prefect")
        connection.execute(b"CREATE DATABASE ledger")
    ledger = postgresql.replace("/postgres?", "/ledger?")
    command_line = command_line_in(tmp_path / "state", None)
    environment = command_line.environment | {"REFLECT_CHECKOUT": str(ROOT)}
    with _server(postgresql, environment, tmp_path) as api, ExitStack() as workers:
        environment["PREFECT_API_URL"] = command_line.environment["PREFECT_API_URL"] = api
        subprocess.run(["sh", "deployments/register.sh"], cwd=ROOT, env=_with_python(environment), check=True)
        for number in (1, 2):
            workers.enter_context(_worker(number, environment, tmp_path))
        nightly = {"fan_out": "deployments", "overlap": "share", "at_once": 2}
        file = _described(tmp_path, "shared", names, {"ledger": ledger, "nightly": nightly})
        nights = [command_line.start("org", "ingest", "--json", "--organisation", file) for _ in range(2)]
        ended = [night.communicate(timeout=360) for night in nights]
        assert [night.returncode for night in nights] == [0, 0], ended
        told = [states(json.loads(out)) for out, _ in ended]
        for name in names:
            assert "done" in {one[name] for one in told}, told
        single = _described(tmp_path, "alone", names, {"state_dir": str(tmp_path / "single")})
        command_line.json("org", "ingest", "--organisation", single)
    for name in names:
        assert wiki(tmp_path / "shared" / name) == wiki(tmp_path / "alone" / name)


def _described(place: Path, folder: str, names: list[str], more: dict[str, object]) -> Path:
    file = place / f"{folder}.yaml"
    projects = [{"id": name, "repository": str(place / folder / name)} for name in names]
    file.write_text(yaml.safe_dump({"name": folder, "projects": projects, **more}), encoding="utf-8")
    return file


@contextmanager
def _server(postgresql: str, environment: dict[str, str], place: Path) -> Iterator[str]:
    """A Prefect server on PostgreSQL; the address of its API."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = postgresql.replace("postgresql://", "postgresql+asyncpg://").replace("/postgres?", "/prefect?")
    own = (
        environment
        | server_settings()
        | {
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": address,
            "PREFECT_SERVER_API_HOST": "127.0.0.1",
            "PREFECT_SERVER_API_PORT": str(port),
            "PREFECT_HOME": str(place / "server"),
        }
    )
    with part("server", ["server", "start", "--no-ui"], own, place) as server:
        _wait_until_healthy(f"http://127.0.0.1:{port}/api/health", server)
        yield f"http://127.0.0.1:{port}/api"


@contextmanager
def _worker(number: int, environment: dict[str, str], place: Path) -> Iterator[None]:
    command = ["worker", "start", "--pool", "reflect", "--limit", "2", "--name", f"w{number}", "--install-policy"]
    own = environment | {"PREFECT_HOME": str(place / f"worker-{number}"), "PREFECT_WORKER_QUERY_SECONDS": "1"}
    with part(f"worker-{number}", [*command, "never"], own, place):
        yield


def _with_python(environment: dict[str, str]) -> dict[str, str]:
    """The environment with this interpreter's `python` first on the path, as an activated one has."""
    return environment | {"PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}
