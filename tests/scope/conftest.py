from __future__ import annotations

from pathlib import Path

import pytest

from tests.scope.cases import House, house


@pytest.fixture
def home(tmp_path: Path) -> House:
    return house(tmp_path)
