"""One repository, one night."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prefect import flow
from prefect.runtime import flow_run

from reflect.deadline import check
from reflect.pipeline.batches import collect_answers, send_questions
from reflect.pipeline.bill import Bill
from reflect.pipeline.engine import engine_for
from reflect.pipeline.index import Outcomes, report_on
from reflect.pipeline.recovery import prepare, unfinished
from reflect.publish.policy import PublishMode, PublishPolicy
from reflect.report import RunReport
from reflect.review.corrections import lessons_for
from reflect.triage.claude.estimating import Estimate
from reflect.triage.engines import ESTIMATED
from reflect.wiki.lock import repository_lock
from reflect.workspace import Workspace
from tasks.archive import archive
from tasks.collect import collect
from tasks.expectations import check_pages, check_plan
from tasks.index import index, nothing_new
from tasks.publish import write_back
from tasks.report import publish_report
from tasks.scope import bind_scope
from tasks.sealed import sealed
from tasks.search import refresh_search
from tasks.triage import plan, reflect_on_commits, reflect_on_sessions
from tasks.write import write_pages


def _run_name() -> str:
    """`ingest · project@short-sha`: what a person looks for in the list of runs."""
    return f"ingest · {Workspace.open(Path(flow_run.parameters['repository'])).run_name}"


@flow(name="ingest-repository", flow_run_name=_run_name, validate_parameters=False)
def ingest_repository(
    repository: Path, engine: str | None = None, dry_run: bool = False, publish: PublishMode = PublishMode.NONE
) -> RunReport:
    """Compile what is new in the repository at `repository` into its wiki, and say what became of every piece of it."""
    workspace = Workspace.open(Path(repository))
    with repository_lock(workspace.lock):
        report = ingest(workspace, engine, dry_run=dry_run, to_publish=publish is not PublishMode.NONE)
        if publish is not PublishMode.NONE:
            policy = PublishPolicy(mode=publish)
            report = report.with_published(write_back(sealed(workspace), policy, sealed(report), dry_run=dry_run))
    publish_report(report)
    return report


def ingest(
    workspace: Workspace,
    engine_name: str | None = None,
    *,
    dry_run: bool = False,
    to_publish: bool = False,
    before_landing: Callable[[], object] = check,
) -> RunReport:
    """The stages in their order. Calls tasks, so it runs inside a flow, or inside a task of a larger one.

    `to_publish`: the caller writes the pages back; where it is stopped before that, the next run does it.
    `before_landing` is asked last before anything is put in place, and raises where this run may no longer write.
    """
    started_at = workspace.settings.now()
    bill = Bill(workspace)
    estimate = Estimate() if dry_run else None
    engine = engine_for(workspace, engine_name, lessons_for(workspace), bill, estimate)
    found = unfinished(workspace) if dry_run else (*prepare(workspace), *collect_answers(engine))
    intake = collect(sealed(workspace), sealed(engine))
    if intake.is_empty:
        before_landing()
        return nothing_new(sealed(workspace), sealed(engine), sealed(intake), found, dry_run=dry_run)
    is_answered = not (dry_run and engine.name in ESTIMATED)
    reflected = reflect_on_sessions(engine, intake, workspace, keep=is_answered)
    reflected = reflected.joined(reflect_on_commits(sealed(engine), sealed(intake)))
    findings = (*reflected.findings, *intake.carried)
    planned = plan(sealed(engine), sealed(findings), sealed(intake), sealed(workspace))
    checked = check_plan(sealed(planned), sealed(intake), sealed(workspace))
    bound = bind_scope(sealed(checked), sealed(intake), sealed(workspace))
    written = check_pages(sealed(write_pages(engine, bound, intake, workspace)), sealed(intake), sealed(workspace))
    found = found if dry_run else (*found, *send_questions(engine, workspace, written))
    done = Outcomes(
        engine,
        intake,
        bound,
        written,
        reflected.unanswered,
        started_at,
        found,
        reflected.set_aside,
        bill.spend,
        to_publish,
    )
    if estimate is not None:
        return _estimated(report_on(workspace, done, dry_run=True), bill, estimate)
    before_landing()
    report = index(sealed(workspace), sealed(done))
    report = report.with_archived(archive(sealed(workspace), report.run))
    return report.with_notes(refresh_search(sealed(workspace)))


def _estimated(report: RunReport, bill: Bill, estimate: Estimate) -> RunReport:
    spend, said = bill.estimated(estimate)
    return report.model_copy(update={"spend": spend}).with_notes(said)
