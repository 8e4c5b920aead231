"""The stages of a run called one after the other, without Prefect: what its cost is measured against."""

from __future__ import annotations

from dataclasses import dataclass

from reflect.pipeline.archive import archive
from reflect.pipeline.index import Outcomes, land
from reflect.pipeline.intake import take_in
from reflect.pipeline.recovery import prepare
from reflect.pipeline.scope import bind_plan
from reflect.pipeline.triage import gather as gather_findings
from reflect.pipeline.triage import plan_pages, reflect_on_session
from reflect.pipeline.write import Desk, gather
from reflect.report import RunReport
from reflect.search.find import refresh_all
from reflect.triage.engines import engine_named
from reflect.workspace import Workspace
from tasks.expectations import check_pages, check_plan


@dataclass(frozen=True, slots=True)
class PlainRun:
    """What a run did, and how many tasks the flow uses for the same work."""

    report: RunReport
    tasks: int


def ingest_without_prefect(workspace: Workspace) -> PlainRun:
    """Run every stage, also where there is nothing new."""
    engine = engine_named(workspace.config.engine, workspace.config)
    prepare(workspace)
    intake = take_in(workspace, engine)
    sessions = intake.batch.sessions
    reflected = gather_findings((session, reflect_on_session(engine, session), None) for session in sessions)
    findings = (*reflected.findings, *engine.reflect_on_commits(intake.batch.commits), *intake.carried)
    planned = plan_pages(engine, findings, intake, workspace)
    bound = bind_plan(check_plan.fn(planned, intake, workspace), intake, workspace)
    desk = Desk.of(engine, bound, intake, workspace)
    drafts = gather((one, desk.write(one), None) for one in bound.writes)
    written = check_pages.fn(drafts, intake, workspace)
    done = Outcomes(engine, intake, bound, written, reflected.unanswered, workspace.settings.now())
    report = land(workspace, done)
    report = report.with_archived(archive(workspace, report.run))
    refresh_all(workspace)
    stages = (
        "collect",
        "reflect on commits",
        "plan",
        "check plan",
        "scope",
        "check pages",
        "index",
        "archive",
        "search",
    )
    return PlainRun(report, len(stages) + len(sessions) + len(bound.writes))
