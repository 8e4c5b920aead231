"""The projects of a night, so many at a time: as tasks of this process, or as runs on the work pool."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import cast

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelling

from flows.night import Night
from flows.project import ingest_member
from reflect.errors import OrchestratorError, TimeLimitReached
from reflect.organisation import record
from reflect.organisation.estate import News
from reflect.organisation.night import ProjectNight, ProjectState
from tasks.artifacts import slug
from tasks.night import Progress
from tasks.parallel import Done, over
from tasks.project import project as project_task
from tasks.sealed import sealed

DEPLOYMENT = "ingest project/project"
POLL_S = 2.0
START_S = 900.0
"""How much longer than its limit a project's run may take: it waits for a worker and starts a process."""

Runner = Callable[[Night, News], ProjectNight]


def as_tasks(night: Night, news: Sequence[News]) -> tuple[ProjectNight, ...]:
    """A task for each project in this process, with its stages nested in it."""
    return _spread(night, news, _in_a_task)


def as_deployments(night: Night, news: Sequence[News]) -> tuple[ProjectNight, ...]:
    """A run for each project on the work pool, on whichever machine takes it."""
    return _spread(night, news, _in_a_deployment)


def _spread(night: Night, news: Sequence[News], run: Runner) -> tuple[ProjectNight, ...]:
    progress = Progress(f"progress-{slug(night.estate.name)}", len(news))

    def one(item: News) -> ProjectNight:
        began = time.monotonic()
        try:
            done = _skipped(night, item) if night.cap_reached else run(night, item)
        except Exception as error:
            done = ProjectNight.of_error(item.project, error, name=item.name, seconds=time.monotonic() - began)
        night.settle(done)
        progress.one_more(night.spent_usd)
        return done

    answers = over(news, one, night.estate.nightly.at_once, "projects")
    return tuple(_ended(answer) for answer in answers)


def _ended(answer: Done[News, ProjectNight]) -> ProjectNight:
    error = answer.error or RuntimeError("it gave no result")
    return answer.result or ProjectNight.of_error(answer.item.project, error, name=answer.item.name)


def _skipped(night: Night, item: News) -> ProjectNight:
    cap = night.estate.nightly.cap_usd or 0.0
    reason = f"The night's cap of ${cap:.2f} was reached before its turn; its evidence waits for the next night."
    return ProjectNight(project=item.project, name=item.name, state=ProjectState.SKIPPED, reason=reason)


def _in_a_task(night: Night, item: News) -> ProjectNight:
    def work() -> ProjectNight:
        return ingest_member(night.estate, item.project, night.run, dry_run=night.dry_run)

    limit_s = night.estate.nightly.project_limit_s
    return project_task(sealed(work), item.project, item.name, limit_s, night.estate.tags(item.project))


def _in_a_deployment(night: Night, item: News) -> ProjectNight:
    limit_s = night.estate.nightly.project_limit_s + START_S
    asked = {
        "project": item.project,
        "organisation": str(night.estate.file),
        "dry_run": night.dry_run,
        "night": night.id,
    }
    try:
        run = run_deployment(
            DEPLOYMENT,
            parameters=asked,
            flow_run_name=f"ingest · {item.name}",
            tags=list(night.estate.tags(item.project)),
            timeout=limit_s,
            poll_interval=POLL_S,
        )
    except ObjectNotFound as error:
        raise OrchestratorError(
            f"The deployment {DEPLOYMENT!r} is not registered with the Prefect server; {item.project} was not started; "
            "run `prefect deploy --all --no-prompt`."
        ) from error
    return _what_became(night, item, cast(FlowRun, run))


def _what_became(night: Night, item: News, run: FlowRun) -> ProjectNight:
    if run.state is None or not run.state.is_final():
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(run.id, Cancelling(), force=True)
        raise TimeLimitReached(f"The run {run.name} did not come to its end in time and was cancelled.")
    told = record.told(night.estate, night.id, item.project)
    if told is not None:
        return told
    raise OrchestratorError(f"The run {run.name} ended as {run.state.name}: {run.state.message or 'without a word'}")
