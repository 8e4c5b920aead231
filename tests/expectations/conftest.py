from __future__ import annotations

import pytest

from expectations.suite import library


@pytest.fixture(scope="session", autouse=True)
def _imported() -> None:
    """Great Expectations takes seconds to import; they are no test's own."""
    library()
