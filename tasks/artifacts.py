"""What runs leave for people to read in the Prefect UI. A server that does not take it is said, and no failure."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import httpx
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.context import FlowRunContext, SyncClientContext, TaskRunContext
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
        put("table", f"plan-{slug(project)}", json.dumps(rows), described)


def put(kind: str, key: str, data: Any, description: str) -> UUID:
    """Attach an artifact to the run and task at work; its id.

    With the run's own client: Prefect's functions make one for each artifact, and that costs more than the artifact.
    """
    flow, task = FlowRunContext.get(), TaskRunContext.get()
    run = task.task_run.flow_run_id if task is not None else flow.flow_run.id if flow and flow.flow_run else None
    made = ArtifactCreate(
        key=key,
        type=kind,
        data=data,
        description=description,
        flow_run_id=run,
        task_run_id=task.task_run.id if task is not None else None,
    )
    with SyncClientContext.get_or_create() as context:
        return context.client.create_artifact(made).id


def change(artifact: UUID, data: Any, description: str) -> None:
    """Put other data into an artifact."""
    with SyncClientContext.get_or_create() as context:
        context.client.update_artifact(artifact, ArtifactUpdate(data=data, description=description))


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
