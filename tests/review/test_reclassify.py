"""A scope for records that have none: reviewed, applied as it stands, taken back; never a way around an operator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reflect.cli.app import run
from reflect.errors import ConfigurationError
from reflect.ledger.database import Database
from reflect.ledger.ledger import Ledger
from reflect.review.deciding import quarantine, reject
from reflect.review.preimages import Preimages
from reflect.review.reclassify import Left, apply, census, proposals_text, roll_back, verdict_on, why_left
from reflect.scope.projects import Project, Registry
from reflect.scope.reflexion import Reflexion
from reflect.scope.rows import row_id
from reflect.scope.vocabulary import MemoryType, Scope, ScopeSource
from tests.review.house import KINDS, Shop
from tests.written import assert_row_written

REGISTRY = Registry(
    (
        Project(project_id="shop", workspace_roots=("/srv/shop",)),
        Project(project_id="store", workspace_roots=("/srv/store",)),
        Project(project_id="asleep", workspace_roots=("/srv/asleep",), memory_enabled=False),
    )
)
SETTLED: dict[str, Any] = {"scope": "project", "project_id": "shop", "workspace_root": "/srv/shop"}


def record(name: str = "r-1", **changes: Any) -> Reflexion:
    held = {
        "id": name,
        "domain": "behavior",
        "session_id": "s",
        "trigger": "steer",
        "context": "",
        "intervention": "no, keep it",
        "reflexion_text": f"Keep {name}.",
        "created_at": "2026-01-01T00:00:00Z",
        "origin": "clean",
        "evidence_ids": ["aaaaaaaaaaaa/0"],
    }
    return Reflexion.model_validate(held | changes)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}") as opened:
        yield opened


@pytest.fixture
def kept(tmp_path: Path) -> Preimages:
    return Preimages(tmp_path / "kept")


def proposed(*rows: Reflexion, project: str = "shop") -> str:
    words = {"aaaaaaaaaaaa/0": "And then: no,  keep it."}
    return proposals_text(project, [verdict_on(row, project, words) for row in rows])


def scope_of(ledger: Ledger, name: str = "r-1") -> tuple[object, ...]:
    (row,) = [one for one in ledger.reflexions("shop") if one.id == name]
    return (row.scope, row.project_id, row.workspace_root, row.scope_source)


UNSCOPED = (None, None, None, None)
BOUND = (Scope.PROJECT, "shop", "/srv/shop", ScopeSource.CLASSIFIER)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"memory_type": "candidate_preference"}, Left.CANDIDATE_PREFERENCE),
        ({"memory_type": "fact"}, Left.NOT_A_REFLECTION),
        ({"dropped_at": "2026-01-02"}, Left.DROPPED),
        (SETTLED | {"scope_source": "operator", "scope_confidence": 1.0}, Left.OPERATOR_SETTLED),
        (SETTLED | {"scope_source": "classifier", "scope_confidence": 0.9}, Left.CLASSIFIER_SETTLED),
        (SETTLED | {"scope_source": "extraction_default", "scope_confidence": 0.9}, Left.SCOPE_SETTLED),
        (SETTLED, Left.INVALID_SCOPE),
        ({"scope": "global", "scope_source": "legacy_default"}, Left.INVALID_SCOPE),
    ],
)
def test_reclassify_selects_reflections_without_a_scope_alone(changes: dict[str, Any], reason: Left | None) -> None:
    assert why_left(record(**changes), ()) == reason


@pytest.mark.parametrize("imported", [False, True])
def test_reclassify_skips_pending_and_candidates(queue: Shop, imported: bool) -> None:
    """R2: what an operator was asked about is not answered by a tool, before and after a no, under whatever id."""
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS["derived"]))
        quarantine(bench, queue.item(KINDS["outside"]))
        asked = [(item, finding) for item in queue.items() for finding in item.action.findings]
        rows = [
            record(f"file-{number}" if imported else row_id("shop", finding), intervention=finding.quote.upper() + "!")
            for number, (_, finding) in enumerate(asked)
        ]
        assert len(rows) >= len(KINDS)
        found = census(rows, bench.ledger.queue("shop"))
        assert (found.selected, found.left) == ((), {Left.NOT_APPROVED: len(rows)})
        assert len(census([record()], bench.ledger.queue("shop")).selected) == 1


def test_r1_reclassify_includes_reflections_and_writes_the_five_keys(ledger: Ledger, kept: Preimages) -> None:
    """R1: the record of a project whose evidence is all there is bound to it, by the builder, as a classifier."""
    ledger.take_over("shop", [record()])
    done = apply(ledger, REGISTRY, "shop", proposed(record()), kept)
    assert (done.changed, done.left) == (("r-1",), {})
    assert scope_of(ledger) == BOUND
    (row,) = ledger.reflexions("shop")
    assert_row_written(row, project="shop", scope_source="classifier", workspace_root="/srv/shop")
    assert (row.scope_confidence, row.scope_run_id) == (0.9, done.run_id)


def test_what_rests_on_nothing_here_is_left_unless_the_reviewer_says_so(ledger: Ledger, kept: Preimages) -> None:
    """R1."""
    row = record(evidence_ids=[])
    ledger.take_over("shop", [row])
    assert apply(ledger, REGISTRY, "shop", proposed(row), kept).left == {"r-1": Left.BELOW_THRESHOLD}
    assert scope_of(ledger) == UNSCOPED
    reviewed = proposed(row).replace('"leave"', '"apply"')
    assert apply(ledger, REGISTRY, "shop", reviewed, kept).changed == ("r-1",)
    assert scope_of(ledger) == BOUND


def test_a_file_that_names_evidence_which_does_not_say_it_is_left(ledger: Ledger, kept: Preimages) -> None:
    """R1: any evidence id can be named; only words that stand there speak for a record."""
    row = record(intervention="always trust me")
    ledger.take_over("shop", [row])
    assert apply(ledger, REGISTRY, "shop", proposed(row), kept).left == {"r-1": Left.BELOW_THRESHOLD}
    assert scope_of(ledger) == UNSCOPED


@pytest.mark.parametrize("change", [{"origin": "untrusted"}, {"evidence_ids": []}, {"unknown": 1}])
def test_a_record_that_changed_in_anything_since_the_dry_run_is_left(
    ledger: Ledger, kept: Preimages, change: dict[str, Any]
) -> None:
    """R1: what a reviewer looked at is the whole record."""
    ledger.take_over("shop", [record(**change)])
    assert apply(ledger, REGISTRY, "shop", proposed(record()), kept).left == {"r-1": Left.CHANGED_SINCE}
    assert scope_of(ledger) == UNSCOPED


def test_a_preimage_that_was_cut_off_blocks_nothing(ledger: Ledger, kept: Preimages, tmp_path: Path) -> None:
    """R1: a kill while it is written leaves a file under another name, and the repetition writes it whole."""
    ledger.take_over("shop", [record()])
    (tmp_path / "kept").mkdir()
    run_id = apply(ledger, REGISTRY, "shop", proposed(record()), Preimages(tmp_path / "elsewhere")).run_id
    roll_back(ledger, "shop", run_id, Preimages(tmp_path / "elsewhere"))
    (tmp_path / "kept" / f"{run_id}.jsonl.1.new").write_bytes(b'{"id": "r-')
    assert apply(ledger, REGISTRY, "shop", proposed(record()), kept).changed == ("r-1",)
    assert scope_of(ledger) == BOUND
    assert kept.read(run_id) == (record(),)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"id": "r-1"', '"id": "r-2"', Left.ROW_GONE),
        ('"text_sha256": "', '"text_sha256": "0', Left.TEXT_DRIFT),
        ('"text": "Keep', '"text": "Forget', Left.TEXT_DRIFT),
        ('"record_sha256": "', '"record_sha256": "0', Left.CHANGED_SINCE),
        ('"project_id": "shop"', '"project_id": "nobody"', Left.UNREGISTERED_TARGET),
        ('"project_id": "shop"', '"project_id": "asleep"', Left.DISABLED_TARGET),
        ('"project_id": "shop"', '"project_id": "store"', Left.FOREIGN_TARGET),
        ('"scope": "project"', '"scope": "global"', Left.FOREIGN_TARGET),
        ('"disposition": "apply"', '"disposition": "leave"', Left.REVIEWER_LEFT_IT),
    ],
)
def test_r1_r2_every_row_is_looked_at_again(ledger: Ledger, kept: Preimages, old: str, new: str, reason: Left) -> None:
    """R1 and R2: a file that says another project, or global, writes nothing."""
    ledger.take_over("shop", [record()])
    text = proposed(record())
    assert old in text
    done = apply(ledger, REGISTRY, "shop", text.replace(old, new), kept)
    assert (done.changed, list(done.left.values())) == ((), [reason])
    assert scope_of(ledger) == UNSCOPED


def test_a_record_that_became_something_else_since_is_left(ledger: Ledger, kept: Preimages) -> None:
    ledger.take_over("shop", [record(memory_type=MemoryType.CANDIDATE_PREFERENCE)])
    assert apply(ledger, REGISTRY, "shop", proposed(record()), kept).left == {"r-1": Left.DESELECTED}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "not json",
        proposed(project="store"),
        proposed(record(), record()),
        proposed(record()).replace('"confidence": 0.9', '"confidence": 1.0'),
        proposed(record()).replace('"confidence": 0.9', '"confidence": NaN'),
        proposed(record()).replace('"disposition"', '"later": 1, "disposition"'),
    ],
)
def test_a_file_that_is_none_changes_nothing(ledger: Ledger, kept: Preimages, tmp_path: Path, text: str) -> None:
    """R1: no scope without a reviewed file."""
    ledger.take_over("shop", [record()])
    with pytest.raises(ConfigurationError, match="nothing was changed"):
        apply(ledger, REGISTRY, "shop", text, kept)
    assert scope_of(ledger) == UNSCOPED
    assert not (tmp_path / "kept").exists()


def test_preimages_written_before_first_change(tmp_path: Path) -> None:
    """R1: The ledger refuses the write; what would have been replaced is on disk all the same, for its owner alone."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Ledger.open(url) as ledger:
        ledger.take_over("shop", [record()])
        database = Database(url)
        with database.write() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER full BEFORE UPDATE ON reflexions BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        database.close()
        with pytest.raises(Exception, match="full"):
            apply(ledger, REGISTRY, "shop", proposed(record()), Preimages(tmp_path / "kept"))
        (file,) = (tmp_path / "kept").iterdir()
        assert json.loads(file.read_text())["id"] == "r-1"
        assert file.stat().st_mode & 0o777 == 0o600
        assert scope_of(ledger) == UNSCOPED


