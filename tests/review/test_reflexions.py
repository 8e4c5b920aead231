"""Records as files: nothing is lost on the way, nothing is believed that a file cannot know."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reflect.cli.app import run
from reflect.errors import ConfigurationError
from reflect.evidence.redaction import Redactor
from reflect.ledger.ledger import Ledger
from reflect.model import EvidenceMode, Origin
from reflect.review.corrections import triage_lessons
from reflect.review.reflexions import drop, export_records, import_records
from reflect.scope.reflexion import STATED_SCOPE
from reflect.scope.visibility import Candidate, Exclusion, exclusion
from tests.review.house import Shop

SEED: dict[str, Any] = {
    "id": "r-1",
    "domain": "behavior",
    "session_id": "s-1",
    "trigger": "steer",
    "context": "editing prices",
    "intervention": "no, never store prices as floats",
    "reflexion_text": "Store prices as integer cents.",
    "error_type": "wrong-approach",
    "confidence": 0.8,
    "is_processed": False,
    "leap_run_id": None,
    "created_at": "2026-01-01T00:00:00Z",
    "origin": "clean",
    "evidence": "user_turns",
}
CLAIMS_EVERYTHING = SEED | {
    "id": "r-2",
    "domain": "triage",
    "origin": "untrusted",
    "scope": "global",
    "project_id": None,
    "scope_confidence": 1.0,
    "scope_source": "operator",
    "approved_by": "someone",
    "approved_at": "2026-01-01T00:00:00Z",
}
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}") as opened:
        yield opened


def lines(*records: object) -> bytes:
    return b"".join(one + b"\n" if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in records)


def put(ledger: Ledger, *records: object) -> None:
    import_records(ledger, "shop", lines(*records), Redactor().redact)


def test_every_field_of_the_seed_comes_back(ledger: Ledger) -> None:
    put(ledger, SEED)
    (written,) = export_records(ledger, "shop").splitlines()
    assert {name: json.loads(written)[name] for name in SEED} == SEED


def test_a_record_of_a_file_says_that_a_file_brought_it(ledger: Ledger, tmp_path: Path) -> None:
    put(ledger, SEED)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as database:
        assert database.execute("select reflexion_id, run_id from reflexions").fetchall() == [("r-1", "import")]


def test_a_record_from_before_a_field_existed_loads_with_the_safe_value(ledger: Ledger) -> None:
    put(ledger, {name: value for name, value in SEED.items() if name not in ("origin", "evidence")})
    (row,) = ledger.reflexions("shop")
    assert (row.origin, row.evidence, row.learnable) == (Origin.UNTRUSTED, EvidenceMode.FULL, False)


STRANGE = [
    b"{not json",
    b'{"id": "r-9"}',
    b'{"id": "", "domain": "x"}',
    b"[1, 2]",
    b"\xff\xfe broken",
    json.dumps(SEED | {"id": "r-8", "origin": "holy"}).encode(),
    json.dumps(SEED | {"id": "r-7", "later": float("nan")}).encode(),
    json.dumps(SEED | {"id": "r-6", "confidence": True}).encode(),
    b"[" * 100_000,
    b"\x00 nul",
]


@pytest.mark.parametrize("strange", STRANGE, ids=[f"{number}" for number in range(len(STRANGE))])
def test_lines_that_are_no_records_are_carried_through_as_they_are(ledger: Ledger, strange: bytes) -> None:
    put(ledger, strange, SEED)
    put(ledger, strange)
    assert [row.id for row in ledger.reflexions("shop")] == ["r-1"]
    assert export_records(ledger, "shop").split(b"\n")[1:] == [strange, b""]


def test_unknown_fields_are_carried_through(ledger: Ledger) -> None:
    later = {"situation": {"tools": ["shell"], "half": "\ud800"}, "goals": [1, None, "ü"]}
    put(ledger, SEED | later)
    (written,) = export_records(ledger, "shop").splitlines()
    assert {name: json.loads(written)[name] for name in later} == later


def test_two_records_with_one_id_are_both_kept(ledger: Ledger) -> None:
    put(ledger, SEED, SEED | {"reflexion_text": "Another lesson."}, SEED)
    first, second = export_records(ledger, "shop").splitlines()
    assert json.loads(first)["reflexion_text"] == SEED["reflexion_text"]
    assert json.loads(second)["reflexion_text"] == "Another lesson."


def test_importing_again_and_importing_an_export_change_nothing(ledger: Ledger) -> None:
    content = lines(SEED, b"{broken", CLAIMS_EVERYTHING)
    import_records(ledger, "shop", content, Redactor().redact)
    before = export_records(ledger, "shop")
    for again in (content, before, before + before):
        done = import_records(ledger, "shop", again, Redactor().redact)
        assert done.new == ()
        assert export_records(ledger, "shop") == before


def test_what_a_second_file_says_otherwise_of_a_known_record_is_kept_as_a_line(ledger: Ledger) -> None:
    import_records(ledger, "shop", lines(SEED), Redactor().redact)
    other = SEED | {"reflexion_text": "Another wording.", "later_field": 1}
    assert import_records(ledger, "shop", lines(other), Redactor().redact).known == 1
    first = export_records(ledger, "shop")
    assert b"Another wording." in first and b"later_field" in first and b"integer cents" in first
    import_records(ledger, "shop", lines(other), Redactor().redact)
    import_records(ledger, "shop", first, Redactor().redact)
    assert export_records(ledger, "shop") == first
    assert len(ledger.reflexions("shop")) == 1


def test_what_a_file_said_of_a_scope_stays_through_every_restore(ledger: Ledger, tmp_path: Path) -> None:
    """R1 and R2: it is kept, and makes no scope."""
    import_records(ledger, "shop", lines(CLAIMS_EVERYTHING), Redactor().redact)
    once = {**json.loads(export_records(ledger, "shop")), "scope": "project", "project_id": "shop"}
    with Ledger.open(f"sqlite:///{tmp_path / 'restored.db'}") as restored:
        import_records(restored, "shop", lines(once), Redactor().redact)
        (row,) = restored.reflexions("shop")
        assert row.scope is None and row.project_id is None and row.scope_source is None
        said = row.model_dump()[STATED_SCOPE]
    assert said["scope"] == "project" and said[STATED_SCOPE]["scope"] == "global"


def test_r2_a_file_makes_nothing_global_and_nobodys_row_is_shown(ledger: Ledger, queue: Shop) -> None:
    """R2: `scope: global` and an operator's name in a file are words; the row is shown to nobody."""
    put(ledger, CLAIMS_EVERYTHING)
    (row,) = ledger.reflexions("shop")
    assert (row.scope, row.project_id, row.scope_source, row.approved_by) == (None, None, None, None)
    assert (row.model_extra or {})[STATED_SCOPE]["scope"] == "global"
    candidate = Candidate.of(row.stored_scope, row.memory_type)
    assert exclusion(candidate, queue.workspace.project) is Exclusion.LEGACY_SCOPE_QUARANTINED


