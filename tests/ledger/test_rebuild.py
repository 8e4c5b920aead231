"""A ledger made again from the wiki."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reflect.ledger.ledger import Ledger
from reflect.ledger.rebuild import Rebuilt, WikiSources
from reflect.model import PageSummary, Source, SourceKind
from tests.ledger.entries import CHECKPOINT, OTHER, PROJECT, SESSION, SHA, entry, key, record, reflexion, summary

KNOWN = {SESSION: "tree-1", f"{CHECKPOINT}/1": "tree-2", "ffffffffffff/0": "tree-3", SHA: SHA}
CITED = summary("gotchas/tabs.md", Source.of(SESSION), Source.of(SHA))


def wiki(*pages: PageSummary, log: Sequence[str] = ("run-1",), **changes: Any) -> WikiSources:
    return WikiSources(**({"project": PROJECT, "pages": pages, "landed_runs": log, "known": KNOWN} | changes))


def rebuild(ledger: Ledger, *pages: PageSummary, **changes: Any) -> Rebuilt:
    return ledger.rebuild(wiki(*pages, **changes))


def test_hazard_95_another_machine_does_not_write_again_what_the_wiki_has(ledger: Ledger) -> None:
    done = rebuild(ledger, CITED)
    assert done.restored == (SESSION, f"{CHECKPOINT}/1", SHA)
    seen = ledger.seen(PROJECT, {"run-1"})
    assert seen.contents == {SESSION: "tree-1", f"{CHECKPOINT}/1": "tree-2", SHA: SHA}
    assert ledger.counts(PROJECT).evidence == {"commit": {"compiled": 1}, "session": {"compiled": 2}}


def test_the_seed_window_is_opened_again(ledger: Ledger) -> None:
    """What was read and gave no page is not in the wiki: the next run has to look at the window again."""
    rebuild(ledger, CITED)
    assert ledger.seen(PROJECT, {"run-1"}).first_run


def test_rebuilding_twice_changes_nothing(ledger: Ledger) -> None:
    rebuild(ledger, CITED)
    before = (ledger.seen(PROJECT, {"run-1"}), ledger.counts(PROJECT))
    again = rebuild(ledger, CITED)
    assert (again.restored, again.already) == ((), (SESSION, f"{CHECKPOINT}/1", SHA))
    assert (ledger.seen(PROJECT, {"run-1"}), ledger.counts(PROJECT)) == before


def test_a_healthy_ledger_is_left_alone(ledger: Ledger) -> None:
    ledger.record(entry(evidence=(record(SESSION), record(f"{CHECKPOINT}/1"), record(SHA, content=SHA)), seeded=True))
    before = (ledger.seen(PROJECT, {"run-1"}), ledger.counts(PROJECT))
    assert rebuild(ledger, CITED).restored == ()
    assert (ledger.seen(PROJECT, {"run-1"}), ledger.counts(PROJECT)) == before


def test_what_the_ledger_knows_of_newer_content_stays(ledger: Ledger) -> None:
    ledger.record(entry(evidence=(record(SESSION, content="tree-0"),)))
    rebuild(ledger, summary("gotchas/tabs.md", Source.of(SESSION)))
    assert ledger.seen(PROJECT, {"run-1"}).contents[SESSION] == "tree-0"  # type: ignore[index]


def test_a_session_that_grew_since_the_rebuild_is_not_taken_for_read(ledger: Ledger) -> None:
    rebuild(ledger, CITED)
    rebuild(ledger, CITED, known=KNOWN | {SESSION: "tree-grown"})
    assert ledger.seen(PROJECT, {"run-1"}).contents[SESSION] == "tree-1"  # type: ignore[index]


def test_what_no_page_cites_any_more_is_taken_back(ledger: Ledger) -> None:
    rebuild(ledger, CITED, summary("gotchas/other.md", Source.of("ffffffffffff/0")))
    rebuild(ledger, CITED)
    assert "ffffffffffff/0" not in ledger.seen(PROJECT, {"run-1"}).contents


def test_rebuilt_rows_count_while_the_wikis_log_stands(ledger: Ledger) -> None:
    rebuild(ledger, CITED, log=("run-1", "run-2"))
    assert set(ledger.seen(PROJECT, {"run-1", "run-2", "run-3"}).contents) == {SESSION, f"{CHECKPOINT}/1", SHA}
    assert ledger.seen(PROJECT, set()).contents == {}


def test_a_wiki_without_a_log_of_ours_is_restored_too(ledger: Ledger) -> None:
    rebuild(ledger, CITED, log=())
    assert set(ledger.seen(PROJECT, set()).contents) == {SESSION, f"{CHECKPOINT}/1", SHA}
    rebuild(ledger, log=())
    assert ledger.seen(PROJECT, set()).contents == {}


def test_the_runs_after_a_rebuild_go_on_from_it(ledger: Ledger) -> None:
    rebuild(ledger, CITED)
    ledger.record(entry("run-2", evidence=(record("ffffffffffff/0", content="tree-3"),)))
    done = rebuild(ledger, CITED, log=("run-1", "run-2"))
    assert done.restored == ()
    assert set(ledger.seen(PROJECT, {"run-1", "run-2"}).contents) == set(KNOWN)


def test_turn_keys_and_reflexions_the_caller_gives_come_back(ledger: Ledger) -> None:
    rebuild(ledger, CITED, turn_keys={SESSION: [key(4), key(3)]}, reflexions=[reflexion()])
    assert ledger.seen(PROJECT, {"run-1"}).turn_keys == {key(3), key(4)}
    assert ledger.reflexions(PROJECT) == (reflexion(),)


@pytest.mark.parametrize(
    ("source", "known", "reason"),
    [
        (Source(kind=SourceKind.CHECKPOINT, id="0" * 12), KNOWN, "it is not in this repository"),
        (Source(kind=SourceKind.COMMIT, id="deadbee"), KNOWN, "it is not in this repository"),
        (Source(kind=SourceKind.COMMIT, id=""), KNOWN, "it is not in this repository"),
        (Source(kind=SourceKind.COMMIT, id="99363"), KNOWN | {"99363" + "f" * 35: "x"}, "it fits 2 commits"),
    ],
    ids=["no-checkpoint", "no-commit", "nothing", "two-commits"],
)
def test_a_source_that_stands_for_nothing_is_said(
    ledger: Ledger, source: Source, known: dict[str, str], reason: str
) -> None:
    done = rebuild(ledger, summary("gotchas/tabs.md", source), known=known)
    assert done.restored == ()
    assert [(item.path, item.source, item.reason) for item in done.unresolved] == [("gotchas/tabs.md", source, reason)]


@pytest.mark.parametrize("digits", [7, 12, 40])
def test_a_commit_is_found_by_any_prefix_that_fits_it_alone(ledger: Ledger, digits: int) -> None:
    source = Source(kind=SourceKind.COMMIT, id=SHA[:digits])
    assert rebuild(ledger, summary("gotchas/tabs.md", source)).restored == (SHA,)


def test_a_page_of_another_project_restores_nothing(ledger: Ledger) -> None:
    foreign = summary("gotchas/tabs.md", Source.of(SESSION), project=OTHER)
    done = rebuild(ledger, foreign)
    assert (done.restored, done.foreign_pages) == ((), ("gotchas/tabs.md",))
    assert ledger.counts(PROJECT).runs == 0
    assert ledger.counts(OTHER).runs == 0


def test_an_empty_wiki_restores_nothing(ledger: Ledger) -> None:
    assert rebuild(ledger, log=()) == Rebuilt(project=PROJECT)
    assert ledger.counts(PROJECT).runs == 0


def test_a_lost_ledger_comes_back_from_the_wiki(sqlite_url: str, tmp_path: Path) -> None:
    with Ledger.open(sqlite_url) as ledger:
        ledger.record(entry(evidence=(record(SESSION), record(SHA, content=SHA)), seeded=True))
        before = ledger.seen(PROJECT, {"run-1"}).contents
    for file in (tmp_path / "state").iterdir():
        file.unlink()
    with Ledger.open(sqlite_url) as ledger:
        ledger.rebuild(wiki(CITED, known={SESSION: "tree-1", SHA: SHA}))
        assert ledger.seen(PROJECT, {"run-1"}).contents == before
