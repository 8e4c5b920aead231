"""The run's report, where people look for it: an artifact in the Prefect UI."""

from __future__ import annotations

import re

from prefect.artifacts import create_markdown_artifact

from reflect.report import RunReport, render_markdown


def publish_report(report: RunReport) -> None:
    """Attach the report to the run. Its key is per project, so the UI keeps a history of nights."""
    key = f"report-{re.sub('[^a-z0-9-]+', '-', report.project.lower())}"
    create_markdown_artifact(markdown=render_markdown(report), key=key, description=f"What run {report.run} did")
