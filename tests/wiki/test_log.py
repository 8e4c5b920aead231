"""`log.md`: added to at the end, never rewritten, and read back for the runs that landed."""

from __future__ import annotations

from datetime import date

import pytest

from reflect.model import Operation
from reflect.wiki.log import LogEntry, archive_entry, landed_runs, with_entry

ENTRY = LogEntry(
    date(2026, 11, 30),
    "3f2a91c0aa11",
    ((Operation.CREATE, "decisions/a.md"), (Operation.UPDATE, "gotchas/b.md"), (Operation.RESOLVE, "open-work/c.md")),
)
WRITTEN = """\
## [2026-11-30] ingest | run 3f2a91c0aa11 | 1 created, 1 updated, 1 resolved
- create decisions/a.md
- update gotchas/b.md
- resolve open-work/c.md
"""
REFERENCE = (
    b"# Wiki Ingest Log\n\n\n## [2026-04-13] ingest | 36 page(s) \xe2\x80\x94 37 created, 0 updated\n- create a/b.md\n"
)


def test_an_entry_to_the_byte() -> None:
    assert ENTRY.render() == WRITTEN


def test_the_first_entry_makes_the_log() -> None:
    assert with_entry(None, WRITTEN).decode() == f"# Wiki Ingest Log\n\n{WRITTEN}"


@pytest.mark.parametrize(
    "log",
    [
        REFERENCE,
        REFERENCE.rstrip(b"\n"),
        REFERENCE + b"\n\n",
        REFERENCE.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + REFERENCE,
        b"---\ntype: log\n---\n\nnotes",
        b"caf\xe9\n",
    ],
)
def test_hazard_97_what_stood_there_stays_byte_for_byte_and_gets_no_frontmatter(log: bytes) -> None:
    added = with_entry(log, WRITTEN)
    assert added.startswith(log)
    assert added[len(log) :].replace(b"\r\n", b"\n").lstrip(b"\n") == WRITTEN.encode()
    assert landed_runs(added.decode("utf-8", "replace")) == {"3f2a91c0aa11"}
    if b"\r\n" in log:
        assert added.count(b"\n") == added.count(b"\r\n")


def test_hazard_97_a_new_log_begins_with_its_title() -> None:
    assert with_entry(b"", WRITTEN).startswith(b"# Wiki Ingest Log\n")


def test_entries_follow_each_other_with_one_blank_line() -> None:
    second = LogEntry(date(2026, 12, 1), "aaaaaaaaaaaa", ()).render()
    log = with_entry(with_entry(None, WRITTEN), second).decode()
    assert log == f"# Wiki Ingest Log\n\n{WRITTEN}\n{second}"
    assert landed_runs(log) == {"3f2a91c0aa11", "aaaaaaaaaaaa"}


def test_hazard_93_the_same_run_is_logged_once() -> None:
    log = with_entry(REFERENCE, WRITTEN)
    assert with_entry(log, WRITTEN) == log


def test_only_ingest_entries_say_that_a_run_landed() -> None:
    archive = archive_entry(date(2026, 11, 30), "bbbbbbbbbbbb", [("a/b.md", "_archive/a/b.md")])
    assert archive == ("## [2026-11-30] archive | run bbbbbbbbbbbb | 1 moved\n- archive a/b.md -> _archive/a/b.md\n")
    quoted = "> ## [2026-11-30] ingest | run cccccccccccc | 1 created\n- ## [2026-11-30] ingest | run dddddddddddd |\n"
    assert landed_runs(with_entry(REFERENCE, archive).decode() + quoted) == frozenset()


def test_a_path_cannot_forge_an_entry() -> None:
    forged = "a.md\n## [2026-11-30] ingest | run eeeeeeeeeeee | 1 created"
    log = LogEntry(date(2026, 11, 30), "3f2a91c0aa11", ((Operation.CREATE, forged),)).render()
    assert landed_runs(log) == {"3f2a91c0aa11"}
