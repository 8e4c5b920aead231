"""Bringing a database to the schema this version speaks: checked with one query, changed under a lock.

Alembic is loaded only where something has to change. A database that is newer than this version, or that belongs to
something else, is left alone.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, text

from reflect.errors import LedgerError
from reflect.ledger.database import BUSY_TIMEOUT_MS, Database
from reflect.ledger.tables import OLDER_SCHEMAS, SCHEMA, VERSION_TABLE

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK_KEY = 0x7265666C656374  # "reflect": the advisory lock that migrations of one PostgreSQL database share
_ALEMBIC = threading.Lock()  # alembic keeps its context in the process, not in the thread


def prepare(database: Database) -> None:
    """Make the database if there is none and migrate it if it is older; two processes may do so at once.

    Raises LedgerError, with nothing changed, where its schema is newer or it is not a ledger.
    """
    if _version(database) != SCHEMA:
        with _creating(database.path):
            _migrate(database)


def _version(database: Database) -> str | None:
    if database.path is not None and not database.path.exists():
        return None
    with database.read() as connection:
        return _stamped(connection, database.name)


def _stamped(connection: Connection, name: str) -> str | None:
    """The schema version the database carries, None for an empty one."""
    if not _has_version_table(connection):
        _refuse_foreign_tables(connection, name)
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if found is not None and found != SCHEMA and found not in OLDER_SCHEMAS:
        raise LedgerError(
            f"The ledger {name} has schema {found!r}, newer than the {SCHEMA!r} this version of reflect knows; "
            "it was left as it is; update reflect-wiki."
        )
    return None if found is None else str(found)


def _has_version_table(connection: Connection) -> bool:
    if connection.dialect.name == "postgresql":
        return connection.execute(text("SELECT to_regclass(:name)"), {"name": VERSION_TABLE}).scalar() is not None
    return VERSION_TABLE in _sqlite_tables(connection)


def _refuse_foreign_tables(connection: Connection, name: str) -> None:
    """A SQLite file is a ledger or empty; a server's database may be shared with others."""
    tables = _sqlite_tables(connection) if connection.dialect.name == "sqlite" else []
    if tables:
        raise LedgerError(
            f"The database {name} holds tables of something else ({tables[0]!r}) and no ledger; "
            "it was left as it is; set REFLECT_LEDGER_URL to a file of its own."
        )


def _sqlite_tables(connection: Connection) -> list[str]:
    return list(connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")).scalars())


def _migrate(database: Database) -> None:
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
        if _stamped(connection, database.name) != SCHEMA:
            upgrade(connection)


def upgrade(connection: Connection, target: str = "head") -> None:
    """Run the migrations up to `target` inside the transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", os.fspath(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    with _ALEMBIC:
        command.upgrade(config, target)


def _make_file(path: Path) -> None:
    """The empty file, readable by its owner alone, in the mode that lets readers and one writer work side by side."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


@contextmanager
def _creating(path: Path | None) -> Iterator[None]:
    """Hold the lock file beside a SQLite database while it is made; a server has a lock of its own."""
    if path is None:
        yield
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _make_file(path)
            yield
        finally:
            os.close(lock)
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"The ledger {path} could not be made ({error}); nothing was changed; "
            "check that its folder can be written, or set REFLECT_LEDGER_URL."
        ) from error
