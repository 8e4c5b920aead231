"""What happens at once, what comes of it, and the test that shows it on every change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Race:
    """Two that meet. `test` is a file below `tests/` and a function in it."""

    who: str
    outcome: str
    test: str


RACES = (
    Race(
        "two ingests of one repository",
        "the second is refused with exit code 5, nothing changed",
        "cli/test_commands.py::test_a_second_run_at_the_same_time_is_turned_away",
    ),
    Race(
        "a person edits a page between plan and write",
        "nothing of the run lands, the edit stands, the next run takes it up",
        "wiki/test_landing.py::test_a_page_that_a_person_edited_in_between_stops_all",
    ),
    Race(
        "a remote moves between fetch and push",
        "rebased onto once; if it moves again, left for the next night",
        "publish/test_publish.py::test_hazard_115_remote_that_moves_between_fetch_and_push",
    ),
    Race(
        "four refreshes of one search index",
        "all succeed, one reads what is new",
        "search/test_search.py::test_refreshes_at_once_all_succeed",
    ),
    Race(
        "four refreshes of one qmd index",
        "all succeed, and a small collection beside a large one is not emptied",
        "search/test_qmd.py::test_hazard_109_and_110_four_refreshes_at_once_and_a_small_one_beside_a_large",
    ),
    Race(
        "two nights, `overlap: refuse`",
        "the second leaves with exit code 5",
        "flows/test_organisation.py::test_two_nights_at_once_the_second_is_refused",
    ),
    Race(
        "two nights, `overlap: wait`",
        "the second waits for its turn and finds nothing new",
        "flows/test_organisation.py::test_two_nights_at_once_the_second_waits_for_its_turn",
    ),
    Race(
        "two nights, `overlap: share`",
        "every project is done once, as by a single night",
        "flows/test_organisation.py::test_two_nights_that_share_do_everything_once",
    ),
    Race(
        "an approval and a rejection of one question",
        "one page or none, and the other operator is told",
        "review/test_two_operators.py::test_an_approval_and_a_rejection_at_once_leave_one_page_or_none",
    ),
    Race(
        "two clones that publish one project",
        "no commit is lost",
        "publish/test_publish.py::test_two_clones_publish_one_project",
    ),
)


def table_of_races() -> Iterator[str]:
    yield "| at once | outcome | shown on every change by |"
    yield "|---|---|---|"
    for race in RACES:
        yield f"| {race.who} | {race.outcome} | `tests/{race.test}` |"
