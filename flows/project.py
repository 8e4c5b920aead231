"""One project of an organisation: open it, hold it, ingest it, write it back."""

from __future__ import annotations

import time

from flows.repository import ingest
from reflect.deadline import check
from reflect.organisation.estate import Estate, WrittenBack
from reflect.organisation.night import ProjectNight, ProjectState
from tasks.report import publish_report


def ingest_member(
    estate: Estate, project: str, holder: str, *, engine: str | None = None, dry_run: bool = False
) -> ProjectNight:
    """Compile what is new in `project` into its wiki and write that back, with the project's lease held by `holder`.

    Calls tasks, so it runs inside a flow, or inside a task of a larger one. Raises RepositoryBusy where another run
    holds the project, and any ReflectError that stops it; nothing of it has landed then, or all of it.
    """
    began = time.monotonic()
    with estate.lease(project, holder) as lease, estate.opened(project) as workspace:

        def before_landing() -> None:
            check()
            lease.check()

        report = ingest(workspace, engine or estate.engine, dry_run=dry_run, before_landing=before_landing)
        back = WrittenBack() if dry_run else estate.write_back(project, workspace, report)
        waiting = estate.waiting(workspace.project.project_id)
        publish_report(report, waiting=waiting, url=back.url, written_back=back.said)
        done = ProjectNight.of(report, name=workspace.run_name)
        seconds = round(time.monotonic() - began, 3)
        told: dict[str, object] = {"project": project, "waiting": waiting, "seconds": seconds}
        if not back.is_done:
            told |= {"state": ProjectState.PARTLY, "reason": f"its pages were not written back ({back.said})"}
        return done.model_copy(update={**back.as_update(), **told})
