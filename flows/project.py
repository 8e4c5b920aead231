"""One project of an organisation: open it, hold it, ingest it, write it back."""

from __future__ import annotations

import time

from flows.repository import ingest
from reflect.deadline import check
from reflect.organisation.estate import Estate
from reflect.organisation.night import ProjectNight
from reflect.publish.policy import PublishMode
from tasks.publish import write_back
from tasks.report import publish_report
from tasks.sealed import sealed


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

        policy = estate.publish_policy(project)
        to_publish = not dry_run and policy.mode is not PublishMode.NONE
        report = ingest(
            workspace,
            engine or estate.engine,
            dry_run=dry_run,
            to_publish=to_publish,
            before_landing=before_landing,
        )
        done = ProjectNight.of(report, name=workspace.run_name)
        if to_publish:
            published = write_back(sealed(workspace), policy, sealed(report))
            report, done = report.with_published(published), done.written_back_as(published)
        waiting = estate.waiting(workspace.project.project_id)
        publish_report(report, waiting=waiting, url=done.url, written_back=done.written_back)
        seconds = round(time.monotonic() - began, 3)
        return done.model_copy(update={"project": project, "waiting": waiting, "seconds": seconds})
