"""Repositories that a forge lists, against a local server that speaks the forges' APIs."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from reflect.errors import ConfigurationError
from reflect.organisation import listing
from reflect.organisation.file import Organisation, load_organisation
from reflect.settings import Settings
from tests.forge import TOKEN, Fault, LocalForge, local_forge


@pytest.fixture
def forge() -> Iterator[LocalForge]:
    with local_forge() as forge:
        yield forge


def on_github(name: str, **more: Any) -> dict[str, Any]:
    address = f"https://forge.example/harbour/{name}.git"
    return {"name": name, "clone_url": address, "ssh_url": f"git@forge.example:harbour/{name}.git", **more}


def on_gitlab(path: str, **more: Any) -> dict[str, Any]:
    address = f"https://forge.example/harbour/goods/{path}.git"
    return {"path_with_namespace": f"harbour/goods/{path}", "http_url_to_repo": address, "ssh_url_to_repo": "", **more}


def load(place: Path, forge: LocalForge, token: str = TOKEN, **discovery: Any) -> Organisation:
    kind = discovery.pop("kind", "github")
    more: dict[str, Any] = {key: discovery.pop(key) for key in ("over", "forks") if key in discovery}
    organisation = {"github": "harbour", "gitlab": "harbour/goods"}[kind]
    one: dict[str, Any] = {"forge": kind, "organisation": organisation, "api_url": f"{forge.address}/{kind}", **more}
    projects = discovery.pop("projects", [])
    file = place / "organisation.yaml"
    written = {"name": "harbour", "discovery": {"forges": [one], **discovery}, "projects": projects}
    file.write_text(yaml.safe_dump(written), encoding="utf-8")
    return load_organisation(file, Settings(state_dir=place / "state", forge_token=SecretStr(token)))


def ids(organisation: Organisation) -> list[str]:
    return [one.id for one in organisation.projects]


@pytest.mark.parametrize("says_next", ["link", "x-next-page", "nothing"])
@pytest.mark.parametrize(("kind", "row"), [("github", on_github), ("gitlab", on_gitlab)])
def test_every_page_is_read_however_a_forge_tells_of_the_next(
    tmp_path: Path, forge: LocalForge, says_next: str, kind: str, row: Any
) -> None:
    forge.says_next, forge.repositories = says_next, [row(f"r{number:03}") for number in range(250)]
    found = load(tmp_path, forge, kind=kind)
    assert ids(found) == [f"r{number:03}" for number in range(250)]
    assert found.projects[0].is_remote and len(forge.asked) == 3


def test_what_is_no_project_is_left_out_with_the_reason(tmp_path: Path, forge: LocalForge) -> None:
    forge.repositories = [
        on_github("shop"),
        on_github("old", archived=True),
        on_github("gone", disabled=True),
        on_github("theirs", fork=True),
        on_github("odd") | {"clone_url": "file:///etc"},
    ]
    assert ids(load(tmp_path, forge)) == ["shop"]
    assert ids(load(tmp_path, forge, forks=True)) == ["shop", "theirs"]
    discovery = load(tmp_path, forge).discovery
    assert discovery is not None
    assert discovery.left_out(Settings(state_dir=tmp_path / "state")) == {
        "gone": "disabled",
        "odd": "without an address that can be cloned",
        "old": "archived",
        "theirs": "a fork",
    }


def test_an_empty_and_a_doomed_repository_of_gitlab_are_left_out(tmp_path: Path, forge: LocalForge) -> None:
    forge.repositories = [
        on_gitlab("team/shop"),
        on_gitlab("new", empty_repo=True),
        on_gitlab("doomed", marked_for_deletion_at="2026-12-24"),
        on_gitlab("hidden", repository_access_level="disabled"),
    ]
    assert ids(load(tmp_path, forge, kind="gitlab")) == ["shop"]


def test_patterns_choose_by_name_and_what_is_found_is_published_as_told(tmp_path: Path, forge: LocalForge) -> None:
    forge.repositories = [on_gitlab(path) for path in ("team/shop", "team/billing", "labs/toy", "team/shop-archive")]
    publish = {"mode": "pull-request", "labels": ["wiki"]}
    found = load(
        tmp_path, forge, kind="gitlab", include=["team/*"], exclude=["*-archive"], publish=publish, tags=["goods"]
    )
    assert ids(found) == ["billing", "shop"]
    assert {(one.publish.mode, one.publish.labels, one.tags) for one in found.projects} == {
        ("pull-request", ("wiki",), ("goods",))
    }


def test_an_id_that_is_taken_or_kept_is_told_apart_and_a_listed_repository_is_not_found_again(
    tmp_path: Path, forge: LocalForge
) -> None:
    forge.repositories = [on_gitlab(path) for path in ("a/api", "b/api", "shop", "organisation", "billing")]
    listed = [
        {"id": "shop", "repository": "https://forge.example/other/shop.git"},
        {"id": "money", "repository": "https://forge.example/harbour/goods/billing"},
    ]
    found = ids(load(tmp_path, forge, kind="gitlab", projects=listed))
    assert found[:2] == ["shop", "money"]
    assert [one.rpartition("-")[0] for one in found[2:]] == ["api", "api", "organisation", "shop"]
    assert len(set(found)) == 6


@pytest.mark.parametrize(
    "fault",
    [
        Fault("GET", 500),
        Fault("GET", 0),
        Fault("GET", 403, {"X-RateLimit-Remaining": "0"}),
        Fault("GET", 429, {"Retry-After": "3600"}),
        Fault("GET", 200, body="[1]"),
        Fault("GET", 200, body="{}"),
        Fault("GET", 302, {"Location": "http://elsewhere.example/"}),
    ],
    ids=lambda fault: f"{fault.status}{fault.body[:3] if fault.status == 200 else ''}",
)
def test_a_forge_that_gives_no_answer_refuses_the_first_load_and_no_later_one(
    tmp_path: Path, forge: LocalForge, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    forge.repositories, forge.faults = [on_github("shop")], [fault]
    with pytest.raises(ConfigurationError, match=r"discovery\.forges: The repositories of harbour could not be listed"):
        load(tmp_path, forge)
    assert ids(load(tmp_path, forge)) == ["shop"]
    (kept,) = (tmp_path / "state" / "discovery").iterdir()
    os.utime(kept, (0, 0))
    forge.faults.append(fault)
    with caplog.at_level(logging.WARNING):
        assert ids(load(tmp_path, forge)) == ["shop"]
    assert "its last list of repositories is used" in caplog.text
    assert TOKEN not in caplog.text


def test_one_answer_serves_every_run_of_a_night(tmp_path: Path, forge: LocalForge) -> None:
    forge.repositories = [on_github("shop")]
    load(tmp_path, forge)
    forge.repositories.append(on_github("new"))
    assert ids(load(tmp_path, forge)) == ["shop"] and len(forge.asked) == 1
    (kept,) = (tmp_path / "state" / "discovery").iterdir()
    os.utime(kept, (kept.stat().st_mtime - listing.FRESH_S - 1,) * 2)
    assert ids(load(tmp_path, forge)) == ["new", "shop"]


def test_a_refused_token_is_told_and_stands_nowhere(tmp_path: Path, forge: LocalForge) -> None:
    with pytest.raises(ConfigurationError, match="refused with 401: Bad credentials") as raised:
        load(tmp_path, forge, token="wrong-token-of-ours")
    assert "wrong-token-of-ours" not in str(raised.value)
    assert not (tmp_path / "state").exists()


def test_what_is_wrong_with_a_listing_is_told_with_everything_else(tmp_path: Path) -> None:
    file = tmp_path / "organisation.yaml"
    file.write_text(
        "name: harbour\nengin: x\ndiscovery:\n  forges:\n"
        "    - {forge: github, organisation: harbour, api_url: 'http://forge.example/api'}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigurationError) as raised:
        load_organisation(file, Settings(state_dir=tmp_path / "state"))
    assert ":2: engin: no such setting" in str(raised.value)
    assert ":5: discovery.forges[0].api_url:" in str(raised.value) and "use https" in str(raised.value)
