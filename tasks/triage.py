"""Triage, as Prefect tasks: one cached task per checkpoint session, one for the commits, one for the plan."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE, CachePolicy
from prefect.context import TaskRunContext
from prefect.transactions import IsolationLevel

from reflect.deadline import check
from reflect.model import Finding, Plan, Session, digest
from reflect.pipeline import triage
from reflect.pipeline.intake import Intake
from reflect.triage.engine import Engine
from reflect.workspace import Workspace
from tasks.locking import FlockLockManager
from tasks.parallel import over
from tasks.sealed import sealed

logger = logging.getLogger("reflect.triage")

WORKERS = 4


@dataclass
class PerCheckpoint(CachePolicy):
    """One cached answer per engine, version, checkpoint, content and evidence mode."""

    def compute_key(
        self, task_ctx: TaskRunContext, inputs: dict[str, Any], flow_parameters: dict[str, Any], **kwargs: Any
    ) -> str:
        return digest(*triage.cache_key(inputs["engine"], inputs["session"]))


@task(name="reflect on checkpoint", task_run_name="reflect · {name}", persist_result=True, result_serializer="json")
def reflect_on_checkpoint(engine: Engine, session: Session, name: str) -> str:
    """The findings of one session as JSON, from the cache where this session was read before."""
    return triage.reflect_on_session(engine, session)


_UNKEPT = reflect_on_checkpoint.with_options(cache_policy=NO_CACHE, persist_result=False)


def reflect_on_sessions(engine: Engine, intake: Intake, workspace: Workspace, *, keep: bool = True) -> triage.Reflected:
    """The findings of all new sessions. A session the engine could not answer for is left for the next run.

    Answers are kept unless `keep` says that they are no answers to keep: those of an estimate.
    """
    sessions = intake.batch.sessions
    logger.info("triage: reflecting on %d sessions", len(sessions))
    cached = _with_cache(workspace.settings.state / "results") if keep else _UNKEPT

    def one(session: Session) -> str:
        check()
        return str(cached(sealed(engine), sealed(session), f"checkpoint {session.id}"))

    return triage.gather(
        (done.item, done.result, done.error) for done in over(sessions, one, WORKERS, "reading sessions")
    )


@task(name="reflect on commits", task_run_name="reflect · commits", cache_policy=NO_CACHE)
def reflect_on_commits(engine: Engine, intake: Intake) -> triage.Reflected:
    """The findings of all new commits. Those the engine could not answer for are left for the next run."""
    logger.info("triage: reflecting on %d commits", len(intake.batch.commits))
    return triage.reflect_on_commits(engine, intake.batch.commits)


@task(name="plan", task_run_name="plan", cache_policy=NO_CACHE)
def plan(engine: Engine, findings: tuple[Finding, ...], intake: Intake, workspace: Workspace) -> Plan:
    """What to create, update and resolve."""
    planned = triage.plan_pages(engine, findings, intake, workspace)
    logger.info("triage: %d findings make %d actions", len(findings), len(planned.actions))
    return planned


def _with_cache(results: Path) -> Any:
    """The per-checkpoint task with its results below `results`, paid once also when two runs race."""
    policy = PerCheckpoint().configure(
        isolation_level=IsolationLevel.SERIALIZABLE, lock_manager=FlockLockManager(results / "locks")
    )
    return reflect_on_checkpoint.with_options(cache_policy=policy, result_storage=results)
