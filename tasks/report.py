"""The run's report, where people look for it: artifacts in the Prefect UI."""

from __future__ import annotations

from prefect.artifacts import create_link_artifact, create_markdown_artifact

from reflect.report import RunReport, render_markdown
from tasks.artifacts import slug, untaken


def publish_report(report: RunReport, *, waiting: int | None = None, url: str = "", written_back: str = "") -> None:
    """Attach the report to the run. Its key is per project, so the UI keeps a history of nights.

    `waiting` is how many claims wait for review in all, `url` where the pages can be looked at. The run has landed by
    then.
    """
    queue = f"; {waiting} claims wait for review" if waiting is not None else ""
    described = f"What run {report.run} did{queue}"
    with untaken("report"):
        create_markdown_artifact(
            markdown=render_markdown(report), key=f"report-{slug(report.project)}", description=described
        )
    if url:
        with untaken("link"):
            create_link_artifact(link=url, link_text=written_back or url, key=f"pages-{slug(report.project)}")
