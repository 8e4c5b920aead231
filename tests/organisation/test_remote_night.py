"""A project named by its address goes through a whole night, and the shell tells how it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine
from tests.organisation.test_clones import grow

pytestmark = pytest.mark.xdist_group("prefect")


def test_a_cloned_project_is_ingested_once_and_told_apart_from_one_that_cannot_be_reached(
    command_line: CommandLine, tmp_path: Path
) -> None:
    remote = grow(tmp_path / "remote")
    file = tmp_path / "organisation.yaml"
    file.write_text(
        f"name: Remote\nstate_dir: {command_line.state}\nprojects:\n- {{id: shop, repository: 'file://{remote.path}'}}\n",
        encoding="utf-8",
    )
    assert command_line.json("org", "check", "--organisation", file)["wrong"] == {}
    night = command_line.json("org", "ingest", "--organisation", file)
    assert [one["state"] for one in night["projects"]] == ["done"]
    (folder,) = command_line.state.joinpath("clones").glob("shop-*")
    tree = folder / "tree"
    assert list((tree / ".reflect" / "wiki").rglob("*.md"))
    assert not (remote.path / ".reflect" / "wiki").exists()

    status = command_line.json("org", "status", "--organisation", file)
    assert [(one["project"], one["state"]) for one in status["projects"]] == [("shop", "unchanged")]
    remote.commit("feat: more\n\nOrders are kept for ten years because the law says so.", {"b": "1"})
    status = command_line.json("org", "status", "--organisation", file)
    assert [one["state"] for one in status["projects"]] == ["new"]

    remote.path.rename(tmp_path / "gone")
    status = command_line.json("org", "status", "--organisation", file, check=3)
    assert [one["state"] for one in status["projects"]] == ["could not tell"]
    assert list(command_line.json("org", "check", "--organisation", file, check=2)["wrong"]) == ["shop"]
