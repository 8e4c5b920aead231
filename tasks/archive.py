"""Archive, as a Prefect task."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.pipeline import archive as stage
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.archive")


@task(name="archive", task_run_name="archive", cache_policy=NO_CACHE)
def archive(workspace: Workspace, run: str) -> tuple[tuple[str, str], ...]:
    """Move superseded and resolved pages to the archive; links follow."""
    moves = stage.archive(workspace, run)
    logger.info("archive: %d pages moved", len(moves))
    return moves