def test_a_triage_lesson_from_a_file_is_told_to_no_engine(ledger: Ledger) -> None:
    put(ledger, CLAIMS_EVERYTHING)
    (row,) = ledger.reflexions("shop")
    assert row.learnable
    assert triage_lessons(ledger, "shop") == ()


def test_secrets_of_a_file_do_not_reach_the_ledger(ledger: Ledger) -> None:
    put(ledger, SEED | {"context": f"token {SECRET}", "later": [{"deep": SECRET}]}, f"{{broken {SECRET}".encode())
    written = export_records(ledger, "shop")
    assert SECRET.encode() not in written
    assert written.count(b"[REDACTED:") == 3


def test_dropping_is_a_flag_that_beats_everything_and_keeps_its_first_reason(ledger: Ledger) -> None:
    put(ledger, SEED)
    for reason in ("not so", "again"):
        row = drop(ledger, "shop", "r-1", reason, "2026-02-01T00:00:00+00:00")
        assert (row.dropped_at, row.dropped_reason, row.learnable) == ("2026-02-01T00:00:00+00:00", "not so", False)
    put(ledger, SEED)
    (kept,) = ledger.reflexions("shop")
    assert kept.dropped_reason == "not so"


def test_what_its_owner_dropped_elsewhere_is_dropped_here(ledger: Ledger) -> None:
    put(ledger, SEED)
    put(ledger, SEED | {"dropped_at": "2026-02-01T00:00:00Z", "dropped_reason": "wrong"})
    (row,) = ledger.reflexions("shop")
    assert (row.dropped_reason, row.learnable) == ("wrong", False)


@pytest.mark.parametrize("name", ["", "r-", "x"])
def test_a_name_of_none_or_several_changes_nothing(ledger: Ledger, name: str) -> None:
    put(ledger, SEED, SEED | {"id": "r-2"})
    with pytest.raises(ConfigurationError, match="nothing was changed"):
        drop(ledger, "shop", name, "why", "2026-02-01T00:00:00Z")
    assert not any(row.dropped_at for row in ledger.reflexions("shop"))


def test_a_whole_id_is_meant_where_another_begins_with_it(ledger: Ledger) -> None:
    put(ledger, SEED, SEED | {"id": "r-10"})
    assert drop(ledger, "shop", "r-1", "why", "2026-02-01T00:00:00Z").dropped_reason == "why"
    assert {row.id: row.dropped_reason for row in ledger.reflexions("shop")} == {"r-1": "why", "r-10": None}


def test_a_project_sees_its_own_records_alone(ledger: Ledger) -> None:
    put(ledger, SEED, b"{broken")
    assert export_records(ledger, "store") == b""


def test_the_same_on_postgresql(postgresql_url: str) -> None:
    with Ledger.open(postgresql_url) as ledger:
        put(ledger, SEED | {"context": "nul \x00 and half \udc80"}, b"\xff\x00 broken", CLAIMS_EVERYTHING)
        before = export_records(ledger, "shop")
        assert before.split(b"\n")[-2] == b"\xff\x00 broken"
        assert import_records(ledger, "shop", before, Redactor().redact).new == ()
        assert drop(ledger, "shop", "r-2", "no", "2026-02-01T00:00:00Z").dropped_reason == "no"
        assert export_records(ledger, "shop").count(b"\n") == 3


def test_the_commands(queue: Shop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    repo, file = ["--repo", str(queue.git.path)], queue.git.path.parent / "records.jsonl"
    monkeypatch.setenv("REFLECT_STATE_DIR", str(queue.settings.state_dir))
    file.write_bytes(lines(SEED, b"{broken"))
    assert run(["reflexions", "import", str(file), *repo, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"new": ["r-1"], "known": 0, "carried": 1}
    assert run(["reflexions", "drop", "r-1", "--reason", "no", *repo]) == 0
    capsys.readouterr()
    assert run(["reflexions", "list", "--json", *repo]) == 0
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)["reflexions"]}
    assert rows["r-1"]["dropped_reason"] == "no"
    assert run(["reflexions", "export", str(file), *repo]) == 0
    assert file.read_bytes().endswith(b"{broken\n")
    assert run(["reflexions", "drop", "nobody", "--reason", "no", *repo]) == 2
    assert run(["reflexions", "import", str(file / "not"), *repo]) == 2
