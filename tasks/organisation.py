"""What a night does once for the whole organisation, as Prefect tasks."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.deadline import call_within
from reflect.organisation import steps
from reflect.organisation.estate import Estate, News
from reflect.organisation.night import NightReport, ProjectNight, Step, StepState
from reflect.organisation.record import settle
from reflect.organisation.steps import Round
from tasks.artifacts import untaken
from tasks.parallel import over
from tasks.sweep import sweep_runs

logger = logging.getLogger("reflect.night")

PROBES = 8
PROBE_S = 30.0
SETTLING = timedelta(minutes=10)
"""How long a run may be unfinished without holding a lease: it starts, clones, and only then holds one."""


@task(name="sweep", task_run_name="sweep what a crashed night left", cache_policy=NO_CACHE)
def sweep(estate: Estate, night: str, own_run: str | None, *, alone: bool) -> tuple[str, ...]:
    """Clear runs, slots and nights whose process is gone; what was cleared, in sentences.

    `alone` says that this night holds the organisation for itself, so that any other one on record is a crashed one.
    """
    cleared: tuple[str, ...] = ()
    with untaken("sweep"):
        cleared = sweep_runs(estate.holders(), SETTLING, own=own_run)
    given_up: tuple[str, ...] = ()
    if alone:
        with estate.ledger() as ledger:
            given_up = ledger.give_up_nights(estate.name, estate.settings.now().isoformat(), but=night)
    return (*cleared, *(f"The night {one} never came to its end." for one in given_up))


@task(name="probe", task_run_name="probe {count} projects for news", cache_policy=NO_CACHE)
def probe(estate: Estate, projects: Sequence[str], count: int) -> tuple[News, ...]:
    """Which of `projects` have something new. One that cannot be asked counts as new: its own run says why."""
    limit_s = min(PROBE_S, estate.nightly.project_limit_s)
    answers = over(
        projects, lambda project: call_within(limit_s, lambda: estate.news(project)), PROBES, "looking for news"
    )
    news = tuple(done.result or News(done.item, done.item, is_new=True) for done in answers)
    logger.info("probe: %d of %d projects have something new", sum(one.is_new for one in news), count)
    return news


@task(name="step", task_run_name="{name}", cache_policy=NO_CACHE)
def step(around: Round, name: str, projects: Sequence[ProjectNight]) -> Step:
    """Do what is done once for the whole organisation; a failure is told of in what comes back."""
    done = steps.take(name, around, projects)
    logger.log(
        logging.INFO if done.state is StepState.DONE else logging.WARNING, "%s: %s %s", name, done.state, done.summary
    )
    return done


@task(name="report", task_run_name="report", cache_policy=NO_CACHE)
def finish_night(estate: Estate, report: NightReport) -> NightReport:
    """Write the night down, with the projects that fail night after night called out."""
    return settle(estate, report)
