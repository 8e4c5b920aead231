from __future__ import annotations

from pathlib import Path

import pytest

from examples.organisation import build


@pytest.fixture(scope="session")
def organisation(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """The sample organisation as it stands before its first night; nobody writes into it."""
    return build(tmp_path_factory.mktemp("organisation"))
