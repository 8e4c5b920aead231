"""The stages of a run called one after the other, without Prefect: what its cost is measured against."""

from __future__ import annotations

from reflect.pipeline.archive import archive
from reflect.pipeline.index import Outcomes, land
from reflect.pipeline.intake import take_in
from reflect.pipeline.recovery import prepare
from reflect.pipeline.scope import bind_plan
from reflect.pipeline.triage import gather as gather_findings
from reflect.pipeline.triage import plan_pages, reflect_on_session
from reflect.pipeline.write import Desk, gather
from reflect.search.find import refresh_all
from reflect.triage.engines import engine_named
from reflect.workspace import Workspace
from tasks.expectations import check_pages, check_plan


def ingest_without_prefect(workspace: Workspace) -> int:
    """Run every stage; the number of tasks that the flow uses for the same work."""
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
    archive(workspace, land(workspace, done).run)
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
    return len(stages) + len(sessions) + len(bound.writes)
