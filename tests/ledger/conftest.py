"""Every test that takes `url` runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from reflect.ledger.ledger import Ledger
from tests.ledger.postgresql import MISSING, cluster, programs

_SCHEMAS = count(1)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a private server; its database is shared by the tests, each in a schema of its own."""
    found = programs()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with cluster(found) as address:
        yield address


@pytest.fixture
def postgresql_url(postgresql: str) -> str:
    """An empty schema on the private server."""
    schema = f"test_{next(_SCHEMAS)}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{postgresql}&options={quote(f'-csearch_path={schema}')}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'state' / 'ledger.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database, of each kind in turn."""
    address: str = request.getfixturevalue(f"{request.param}_url")
    return address


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    with Ledger.open(url) as opened:
        yield opened
