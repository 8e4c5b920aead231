"""Collect, as a Prefect task."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.pipeline.intake import Intake, take_in
from reflect.triage.engine import Engine
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.collect")


@task(name="collect", task_run_name="collect", cache_policy=NO_CACHE)
def collect(workspace: Workspace, engine: Engine) -> Intake:
    """Read the checkpoints and commits that the ledger has not seen."""
    logger.info("collect: reading checkpoints and history of %s", workspace.project.project_id)
    intake = take_in(workspace, engine)
    logger.info("collect: %d sessions and %d commits are new", len(intake.batch.sessions), len(intake.batch.commits))
    return intake
