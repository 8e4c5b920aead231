"""A night in the ledger: begun, told of each project as it ends, settled."""

from __future__ import annotations

from reflect.ledger.nights import NightRow, ProjectRow
from reflect.ledger.recording import instant
from reflect.organisation.estate import Estate
from reflect.organisation.night import NightReport, ProjectNight, again_and_again


def begin(estate: Estate, night: str) -> None:
    """Note that a night has begun, before anything is done in it."""
    with estate.ledger() as ledger:
        ledger.begin_night(estate.name, night, instant(estate.settings.now()))


def tell(estate: Estate, night: str, one: ProjectNight) -> None:
    """Note what became of one project."""
    with estate.ledger() as ledger:
        ledger.settle_project_night(estate.name, night, _row(one))


def told(estate: Estate, night: str, project: str) -> ProjectNight | None:
    """What was noted of `project`, by whichever process ran it; None where nothing was."""
    with estate.ledger() as ledger:
        rows = ledger.project_nights(estate.name, night)
    found = next((row for row in rows if row.project_id == project), None)
    return None if found is None else ProjectNight.model_validate_json(found.payload)


def settle(estate: Estate, report: NightReport) -> NightReport:
    """Write a night down, unless it was a dry run; the same with the projects called out that fail again and again."""
    with estate.ledger() as ledger:
        before = ledger.project_states(estate.name)
        report = report.model_copy(
            update={
                "again_and_again": again_and_again(report.projects, before),
                "finished_at": estate.settings.now(),
            }
        )
        if not report.dry_run:
            ledger.settle_night(_night_row(report), [_row(one) for one in report.projects])
    return report


def last_nights(estate: Estate, limit: int = 30) -> tuple[NightRow, ...]:
    """The last nights of the organisation, newest first."""
    with estate.ledger() as ledger:
        return ledger.recent_nights(estate.name, limit)


def _night_row(report: NightReport) -> NightRow:
    began, ended = instant(report.started_at), instant(report.finished_at)
    return NightRow(report.organisation, report.night, report.state.value, began, ended, report.as_json())


def _row(one: ProjectNight) -> ProjectRow:
    return ProjectRow(one.project, one.state.value, one.reason, one.model_dump_json())