class Overtaken(Preimages):
    """Somebody rewrites a record after what would be replaced was kept, and before it is replaced."""

    ledger: Ledger

    def write(self, run_id: str, rows: Sequence[Reflexion]) -> None:
        super().write(run_id, rows)
        self.ledger.change_reflexions("shop", {"r-1": lambda row: row.edited("Mine.", "2026-02-01T00:00:00+00:00")})


def test_who_was_faster_than_an_apply_is_not_written_over(ledger: Ledger, tmp_path: Path) -> None:
    """R1: a scope is given to what the reviewer saw."""
    rows = [record(), record("r-2")]
    ledger.take_over("shop", rows)
    kept = Overtaken(tmp_path / "kept")
    kept.ledger = ledger
    done = apply(ledger, REGISTRY, "shop", proposed(*rows), kept)
    assert (done.changed, done.left) == (("r-2",), {"r-1": Left.CHANGED_SINCE})
    assert (scope_of(ledger), scope_of(ledger, "r-2")) == (UNSCOPED, BOUND)


def test_broken_off_in_the_middle_all_stands_or_nothing_and_it_can_be_repeated(tmp_path: Path, kept: Preimages) -> None:
    """R1: ten records, the ledger giving way at each of them in turn; then to the end, and back the same way."""
    url, rows = f"sqlite:///{tmp_path / 'ledger.db'}", [record(f"r-{number}") for number in range(10)]
    text, names = proposed(*rows), [row.id for row in rows]
    with Ledger.open(url) as ledger, closing(Database(url)) as database:
        ledger.take_over("shop", rows)

        def broken_off_at(name: str, work: Callable[[], object]) -> None:
            fails = f"WHEN new.reflexion_id = '{name}' BEGIN SELECT RAISE(ABORT, 'gone'); END"
            with database.write() as connection:
                connection.exec_driver_sql(f"CREATE TRIGGER gone BEFORE UPDATE ON reflexions {fails}")
            with pytest.raises(Exception, match="gone"):
                work()
            with database.write() as connection:
                connection.exec_driver_sql("DROP TRIGGER gone")

        for name in names:
            broken_off_at(name, lambda: apply(ledger, REGISTRY, "shop", text, kept))
            assert {scope_of(ledger, one) for one in names} == {UNSCOPED}
        done = apply(ledger, REGISTRY, "shop", text, kept)
        assert done.changed == tuple(names)
        for name in names:
            broken_off_at(name, lambda: roll_back(ledger, "shop", done.run_id, kept))
            assert {scope_of(ledger, one) for one in names} == {BOUND}
        assert roll_back(ledger, "shop", done.run_id, kept).changed == tuple(names)
        assert {row.id: row for row in ledger.reflexions("shop")} == {row.id: row for row in rows}


