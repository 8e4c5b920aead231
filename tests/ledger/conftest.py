"""Every test that takes `url` or `ledger` runs on SQLite and on a real PostgreSQL.

`url` is the address of an empty database. `ledger` is open, migrated and empty: migrating costs most of a test's time,
so it is done once and copied (SQLite) or emptied (PostgreSQL).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from reflect.ledger.ledger import Ledger
from reflect.ledger.tables import metadata
from tests.ledger.postgresql import MISSING, cluster, programs

_SCHEMAS = count(1)
_KINDS = ["sqlite", "postgresql"]


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
    return _new_schema(postgresql, f"test_{next(_SCHEMAS)}")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'state' / 'ledger.db'}"


@pytest.fixture(params=_KINDS)
def url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database, of each kind in turn."""
    address: str = request.getfixturevalue(f"{request.param}_url")
    return address


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "ledger.db"
    Ledger.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def migrated_schema(postgresql: str) -> str:
    address = _new_schema(postgresql, "migrated")
    Ledger.open(address).close()
    return address


@pytest.fixture(params=_KINDS)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """An open ledger with nothing in it, of each kind in turn."""
    if request.param == "sqlite":
        address = f"sqlite:///{shutil.copy(request.getfixturevalue('migrated_file'), tmp_path / 'ledger.db')}"
    else:
        address = request.getfixturevalue("migrated_schema")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"TRUNCATE {', '.join(metadata.tables)}".encode())
    with Ledger.open(address) as opened:
        yield opened


def _new_schema(server: str, name: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server}&options={quote(f'-csearch_path={name}')}"
