"""A repository with every kind of question, put back to how it was for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.ledger.conftest import postgresql, postgresql_url
from tests.review.house import Shop, asked

__all__ = ["postgresql", "postgresql_url"]


@pytest.fixture(scope="session")
def _asked_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shop, Path]:
    home = tmp_path_factory.mktemp("review") / "house"
    made = asked(home)
    shutil.copytree(home, home.with_name("before"), symlinks=True)
    return made, home


@pytest.fixture
def queue(_asked_once: tuple[Shop, Path]) -> Shop:
    """A repository in which every kind of question was just asked."""
    made, home = _asked_once
    shutil.rmtree(home)
    shutil.copytree(home.with_name("before"), home, symlinks=True)
    return made