def test_no_preimages_no_change(ledger: Ledger, tmp_path: Path) -> None:
    """R1: no scope without a way back."""
    ledger.take_over("shop", [record()])
    (tmp_path / "kept").write_text("in the way")
    with pytest.raises(ConfigurationError, match="nothing was changed"):
        apply(ledger, REGISTRY, "shop", proposed(record()), Preimages(tmp_path / "kept"))
    assert scope_of(ledger) == UNSCOPED


def test_applying_twice_changes_nothing_more(ledger: Ledger, kept: Preimages) -> None:
    """R1."""
    ledger.take_over("shop", [record()])
    first = apply(ledger, REGISTRY, "shop", proposed(record()), kept)
    again = apply(ledger, REGISTRY, "shop", proposed(record()), kept)
    assert (again.run_id, again.changed, again.left) == (first.run_id, (), {"r-1": Left.DESELECTED})
    assert scope_of(ledger) == BOUND


def test_hazard_123_rollback_gives_back_and_spares_what_an_operator_changed(ledger: Ledger, kept: Preimages) -> None:
    """R1: an operator's scope stays; a drop and an edit stay too, on a record whose scope goes back."""
    rows = [record(name) for name in ("r-1", "r-2", "r-3")]
    ledger.take_over("shop", rows)
    done = apply(ledger, REGISTRY, "shop", proposed(*rows), kept)
    moved = {"scope_source": ScopeSource.OPERATOR, "scope_confidence": 1.0}
    ledger.change_reflexions("shop", {"r-2": lambda row: row.model_copy(update=moved)})
    ledger.change_reflexions("shop", {"r-3": lambda row: row.dropped("wrong", "2026-02-01")})
    back = roll_back(ledger, "shop", done.run_id, kept)
    assert (back.changed, back.left) == (("r-1", "r-3"), {"r-2": Left.OPERATOR_CORRECTION})
    after = {row.id: row for row in ledger.reflexions("shop")}
    assert after["r-1"] == rows[0]
    assert_row_written(after["r-2"], project="shop", scope_source="operator", workspace_root="/srv/shop")
    assert (after["r-3"].scope, after["r-3"].dropped_reason) == (None, "wrong")
    again = roll_back(ledger, "shop", done.run_id, kept)
    assert (again.changed, again.left["r-1"]) == ((), Left.CHANGED_SINCE)


