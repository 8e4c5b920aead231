"""Write-back, as a Prefect task."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.publish.policy import Published, PublishPolicy
from reflect.publish.publish import publish
from reflect.publish.retry import note_outcome
from reflect.report import RunReport
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.publish")


@task(name="publish", task_run_name="publish", cache_policy=NO_CACHE)
def write_back(workspace: Workspace, policy: PublishPolicy, report: RunReport, *, dry_run: bool = False) -> Published:
    """Write the wiki back; what was refused comes back as an outcome, for the next run to try again."""
    published = publish(workspace, policy, report, dry_run=dry_run)
    if not dry_run:
        note_outcome(workspace, published)
    log = logger.info if published.is_done else logger.warning
    log("publish: %s: %s %s", published.outcome.value, published.reason, published.url)
    return published
