"""The stages of a run called one after the other, without Prefect: what its cost is measured against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from reflect.errors import EngineError, WikiError
from reflect.pipeline.archive import archive
from reflect.pipeline.batches import send_questions
from reflect.pipeline.bill import Bill
from reflect.pipeline.index import Outcomes, land
from reflect.pipeline.intake import Intake, take_in
from reflect.pipeline.recovery import prepare
from reflect.pipeline.scope import bind_plan
from reflect.pipeline.triage import gather as gather_findings
from reflect.pipeline.triage import plan_pages, reflect_on_commits, reflect_on_session
from reflect.pipeline.write import Desk, gather
from reflect.report import RunReport
from reflect.search.find import refresh_all
from reflect.triage.engine import Engine
from reflect.triage.engines import engine_named
from reflect.workspace import Workspace
from tasks.expectations import check_pages, check_plan

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

STAGES = "collect, reflect on commits, plan, check plan, scope, check pages, index, archive, search".split(", ")


@dataclass(frozen=True, slots=True)
class PlainRun:
    """What a run did, and how many tasks the flow uses for the same work."""

    report: RunReport
    tasks: int


def ingest_without_prefect(workspace: Workspace) -> PlainRun:
    """Run every stage, also where there is nothing new."""
    engine = engine_named(workspace.config.engine, workspace.config)
    prepare(workspace)
    run = stages(workspace, engine, take_in(workspace, engine))
    refresh_all(workspace)
    return run


def stages(
    workspace: Workspace, engine: Engine, intake: Intake, bill: Bill | None = None, found: tuple[str, ...] = ()
) -> PlainRun:
    """The stages from triage to archive, with the calls in `bill`; a question without an answer takes no other down."""
    began = workspace.settings.now()
    sessions = intake.batch.sessions
    reflected = gather_findings(_each(sessions, lambda session: reflect_on_session(engine, session)))
    reflected = reflected.joined(reflect_on_commits(engine, intake.batch.commits))
    planned = plan_pages(engine, (*reflected.findings, *intake.carried), intake, workspace)
    bound = bind_plan(check_plan.fn(planned, intake, workspace), intake, workspace)
    desk = Desk.of(engine, bound, intake, workspace)
    written = check_pages.fn(gather(_each(bound.writes, desk.write)).linking_to(intake.wiki), intake, workspace)
    said = (*found, *send_questions(engine, workspace, written))
    spend = (bill or Bill(workspace)).spend
    done = Outcomes(engine, intake, bound, written, reflected.unanswered, began, said, reflected.set_aside, spend)
    report = land(workspace, done)
    report = report.with_archived(archive(workspace, report.run))
    return PlainRun(report, len(STAGES) + len(sessions) + len(bound.writes))


def _each(
    items: Iterable[_Item], call: Callable[[_Item], _Result]
) -> Iterator[tuple[_Item, _Result | None, Exception | None]]:
    for item in items:
        try:
            yield item, call(item), None
        except (EngineError, WikiError) as error:
            yield item, None, error
