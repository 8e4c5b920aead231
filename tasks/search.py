"""Search, as a Prefect task: the index and qmd follow what has landed."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.search.find import refresh_all
from reflect.workspace import Workspace

logger = logging.getLogger("reflect.search")


@task(name="search", task_run_name="search", cache_policy=NO_CACHE)
def refresh_search(workspace: Workspace) -> tuple[str, ...]:
    """Bring the search index up to date; what could not be done comes back in sentences and fails nothing."""
    notes = refresh_all(workspace)
    for note in notes:
        logger.warning("search: %s", note)
    return notes
