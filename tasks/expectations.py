"""Expectations, as Prefect tasks: a bad row is set aside and never takes a good one down."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.model import Plan
from reflect.pipeline.intake import Intake
from reflect.pipeline.write import Written
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.expectations")


@task(name="check plan", task_run_name="check-plan", cache_policy=NO_CACHE)
def check_plan(plan: Plan, intake: Intake, workspace: Workspace) -> Plan:
    return plan


@task(name="check pages", task_run_name="check-pages", cache_policy=NO_CACHE)
def check_pages(written: Written, intake: Intake, workspace: Workspace) -> Written:
    return written
