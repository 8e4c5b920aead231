"""The schema: what the migrations make is what the code speaks, whoever runs them and however many at once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, inspect

from reflect.errors import LedgerError
from reflect.ledger.database import Database
from reflect.ledger.ledger import Ledger
from reflect.ledger.schema import MIGRATIONS
from reflect.ledger.tables import OLDER_SCHEMAS, SCHEMA, VERSION_TABLE, metadata, pages
from tests.ledger.entries import OTHER, PROJECT, entry


def test_the_code_knows_every_migration_by_name() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [SCHEMA]
    assert {script.revision for script in scripts.walk_revisions()} == OLDER_SCHEMAS | {SCHEMA}


def test_the_migrations_make_the_tables_of_the_code(url: str) -> None:
    Ledger.open(url).close()
    database = Database(url)
    with database.read() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []
        found = inspect(connection)
        for table in metadata.sorted_tables:
            primary = found.get_pk_constraint(table.name)["constrained_columns"]
            assert primary == [column.name for column in table.primary_key.columns]
            assert len(found.get_foreign_keys(table.name)) == len(table.foreign_key_constraints)
    database.close()


def test_a_row_cannot_belong_to_a_run_that_is_not_there(url: str) -> None:
    with Ledger.open(url) as ledger:
        ledger.record(entry())
    database = Database(url)
    orphan = {"run_id": "no-such-run", "path": "a/b.md", "action": "create", "sources": "[]"}
    for project, run_id in ((PROJECT, "no-such-run"), (OTHER, "run-1")):
        with pytest.raises(LedgerError, match=r"(?i)foreign key"), database.write() as connection:
            connection.execute(insert(pages), orphan | {"project_id": project, "run_id": run_id})
    database.close()


_KILLED_AT_COMMIT = """
import os, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine
from reflect.ledger.ledger import Ledger

event.listen(Engine, "commit", lambda connection: os._exit(9) if connection.get_execution_options() else None)
Ledger.open(sys.argv[1])
"""


def test_a_migration_that_was_killed_is_done_again(url: str) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED_AT_COMMIT, url], check=False, timeout=60)
    assert killed.returncode == 9
    with Ledger.open(url) as ledger:
        assert ledger.record(entry())


def test_alembic_is_loaded_only_to_migrate(sqlite_url: str) -> None:
    script = (
        "import sys; from reflect.ledger.ledger import Ledger; Ledger.open(sys.argv[1]);"
        "print('alembic' in sys.modules, 'psycopg' in sys.modules)"
    )
    for expected in ("True False", "False False"):
        done = subprocess.run([sys.executable, "-c", script, sqlite_url], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


_OPEN_AND_RECORD = """
import sys, time
from pathlib import Path
from reflect.ledger.entry import LedgerEntry
from reflect.ledger.ledger import Ledger

url, gate, *entries = sys.argv[1:]
print("ready", flush=True)
while not Path(gate).exists():
    time.sleep(0.002)
with Ledger.open(url) as ledger:
    for path in entries:
        ledger.record(LedgerEntry.from_json(Path(path).read_text()))
"""


def test_two_processes_make_one_ledger_and_record_into_it_at_once(url: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    entries = [entry("shared"), *(entry(f"run-{number}") for number in range(8))]
    paths = [tmp_path / f"{item.run_id}.json" for item in entries]
    for path, item in zip(paths, entries, strict=True):
        path.write_text(item.to_json())
    shared, own = paths[0], paths[1:]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN_AND_RECORD, url, gate, *own[half::2], shared],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for half in (0, 1)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    gate.touch()
    for process in started:
        _, problems = process.communicate(timeout=60)
        assert (process.returncode, problems) == (0, "")
    with Ledger.open(url) as ledger:
        assert ledger.counts(PROJECT).runs == len(entries)


def test_threads_make_ledgers_of_their_own_at_once(tmp_path: Path, postgresql_url: str) -> None:
    urls = [f"sqlite:///{tmp_path / str(number)}.db" for number in range(5)] + [postgresql_url] * 3
    with ThreadPoolExecutor(len(urls)) as pool:
        ledgers = list(pool.map(Ledger.open, urls))
        assert all(list(pool.map(lambda ledger: ledger.counts(PROJECT).runs == 0, ledgers)))
    for ledger in ledgers:
        ledger.close()


def test_threads_record_into_one_ledger_at_once(ledger: Ledger) -> None:
    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(lambda number: ledger.record(entry(f"run-{number}")), range(24)))
    assert ledger.counts(PROJECT).runs == 24
