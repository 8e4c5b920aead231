"""The stages of a run called one after the other, without Prefect: what its cost is measured against."""

from __future__ import annotations

from expectations.pages import check_drafts
from expectations.plan import check_plan
from reflect.model import Outcome
from reflect.pipeline.archive import archive
from reflect.pipeline.index import Outcomes, land
from reflect.pipeline.intake import evidence_texts, take_in
from reflect.pipeline.recovery import prepare
from reflect.pipeline.scope import bind_plan
from reflect.pipeline.triage import gather as gather_findings
from reflect.pipeline.triage import plan_pages, reflect_on_session
from reflect.pipeline.write import Desk, gather
from reflect.triage.engines import engine_named
from reflect.workspace import Workspace
from tasks.expectations import draft_rows


def ingest_without_prefect(workspace: Workspace) -> int:
    """Run every stage; the number of tasks that the flow uses for the same work."""
    engine = engine_named(workspace.config.engine, workspace.config)
    prepare(workspace)
    intake = take_in(workspace, engine)
    sessions = intake.batch.sessions
    reflected = gather_findings((session, reflect_on_session(engine, session), None) for session in sessions)
    findings = (*reflected.findings, *engine.reflect_on_commits(intake.batch.commits), *intake.carried)
    planned = plan_pages(engine, findings, intake, workspace)
    texts = evidence_texts(intake)
    accepted = check_plan(planned, intake.wiki.pages, texts, frozenset(workspace.format.categories)).accepted
    bound = bind_plan(accepted, intake, workspace)
    desk = Desk.of(engine, bound, intake, workspace)
    written = gather((one, desk.write(one), None) for one in bound.writes)
    verdict = check_drafts(draft_rows(written.drafted, intake, workspace), texts, existing=intake.wiki.paths)
    written = written.without({bad.path: bad.reason for bad in verdict.refused}, Outcome.QUARANTINED)
    done = Outcomes(engine, intake, bound, written, reflected.unanswered, workspace.settings.now())
    archive(workspace, land(workspace, done).run)
    stages = ("collect", "reflect on commits", "plan", "check plan", "scope", "check pages", "index", "archive")
    return len(stages) + len(sessions) + len(bound.writes)
