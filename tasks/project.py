"""One project of a night, as a Prefect task that fails alone and in time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.context import TaskRunContext

from reflect.deadline import call_within
from reflect.errors import ReflectError, RepositoryBusy
from reflect.organisation.night import ProjectNight, ProjectState, explained

logger = logging.getLogger("reflect.project")


class ProjectFailed(ReflectError):
    """A project came to no end, for a reason that may be shown to everybody."""


@task(name="project", task_run_name="ingest · {name}", cache_policy=NO_CACHE)
def project(
    work: Callable[[], ProjectNight], project_id: str, name: str, limit_s: float, tags: Sequence[str] = ()
) -> ProjectNight:
    """What `work` did for the project within `limit_s` seconds; its run is found by `tags` once it has ended.

    Raises a ReflectError that names the reason where it came to no end. A project that another run holds is left to it.
    """
    _tag_run(tags)
    try:
        done = call_within(limit_s, work)
    except RepositoryBusy as busy:
        logger.info("project: %s is left to the run that holds it", project_id)
        return ProjectNight.of_error(project_id, busy, name=name)
    except ReflectError as error:
        logger.error("project: %s failed: %s", project_id, error)
        raise
    except Exception as error:
        raise ProjectFailed(explained(error)) from None  # what it says may repeat evidence; Prefect shows and keeps it
    level = logging.WARNING if done.state is ProjectState.PARTLY else logging.INFO
    logger.log(level, "project: %s is %s with %d pages %s", project_id, done.state, done.pages, done.reason)
    return done


def _tag_run(tags: Sequence[str]) -> None:
    """Tag the run, not the task.

    Ahead of a tagged task Prefect asks the server whether its tags are limited, with a thread and a client of its own
    for each set of tags: that costs more than all the stages of a project.
    """
    context = TaskRunContext.get()
    if context is not None:
        context.task_run.tags = sorted({*context.task_run.tags, *tags})
