"""What runs leave for people to read in the Prefect UI. A server that does not take it is said, and no failure."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from prefect.artifacts import create_table_artifact
from prefect.context import FlowRunContext, TaskRunContext
from prefect.exceptions import PrefectException

from expectations.plan import PlanVerdict
from reflect.model import Plan

logger = logging.getLogger("reflect.artifacts")

KEPT = "met"


def publish_plan(project: str, plan: Plan, verdict: PlanVerdict) -> None:
    """The plan as a table: each action with what the expectations say of it."""
    if not plan.actions or (FlowRunContext.get() is None and TaskRunContext.get() is None):
        return
    bad = {one.action.id: f"{one.expectation}: {one.reason}" for one in verdict.quarantined}
    rows = [
        {
            "page": action.path,
            "what": action.operation.value,
            "evidence": len(action.evidence_ids),
            "expectations": bad.get(action.id, KEPT),
            "why": action.reason,
        }
        for action in plan.actions
    ]
    described = f"{len(rows)} actions, {len(bad)} of them set aside by an expectation"
    with untaken("plan"):
        create_table_artifact(table=rows, key=f"plan-{slug(project)}", description=described)


def slug(name: str) -> str:
    """`name` as a part of an artifact's key."""
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "unnamed"


@contextmanager
def untaken(what: str) -> Iterator[None]:
    """The work has been done by then: an artifact that the server does not take is said, and no failure."""
    try:
        yield
    except (httpx.HTTPError, PrefectException) as error:
        logger.warning("artifacts: Prefect did not take the %s: %s", what, error)
