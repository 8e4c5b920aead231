"""The run's report, where people look for it: artifacts in the Prefect UI."""

from __future__ import annotations

from reflect.report import RunReport, render_markdown
from tasks.artifacts import put, slug, untaken


def publish_report(report: RunReport, *, waiting: int | None = None, url: str = "", written_back: str = "") -> None:
    """Attach the report to the run. Its key is per project, so the UI keeps a history of nights.

    `waiting` is how many claims wait for review in all, `url` where the pages can be looked at. The run has landed by
    then.
    """
    queue = f"; {waiting} claims wait for review" if waiting is not None else ""
    described = f"What run {report.run} did{queue}"
    with untaken("report"):
        put("markdown", f"report-{slug(report.project)}", render_markdown(report), described)
    if url:
        with untaken("link"):
            put("markdown", f"pages-{slug(report.project)}", f"[{written_back or url}]({url})", "Where the pages went")
