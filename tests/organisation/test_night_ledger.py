"""Nights as the ledger keeps them, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from reflect.ledger import nights
from reflect.ledger.ledger import Ledger
from reflect.ledger.nights import NightRow, ProjectRow
from tests.ledger.conftest import ledger, migrated_file, migrated_schema, postgresql

__all__ = ["ledger", "migrated_file", "migrated_schema", "postgresql"]

ORG = "harbour"


def settled(ledger: Ledger, number: int, states: dict[str, str], organisation: str = ORG) -> None:
    at = f"2026-01-{number:02}T02:00:00+00:00"
    ledger.settle_night(
        NightRow(organisation, f"night-{number}", "completed", at, at, {"n": number}),
        [ProjectRow(project, state) for project, state in states.items()],
    )


def test_states_come_newest_first_and_by_organisation(ledger: Ledger) -> None:
    settled(ledger, 1, {"a": "done", "b": "failed"})
    settled(ledger, 2, {"a": "failed"})
    settled(ledger, 3, {"a": "done"}, organisation="another")
    assert ledger.project_states(ORG) == {"a": ("failed", "done"), "b": ("failed",)}
    assert ledger.project_states(ORG, limit=1) == {"a": ("failed",)}
    assert ledger.project_states("another") == {"a": ("done",)}


def test_a_night_settled_twice_is_one_night(ledger: Ledger) -> None:
    settled(ledger, 1, {"a": "failed"})
    settled(ledger, 1, {"a": "done"})
    (night,) = ledger.recent_nights(ORG)
    assert (night.night_id, night.report) == ("night-1", {"n": 1})
    assert ledger.project_states(ORG) == {"a": ("done",)}


def test_a_project_is_known_before_its_night_is_settled(ledger: Ledger) -> None:
    ledger.begin_night(ORG, "n", "2026-01-01T00:00:00+00:00")
    ledger.settle_project_night(ORG, "n", ProjectRow("a", "failed", "no such branch", '{"x": 1}'))
    ledger.settle_project_night(ORG, "n", ProjectRow("a", "done"))
    assert ledger.project_nights(ORG, "n") == (ProjectRow("a", "done"),)
    assert ledger.project_states(ORG) == {}


def test_nights_that_a_crash_left_running_are_closed_all_but_this_one(ledger: Ledger) -> None:
    for night in ("old", "older", "mine"):
        ledger.begin_night(ORG, night, "2026-01-01T00:00:00+00:00")
    ledger.begin_night("another", "theirs", "2026-01-01T00:00:00+00:00")
    assert ledger.give_up_nights(ORG, "2026-01-02T00:00:00+00:00", but="mine") == ("old", "older")
    assert {one.night_id: one.state for one in ledger.recent_nights(ORG)} == {
        "old": "crashed",
        "older": "crashed",
        "mine": "running",
    }
    assert ledger.give_up_nights(ORG, "2026-01-02T00:00:00+00:00", but="mine") == ()
    assert ledger.recent_nights("another")[0].state == "running"


def test_nights_are_forgotten_after_a_while(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nights, "KEPT", 3)
    for number in range(1, 6):
        settled(ledger, number, {"a": "done"})
    assert [one.night_id for one in ledger.recent_nights(ORG)] == ["night-5", "night-4", "night-3"]
    assert ledger.project_states(ORG) == {"a": ("done",) * 3}


def test_words_that_no_database_holds_are_kept(ledger: Ledger) -> None:
    ledger.begin_night(ORG, "n", "2026-01-01T00:00:00+00:00")
    ledger.settle_project_night(ORG, "n", ProjectRow("a", "failed", "a NUL \x00 and \ud83d"))
    assert ledger.project_nights(ORG, "n")[0].reason == "a NUL \x00 and \ud83d"
