"""Scope, as a Prefect task."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.model import Plan
from reflect.pipeline.intake import Intake
from reflect.pipeline.scope import Bound, bind_plan
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.scope")


@task(name="scope", task_run_name="scope", cache_policy=NO_CACHE)
def bind_scope(plan: Plan, intake: Intake, workspace: Workspace) -> Bound:
    """Decide for each action whether it is written, waits for an operator, or is refused."""
    logger.info("scope: binding %d actions", len(plan.actions))
    return bind_plan(plan, intake, workspace)
