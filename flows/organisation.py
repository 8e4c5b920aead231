"""A night of a whole organisation, and what may be started by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from pydantic import Field

from expectations.wiki import check_wiki
from flows.fan_out import as_deployments, as_tasks
from flows.night import Night
from flows.project import ingest_member
from reflect.deadline import call_within
from reflect.errors import RepositoryBusy
from reflect.organisation import record
from reflect.organisation.estate import Estate, News
from reflect.organisation.night import NightReport, ProjectNight, ProjectState, Step
from reflect.organisation.steps import LINT, REPORT, STEPS, SYNTHESIS, Round
from tasks.health import publish_health
from tasks.night import publish_night, publish_nights, state_of, state_of_project, state_of_steps
from tasks.organisation import finish_night, probe, step, sweep
from tasks.sealed import sealed


class EngineChoice(StrEnum):
    """Which engine reads the evidence."""

    EXTRACTIVE = "extractive"
    CLAUDE = "claude"


ProjectName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$", examples=["payments-api"])]


def _named(what: str) -> Callable[[], str]:
    """A name for runs that are about a whole organisation: what they do, and for which."""
    return lambda: f"{what} · {Estate.load(flow_run.parameters.get('organisation')).name}"


def _project_name() -> str:
    parameters = flow_run.parameters
    estate = Estate.load(parameters.get("organisation"))
    return f"ingest · {estate.label(parameters['project'])}"


@flow(name="ingest organisation", flow_run_name=_named("night"))
def ingest_organisation(
    organisation: Path | None = None, projects: tuple[ProjectName, ...] = (), dry_run: bool = False
) -> State[NightReport]:
    """Ingest every project of the organisation that has something new, each failing alone, and report.

    Args:
        organisation: The organisation file; the one in REFLECT_ORGANISATION where none is named.
        projects: Only these projects, by their ids; all of them where none is named.
        dry_run: Plan, and write nothing.
    """
    night = Night.begin(Estate.load(organisation), projects, dry_run=dry_run)
    try:
        with night.alone():
            report = whole_night(night)
    except RepositoryBusy as busy:
        report = night.refused(busy)
    publish_night(report)
    return state_of(report)


def whole_night(night: Night) -> NightReport:
    """What a night does, in its order; every project of the organisation is in the report once."""
    if not night.dry_run:
        record.begin(night.estate, night.id)
    swept = () if night.dry_run else sweep(sealed(night.estate), night.id, night.run, alone=night.is_alone)
    news = probe(sealed(night.estate), night.projects, len(night.projects))
    spread = as_deployments if night.on_the_pool else as_tasks
    ran = spread(night, [one for one in news if one.is_new])
    projects = (*ran, *(_unchanged(one) for one in news if not one.is_new))
    taken = () if night.dry_run else _steps(night, projects)
    return finish_night(sealed(night.estate), sealed(night.report(projects, swept, taken)))


@flow(name="ingest project", flow_run_name=_project_name)
def ingest_project(
    project: ProjectName,
    organisation: Path | None = None,
    engine: EngineChoice | None = None,
    dry_run: bool = False,
    night: str = "",
) -> State[str]:
    """Ingest one project of the organisation, whether the night would find something new in it or not.

    Args:
        project: The project's id in the organisation file.
        organisation: The organisation file; the one in REFLECT_ORGANISATION where none is named.
        engine: Which engine reads the evidence; the organisation's where none is chosen.
        dry_run: Plan, and write nothing.
        night: The night this run belongs to; leave it empty when you start a run by hand.
    """
    estate = Estate.load(organisation)
    holder = str(flow_run.id or "by-hand")
    try:
        done = call_within(
            estate.nightly.project_limit_s,
            lambda: ingest_member(estate, estate.require(project), holder, engine=engine, dry_run=dry_run),
        )
    except Exception as error:
        done = ProjectNight.of_error(project, error)
    if night:
        record.tell(estate, night, done)
    return state_of_project(done)


@flow(name="lint and report", flow_run_name=_named("lint"))
def lint_and_report(organisation: Path | None = None) -> State[str]:
    """Lint every wiki of the organisation, and report how they are and what the last nights came to.

    No wiki is changed: findings go into the ledger's history, and the report to the organisation's operator.

    Args:
        organisation: The organisation file; the one in REFLECT_ORGANISATION where none is named.
    """
    estate = Estate.load(organisation)
    publish_nights(estate.name, record.last_nights(estate))
    return state_of_steps([_by_hand(estate, name) for name in (LINT, REPORT)])


@flow(name="synthesis", flow_run_name=_named("synthesis"))
def synthesise_organisation(organisation: Path | None = None) -> State[str]:
    """Look across the projects for lessons that several of them share, and queue those for review.

    Args:
        organisation: The organisation file; the one in REFLECT_ORGANISATION where none is named.
    """
    estate = Estate.load(organisation)
    return state_of_steps([_by_hand(estate, SYNTHESIS)])


def _steps(night: Night, projects: Sequence[ProjectNight]) -> tuple[Step, ...]:
    around = Round(night.estate, night.id, check_wiki, publish_health)
    return tuple(step(sealed(around), name, sealed(projects)) for name in STEPS)


def _by_hand(estate: Estate, name: str) -> Step:
    return step(sealed(Round.by_hand(estate, check_wiki, publish_health)), name, ())


def _unchanged(one: News) -> ProjectNight:
    return ProjectNight(project=one.project, state=ProjectState.UNCHANGED, name=one.name, run=one.last_run)
