"""The sample organisation's shop, with one night behind it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.plain import ingest_without_prefect
from examples import storefront
from reflect.settings import Settings
from reflect.workspace import Workspace

LATER = 1_790_000_000
"""September 2026, half a year after the shop's last session."""


@pytest.fixture(scope="package")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the repository `storefront` and its state; copy it before you change anything."""
    folder = tmp_path_factory.mktemp("shop")
    storefront.first_night(folder / "storefront")
    ingest_without_prefect(workspace_in(folder))
    return folder


@pytest.fixture
def shop(ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A copy of the shop that the test may change."""
    folder = tmp_path / "copy"
    shutil.copytree(ingested, folder, symlinks=True)
    monkeypatch.setenv("REFLECT_STATE_DIR", str(folder / "state"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(LATER))
    for name in ("REFLECT_ORGANISATION", "REFLECT_QMD_DIR", "REFLECT_QMD_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return workspace_in(folder)


def workspace_in(folder: Path) -> Workspace:
    return Workspace.open(folder / "storefront", Settings(state_dir=folder / "state", source_date_epoch=LATER))
