"""`reflect ingest --publish`, as a process, on a real Prefect server."""

from __future__ import annotations

import pytest

from tests.conftest import CommandLine
from tests.publish.conftest import Shop, git

pytestmark = pytest.mark.xdist_group("prefect")


def test_unpublished_pages_are_tried_again_though_nothing_is_new(shop: Shop, command_line: CommandLine) -> None:
    (shop.root / ".reflect" / ".last_run").unlink()
    gone = shop.remote.rename(shop.remote.parent / "gone.git")
    failed = command_line.json("ingest", "--repo", shop.root, "--publish", "push", check=3)
    assert failed["published"]["outcome"] == "failed"
    gone.rename(shop.remote)
    done = command_line.json("ingest", "--repo", shop.root, "--publish", "push")
    assert (done["nothing_new"], done["published"]["outcome"]) == (True, "pushed")
    assert shop.there() == done["published"]["commit"]
    assert git(shop.root, "status", "--porcelain") == ""
