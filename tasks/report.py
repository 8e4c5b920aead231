"""The run's report, where people look for it: an artifact in the Prefect UI."""

from __future__ import annotations

import logging
import re

import httpx
from prefect.artifacts import create_markdown_artifact
from prefect.exceptions import PrefectException

from reflect.report import RunReport, render_markdown

logger = logging.getLogger("reflect.report")


def publish_report(report: RunReport) -> None:
    """Attach the report to the run. Its key is per project, so the UI keeps a history of nights.

    The run has landed by then: a server that does not take the report is said, and no failure.
    """
    key = f"report-{re.sub('[^a-z0-9-]+', '-', report.project.lower())}"
    try:
        create_markdown_artifact(markdown=render_markdown(report), key=key, description=f"What run {report.run} did")
    except (httpx.HTTPError, PrefectException) as error:
        logger.warning("report: Prefect did not take the report of run %s: %s", report.run, error)
