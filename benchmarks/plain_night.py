"""A night called step by step, without Prefect: what Prefect's cost is measured against."""

from __future__ import annotations

import uuid

from benchmarks.plain import ingest_without_prefect
from expectations.wiki import check_wiki
from reflect.organisation import record, steps
from reflect.organisation.estate import Estate
from reflect.organisation.night import NightReport, ProjectNight, render_markdown
from reflect.report import render_markdown as render_run
from tasks.parallel import over


def night_without_prefect(estate: Estate, at_once: int, probes: int) -> NightReport:
    """Everything that a night does for its projects and for the organisation, and nothing of Prefect."""
    began, night, holder = estate.settings.now(), f"plain-{uuid.uuid4()}", str(uuid.uuid4())
    with estate.lease("night", holder):
        record.begin(estate, night)
        news = over(estate.awake, estate.news, probes)
        new = [one.item for one in news if one.result is None or one.result.is_new]
        ran = [_worth(done.result, done.error) for done in over(new, lambda one: _member(estate, night, one), at_once)]
        around = steps.Round(estate, night, check_wiki)
        taken = tuple(steps.take(name, around, ran) for name in steps.STEPS)
        report = NightReport(organisation=estate.name, night=night, projects=tuple(ran), steps=taken, started_at=began)
        report = record.settle(estate, report)
    render_markdown(report)
    return report


def _member(estate: Estate, night: str, project: str) -> ProjectNight:
    with estate.lease(project, night) as lease, estate.opened(project) as workspace:
        report = ingest_without_prefect(workspace).report
        lease.check()
        done = ProjectNight.of(report, name=workspace.run_name)
        render_run(report)
        done = done.model_copy(update={"waiting": estate.waiting(workspace.project.project_id)})
    record.tell(estate, night, done)
    return done


def _worth(done: ProjectNight | None, error: Exception | None) -> ProjectNight:
    if done is None:
        raise error or RuntimeError("a project gave no result")
    return done
