"""The connection: addresses, SQLite's settings, and every database error said in one sentence without a password."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from reflect.errors import LedgerError

BUSY_TIMEOUT_MS = 30_000
CONNECT_TIMEOUT_S = 10

_SQLITE_DRIVERS = ("sqlite", "sqlite+pysqlite")
_POSTGRESQL_DRIVERS = ("postgresql", "postgres", "postgresql+psycopg")

_CORRUPT = re.compile(r"file is not a database|malformed|disk image|file is encrypted", re.I)
_SECRET_QUERY = re.compile(r"((?:password|passwd|sslpassword)=)[^&\s]+", re.I)
_SECRET_AUTHORITY = re.compile(r"(://[^:/@\s]*:)[^\s]*(@)")


class Database:
    """One ledger's database. `read()` and `write()` give a connection inside one transaction."""

    def __init__(self, address: str) -> None:
        self.url = parse_address(address)
        self.name = _shown(self.url)
        try:
            self._engine = _engine(self.url)
        except ImportError as error:
            raise LedgerError(
                f"The ledger {self.name} needs a driver that is not installed ({error}); "
                "nothing was changed; run `pip install 'reflect-wiki[postgresql]'`."
            ) from error

    @property
    def path(self) -> Path | None:
        """The SQLite file, or None for a server or a database in memory."""
        return sqlite_file(self.url)

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.url.get_backend_name()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._explained("read"), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that changes something; on SQLite it takes the write lock at its start, not in its middle."""
        with self._explained("written"), self._engine.connect() as connection:
            writing = connection.execution_options(reflect_write=True)
            with writing.begin():
                yield writing

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise LedgerError(self._sentence(error, what)) from error

    def _sentence(self, error: Exception, what: str) -> str:
        reason = self._reason(error)
        if self.dialect == "sqlite" and _CORRUPT.search(reason):
            return (
                f"The ledger {self.name} is not a usable SQLite database ({reason}); the file was left as it is; "
                "run `reflect ledger rebuild` to set it aside and make a new one from the wiki."
            )
        return f"The ledger {self.name} could not be {what} ({reason}); nothing was changed; {self._advice()}."

    def _reason(self, error: Exception) -> str:
        """The driver's own first line, without the password where it repeats it."""
        cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        line = next((line.strip() for line in str(cause).splitlines() if line.strip()), type(cause).__name__)
        password = self.url.password
        return masked(line.replace(str(password), "***") if password else line)

    def _advice(self) -> str:
        if self.dialect == "sqlite":
            return "check that its folder exists and can be written, or set REFLECT_LEDGER_URL"
        return "check that the server runs and REFLECT_LEDGER_URL names it"


def sqlite_file(url: URL) -> Path | None:
    """The file behind a SQLite address, or None."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


def masked(address: str) -> str:
    """`address`, or a text that holds one, with its password replaced."""
    return _SECRET_QUERY.sub(r"\1***", _SECRET_AUTHORITY.sub(r"\1***\2", address))


def parse_address(address: str) -> URL:
    """The address of a ledger; what follows `sqlite:///` is a path as it stands, whatever characters it has.

    Raises LedgerError where `address` names neither a SQLite file nor a PostgreSQL database.
    """
    driver, found, path = address.partition(":///")
    if found and driver in _SQLITE_DRIVERS:
        return URL.create("sqlite", database=os.fspath(Path(path).expanduser()) if path else None)
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise LedgerError(_unusable(address)) from error
    if url.drivername in _POSTGRESQL_DRIVERS:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername in _SQLITE_DRIVERS and not url.database:
        return url
    raise LedgerError(_unusable(address))


def _unusable(address: str) -> str:
    return (
        f"The ledger's address {masked(address)!r} cannot be used; nothing was changed; "
        "set REFLECT_LEDGER_URL to `sqlite:////folder/ledger.db` or `postgresql://user@host/database`."
    )


def _shown(url: URL) -> str:
    file = sqlite_file(url)
    return os.fspath(file) if file is not None else masked(url.render_as_string(hide_password=True))


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url)
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    return create_engine(url, connect_args={"connect_timeout": CONNECT_TIMEOUT_S}, pool_pre_ping=True)


def _configure_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # the driver's own transactions leave schema changes outside; see _begin_sqlite
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("reflect_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
