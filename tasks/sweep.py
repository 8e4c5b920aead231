"""Clearing what a crash left on the Prefect server: runs that count as running and whose process is gone.

Such a run holds its slot of a concurrency limit for as long as it counts as running, and keeps the next night out.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.states import Crashed

logger = logging.getLogger("reflect.sweep")

TAG = "reflect"
PAGE = 200
_UNFINISHED = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]


def sweep_runs(alive: Collection[str], older_than: timedelta, *, own: str | None = None) -> tuple[str, ...]:
    """Mark every run of ours as crashed that has been unfinished for `older_than` and is not among `alive`.

    `alive` are ids of runs that are known to work, `own` is the caller's. Returns what was cleared, in sentences.
    """
    keep = {*alive, *([own] if own else [])}
    with get_client(sync_client=True) as client:
        return tuple(_crash(client, run) for run in _unfinished(client, older_than) if str(run.id) not in keep)


def _unfinished(client: SyncPrefectClient, older_than: timedelta) -> list[FlowRun]:
    before = datetime.now(UTC) - older_than
    wanted = FlowRunFilter(
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=_UNFINISHED)),
        tags=FlowRunFilterTags(all_=[TAG]),
    )
    found: list[FlowRun] = []
    while page := client.read_flow_runs(flow_run_filter=wanted, limit=PAGE, offset=len(found)):
        found += page
    return [run for run in found if (run.start_time or run.expected_start_time or run.created or before) < before]


def _crash(client: SyncPrefectClient, run: FlowRun) -> str:
    gone: State[None] = Crashed(message="The process of this run is gone; the next night cleared it.")
    client.set_flow_run_state(run.id, gone, force=True)
    logger.warning("sweep: the run %s was %s and nothing of it was left", run.name, run.state_name)
    return f"The run {run.name} counted as {run.state_name}, and its process was gone."
