"""Opening a ledger: made where there is none, and left alone where something is wrong."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from reflect.errors import LedgerError
from reflect.ledger.database import Database, masked
from reflect.ledger.ledger import Ledger
from reflect.ledger.set_aside import set_aside
from reflect.ledger.tables import SCHEMA, VERSION_TABLE
from tests.ledger.entries import PROJECT, SESSION, entry

SECRET = "s3cr3t/p@ss"


def at(path: Path) -> str:
    return f"sqlite:///{path}"


def message(url: str) -> str:
    with pytest.raises(LedgerError) as raised:
        Ledger.open(url)
    said = str(raised.value)
    assert "\n" not in said
    return said


def test_what_was_recorded_is_there_when_opened_again(url: str) -> None:
    with Ledger.open(url) as ledger:
        ledger.record(entry())
    with Ledger.open(url) as ledger:
        assert set(ledger.seen(PROJECT, {"run-1"}).contents) == {SESSION}


def test_the_file_and_the_folder_made_for_it_are_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "ledger.db"
    old = os.umask(0)
    try:
        with Ledger.open(at(path)) as ledger:
            ledger.record(entry())
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    finally:
        os.umask(old)


def test_sqlite_is_set_up_for_several_at_once(sqlite_url: str) -> None:
    Ledger.open(sqlite_url).close()
    database = Database(sqlite_url)
    with database.read() as connection:
        settings = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "foreign_keys")]
        assert settings == ["wal", 1]
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
    database.close()


def test_an_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.touch()
    with Ledger.open(at(path)) as ledger:
        assert ledger.record(entry())


def test_a_path_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "a b%20c ü 'q' ?mode=ro#x" / "ledger.db"
    with Ledger.open(at(path)) as ledger:
        ledger.record(entry())
    assert path.exists()


def test_a_ledger_in_memory_works(tmp_path: Path) -> None:
    with Ledger.open("sqlite://") as ledger:
        assert ledger.record(entry())


def test_a_newer_schema_is_left_alone(url: str) -> None:
    Ledger.open(url).close()
    _stamp(url, "0999")
    said = message(url)
    assert "'0999'" in said
    assert f"newer than the '{SCHEMA}'" in said
    assert "update reflect-wiki" in said
    assert _version(url) == "0999"


CORRUPT = [
    pytest.param(b"this is not a database, " * 400, id="other-bytes"),
    pytest.param(b"\x00" * 8192, id="zeros"),
    pytest.param(b"SQLite format 3\x00" + b"\xff" * 8192, id="a-header-alone"),
]


@pytest.mark.parametrize("content", CORRUPT)
def test_a_corrupt_file_is_named_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    said = message(at(path))
    assert str(path) in said
    assert "`reflect ledger rebuild`" in said
    assert path.read_bytes() == content


def test_a_page_that_went_bad_is_said_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(at(path)) as ledger:
        ledger.record(entry())
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xfe" * len(content[4096 * 2 :])
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="`reflect ledger rebuild`"), Ledger.open(at(path)) as ledger:
        ledger.record(entry("run-2"))
        ledger.counts(PROJECT)
    assert path.read_bytes() == bytes(content)


@pytest.mark.parametrize("content", CORRUPT)
def test_a_corrupt_file_is_set_aside_whole(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.db"
    for _ in range(2):
        path.write_bytes(content)
        moved = set_aside(at(path))
        assert moved is not None
        assert moved.read_bytes() == content
        assert not path.exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger.db.corrupt-1", "ledger.db.corrupt-2"]
    with Ledger.open(at(path)) as ledger:
        assert ledger.record(entry())


def test_a_healthy_ledger_is_not_set_aside(url: str) -> None:
    with Ledger.open(url) as ledger:
        ledger.record(entry())
    assert set_aside(url) is None
    with Ledger.open(url) as ledger:
        assert ledger.last_run(PROJECT) is not None


def test_nothing_is_set_aside_where_nothing_is(sqlite_url: str, tmp_path: Path) -> None:
    assert set_aside(sqlite_url) is None
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE invoices (id)")
    before = path.read_bytes()
    assert "'invoices'" in message(at(path))
    assert path.read_bytes() == before
    assert set_aside(at(path)) is None


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    assert str(tmp_path) in message(at(tmp_path))


def test_a_path_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert str(tmp_path / "file" / "ledger.db") in message(at(tmp_path / "file" / "ledger.db"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://reflect:{}@127.0.0.1:1/ledger",
        "postgresql+psycopg://reflect:{}@127.0.0.1:1/ledger",
        "postgres://reflect:{}@127.0.0.1:1/ledger",
        "postgresql://127.0.0.1:1/ledger?user=reflect&password={}",
        "postgresql://reflect:{}@no-such-host.invalid/ledger",
    ],
)
def test_an_unreachable_server_is_named_without_its_password(address: str) -> None:
    for password in ("s3cr3t", "s3cr3t%2Fp%40ss"):
        said = message(address.format(password))
        assert "127.0.0.1" in said or "no-such-host.invalid" in said
        assert "s3cr3t" not in said
        assert "REFLECT_LEDGER_URL" in said


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ledger.db",
        "mysql://me:s3cr3t@host/db",
        "postgresql://me:s3cr3t@host:port/db",
        "sqlite+aiosqlite:///x.db?a=1",
        "postgresql+asyncpg://me:s3cr3t@host/db",
    ],
)
def test_an_address_that_cannot_be_used_is_shown_without_its_password(address: str) -> None:
    said = message(address)
    assert "s3cr3t" not in said
    assert "REFLECT_LEDGER_URL" in said


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:a:b@c@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("postgresql:///db?host=/tmp&password=x&a=1", "postgresql:///db?host=/tmp&password=***&a=1"),
        ("sqlite:////tmp/a@b:c/ledger.db", "sqlite:////tmp/a@b:c/ledger.db"),
    ],
)
def test_masking_takes_the_password_and_nothing_else(address: str, shown: str) -> None:
    assert masked(address) == shown


def test_two_ledgers_share_a_server_in_schemas_of_their_own(postgresql_url: str, postgresql: str) -> None:
    with Ledger.open(postgresql_url) as ledger:
        ledger.record(entry())
    database = Database(postgresql)
    with database.read() as connection:
        assert connection.execute(text(f"SELECT to_regclass('{VERSION_TABLE}')")).scalar() is None
    database.close()


def _stamp(url: str, version: str) -> None:
    database = Database(url)
    with database.write() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'"))
    database.close()


def _version(url: str) -> object:
    database = Database(url)
    with database.read() as connection:
        found: object = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    database.close()
    return found
