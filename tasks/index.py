"""Index, as a Prefect task: the commit point."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.pipeline.index import Outcomes, land, land_nothing
from reflect.pipeline.intake import Intake
from reflect.report import RunReport
from reflect.triage.engine import Engine
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.index")


@task(name="index", task_run_name="index", cache_policy=NO_CACHE)
def index(workspace: Workspace, done: Outcomes) -> RunReport:
    """Put pages, index and log in place together, then tell the ledger."""
    logger.info("index: landing %d pages", len(done.written.drafted))
    return land(workspace, done)


@task(name="index", task_run_name="index", cache_policy=NO_CACHE)
def nothing_new(
    workspace: Workspace, engine: Engine, intake: Intake, found: tuple[str, ...], *, dry_run: bool
) -> RunReport:
    """Remember that there was nothing to do; a dry run remembers nothing."""
    logger.info("index: nothing new")
    return land_nothing(workspace, engine, intake, found, dry_run=dry_run)
