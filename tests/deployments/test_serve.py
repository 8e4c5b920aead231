"""`make serve` as an operator meets it: one command, then the browser."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page

from examples.sessions import GitRepository
from tests.browser import chromium, keep
from tests.conftest import ROOT, asked
from tests.flows.test_organisation import grow
from tests.flows.test_repository import ask

pytestmark = [pytest.mark.xdist_group("serve"), pytest.mark.timeout(400)]


@dataclass(frozen=True)
class Served:
    """A machine on which `make serve` runs."""

    process: subprocess.Popen[str]
    address: str
    organisation: Path
    environment: dict[str, str]
    said: list[dict[str, Any]]

    @property
    def api(self) -> str:
        return f"{self.address}/api"

    def runs(self, **wanted: Any) -> list[Any]:
        found: list[Any] = ask(self.api, "flow_runs", flow_runs=wanted, sort="START_TIME_DESC")
        return found

    def deployment(self, flow: str, name: str) -> Any:
        address = f"{self.api}/deployments/name/{flow.replace(' ', '%20')}/{name}"
        return asked(address)

    def start(self, deployment: str, **parameters: Any) -> str:
        """Start a run of a deployment; its id."""
        request = urllib.request.Request(
            f"{self.api}/deployments/{deployment}/create_flow_run",
            json.dumps({"parameters": parameters, "state": {"type": "SCHEDULED"}}).encode(),
            {"content-type": "application/json"},
        )
        return str(asked(request)["id"])

    def ended(self, run: str, timeout_s: float = 120) -> Any:
        """The run, once it has come to an end."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            (found,) = self.runs(id={"any_": [run]})
            if found["state_type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED"):
                return found
            time.sleep(0.5)
        raise AssertionError(f"{found['name']} is still {found['state_name']}: {found['state']['message']}")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Three repositories, one of them gone, served by the command; what it notifies of goes to a listener."""
    place = tmp_path_factory.mktemp("serve")
    projects = [
        {"id": name, "repository": str(place / name), "tags": ["harbour"]} for name in ("billing", "infra", "shop")
    ]
    for name in ("billing", "shop"):
        grow(place / name)
    projects[1]["repository"] = "/srv/repositories/infra"  # nowhere, on any machine that runs this
    file = place / "organisation.yaml"
    file.write_text(yaml.safe_dump({"name": "Harbour Goods", "state_dir": str(place / "state"), "projects": projects}))
    with _listener() as (notify, said):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "REFLECT_", "GIT_"))}
        port = _free_port()
        environment = kept | {
            "REFLECT_ORGANISATION": str(file),
            "REFLECT_STATE_DIR": str(place / "state"),
            "REFLECT_NOTIFY_URL": notify,
            "PREFECT_HOME": str(place / "prefect"),
            "PREFECT_SERVER_API_PORT": str(port),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "deployments.serve"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield Served(process, _where_it_is(process), file, environment, said)
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
            assert process.stdout is not None
            process.stdout.close()
    with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.1", port), timeout=2):
        pass


@pytest.fixture(scope="module")
def page(served: Served) -> Iterator[Page]:
    with chromium() as browser:
        opened = browser.new_page(viewport={"width": 1200, "height": 760})
        opened.set_default_timeout(30_000)
        yield opened


def test_every_deployment_is_there(served: Served, page: Page) -> None:
    page.goto(f"{served.address}/deployments")
    for name in ("nightly", "project", "lint-and-report", "synthesis"):
        page.get_by_text(name, exact=True).first.wait_for()
    keep(page, "deployments")


def test_one_project_is_ingested_from_its_form(served: Served, page: Page) -> None:
    deployment = served.deployment("ingest project", "project")["id"]
    page.goto(f"{served.address}/deployments/deployment/{deployment}/run")
    page.get_by_text("The project's id in the organisation file.").wait_for()
    page.locator("textarea").first.fill("shop")
    keep(page, "form")
    page.get_by_role("button", name=re.compile("Submit|Run")).last.click()
    end = time.monotonic() + 60
    while not (found := served.runs(deployment_id={"any_": [deployment]})) and time.monotonic() < end:
        time.sleep(0.5)
    run = served.ended(found[0]["id"])
    assert (run["name"].split("@")[0], run["state_name"]) == ("ingest · shop", "Completed")
    assert (served.organisation.parent / "shop/.reflect/wiki/index.md").exists()
    page.goto(f"{served.address}/runs/flow-run/{run['id']}")
    page.get_by_text("ingest · shop").first.wait_for()
    keep(page, "project")


def test_a_project_that_does_not_exist_is_refused_with_a_reason(served: Served) -> None:
    run = served.ended(served.start(served.deployment("ingest project", "project")["id"], project="shp"))
    assert run["state_name"] == "Failed"
    assert "has no project 'shp'" in run["state"]["message"] and "billing" in run["state"]["message"]


def test_a_night_with_a_broken_repository_tells_what_failed_and_notifies(served: Served, page: Page) -> None:
    run = served.ended(served.start(served.deployment("ingest organisation", "nightly")["id"]))
    assert (run["name"], run["state_name"]) == ("night · Harbour Goods", "PartlyDone")
    assert run["state"]["message"] in (
        "1 done, 1 unchanged, 1 failed; failed: infra",
        "2 done, 1 failed; failed: infra",
    )
    page.goto(f"{served.address}/runs/flow-run/{run['id']}")
    page.get_by_text("PartlyDone").first.wait_for()
    page.get_by_text("ingest · infra").first.wait_for()
    keep(page, "night")
    artifacts = ask(served.api, "artifacts", artifacts={"flow_run_id": {"any_": [run["id"]]}})
    report = next(one for one in artifacts if one["key"] == "night-harbour-goods")
    page.goto(f"{served.address}/artifacts/artifact/{report['id']}")
    page.get_by_text("there is no repository of infra to read").first.wait_for(state="visible")
    keep(page, "report")
    plan = next(one for one in artifacts if one["key"] == "plan-billing")
    page.goto(f"{served.address}/artifacts/artifact/{plan['id']}")
    page.get_by_text("met", exact=True).first.wait_for()
    keep(page, "plan")
    end = time.monotonic() + 30
    while not any("night · Harbour Goods" in one["text"] for one in served.said) and time.monotonic() < end:
        time.sleep(0.5)
    (told,) = [one["text"] for one in served.said if "night · Harbour Goods" in one["text"]]
    assert "is PartlyDone" in told and "failed: infra" in told


def test_a_second_nightly_run_beside_one_is_cancelled(served: Served) -> None:
    nightly = served.deployment("ingest organisation", "nightly")["id"]
    both = [served.start(nightly), served.start(nightly)]
    states = sorted(served.ended(run)["state_name"] for run in both)
    assert states == ["Cancelled", "PartlyDone"]


def test_hazard_135_a_run_whose_process_is_killed_is_told_and_the_next_one_does_the_work(served: Served) -> None:
    shop = served.organisation.parent / "shop"
    GitRepository(shop).commit("fix: round once\n\nRounding twice lost a cent.", {"shop.py": "a = 3\n"})
    deployment = served.deployment("ingest project", "project")["id"]
    run = served.start(deployment, project="shop")
    os.kill(_process_of(run), signal.SIGKILL)
    assert served.ended(run)["state_name"] == "Crashed"
    again = served.ended(served.start(deployment, project="shop"))
    assert again["state_name"] == "Completed"
    log = (shop / ".reflect/wiki/log.md").read_text(encoding="utf-8")
    runs = re.findall(r"\b[0-9a-f]{12}\b", log)
    assert len(runs) == len(set(runs))


def _process_of(run: str) -> int:
    """The process that works on a run, by the variable that the worker starts it with."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"PREFECT__FLOW_RUN_ID={run}".encode() in entry.read_bytes():
                    return int(entry.parent.name)
            except OSError:
                continue
        time.sleep(0.05)
    raise AssertionError(f"no process works on {run}")


def _where_it_is(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    heard = []
    for line in process.stdout:
        heard.append(line)
        if found := re.search(r"The UI is at (http://\S+)", line):
            return found[1]
    raise AssertionError("".join(heard))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class _listener:
    """Something on loopback that takes notifications, like a chat service does."""

    def __enter__(self) -> tuple[str, list[dict[str, Any]]]:
        said: list[dict[str, Any]] = []

        class Taken(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                said.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *arguments: Any) -> None:
                return

        self._server = HTTPServer(("127.0.0.1", 0), Taken)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/", said

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
