"""The files that start reflect: what they name exists, and what must hold of them does."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

DEPLOYED: dict[str, Any] = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
DEPLOYMENTS = {one["name"]: one for one in DEPLOYED["deployments"]}
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_deployment_says_what_it_does_and_its_flow_exists(name: str) -> None:
    one = DEPLOYMENTS[name]
    file, function = one["entrypoint"].split(":")
    assert re.search(rf"^def {function}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(one["description"]) > 40 and "reflect" in one["tags"]
    assert one["work_pool"]["name"] == "reflect" and one["enforce_parameter_schema"]
    assert f"`{name}`" in OPERATIONS or f"*{name}*" in OPERATIONS


def test_nights_do_not_overlap() -> None:
    limit = DEPLOYMENTS["nightly"]["concurrency_limit"]
    assert limit["limit"] == 1 and limit["collision_strategy"] in ("CANCEL_NEW", "ENQUEUE")


def test_hazard_132_no_night_is_due_in_an_hour_that_comes_twice() -> None:
    (schedule,) = DEPLOYMENTS["nightly"]["schedules"]
    hour = int(schedule["cron"].split()[1])
    assert schedule["timezone"] and schedule["slug"] and hour > 3


def test_the_deployment_that_a_night_starts_is_the_one_that_is_registered() -> None:
    fan_out = (ROOT / "flows" / "fan_out.py").read_text(encoding="utf-8")
    organisation = (ROOT / "flows" / "organisation.py").read_text(encoding="utf-8")
    flow, name = re.findall(r'^DEPLOYMENT = "(.+)/(.+)"$', fan_out, re.MULTILINE)[0]
    function = DEPLOYMENTS[name]["entrypoint"].split(":")[1]
    assert re.search(rf'@flow\(name="{flow}".*\)\ndef {function}\(', organisation)


def test_hazard_136_the_watch_over_heartbeats_knows_every_state_a_run_can_end_in() -> None:
    automations = yaml.safe_load((ROOT / "deployments" / "automations.yaml").read_text(encoding="utf-8"))["automations"]
    (watch,) = (one["trigger"] for one in automations if one["trigger"].get("posture") == "Proactive")
    night = (ROOT / "tasks" / "night.py").read_text(encoding="utf-8")
    named = set(re.findall(r'ProjectState\.\w+: "(\w+)"', night)) | set(re.findall(r'name="(\w+)", message', night))
    assert named
    assert {f"prefect.flow-run.{name}" for name in named} <= set(watch["expect"])


@pytest.mark.parametrize("unit", ["reflect-server", "reflect-worker"])
def test_units_name_files_that_exist(unit: str) -> None:
    text = (ROOT / "deployments" / "systemd" / f"{unit}.service").read_text(encoding="utf-8")
    for path in re.findall(r"/opt/reflect/(deployments/\S+)", text):
        assert (ROOT / path).exists()


def test_the_compose_file_names_files_that_exist_and_no_password() -> None:
    folder = ROOT / "deployments"
    services = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert {"postgresql", "server", "register", "worker"} <= services.keys()
    assert (folder / services["server"]["env_file"][0]).exists()
    assert (ROOT / services["worker"]["build"]["dockerfile"]).exists()
    assert "${REFLECT_DB_PASSWORD" in services["postgresql"]["environment"]["POSTGRES_PASSWORD"]


def test_every_variable_of_the_scripts_is_documented() -> None:
    scripts = [path.read_text(encoding="utf-8") for path in (ROOT / "deployments").rglob("*") if path.is_file()]
    named = {name for text in scripts for name in re.findall(r"\bREFLECT_[A-Z_]+\b", text)}
    documents = OPERATIONS + (ROOT / "README.md").read_text(encoding="utf-8")
    documents += (ROOT / "deployments" / "compose.yaml").read_text(encoding="utf-8").split("\nname:")[0]
    assert {name for name in named if name not in documents} == set()