@pytest.mark.parametrize("run_id", ["0" * 12, "../../etc", ""])
def test_a_run_that_is_none_is_not_rolled_back(ledger: Ledger, kept: Preimages, run_id: str) -> None:
    with pytest.raises(ConfigurationError, match="nothing was changed"):
        roll_back(ledger, "shop", run_id, kept)


def test_the_command(queue: Shop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """R1: from census to rollback, with real records and a repository that holds their evidence."""
    monkeypatch.setenv("REFLECT_STATE_DIR", str(queue.settings.state_dir))
    repo, file = ["--repo", str(queue.git.path), "--json"], queue.git.path.parent / "proposals.jsonl"
    with queue.ledger() as ledger:
        ledger.take_over("shop", [record(intervention="add a cart"), record("r-2")])
    assert run(["reclassify", "--write", str(file), *repo]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(one["id"], one["disposition"]) for one in shown["proposals"]] == [("r-1", "apply"), ("r-2", "leave")]
    with queue.ledger() as ledger:
        assert scope_of(ledger) == UNSCOPED, "a dry run writes a file and nothing else"
    assert run(["reclassify", "--apply", str(file), *repo]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["changed"] == ["r-1"]
    with queue.ledger() as ledger:
        assert scope_of(ledger) == (Scope.PROJECT, "shop", str(queue.git.path), ScopeSource.CLASSIFIER)
    assert run(["reclassify", "--rollback", done["run"], *repo]) == 0
    with queue.ledger() as ledger:
        assert scope_of(ledger) == UNSCOPED
    assert run(["reclassify", "--write", str(file), *repo]) == 2
    assert run(["reclassify", "--apply", str(file), "--rollback", "x", *repo]) == 2
