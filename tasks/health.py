"""The lint-health report in the Prefect UI: its summary as Markdown, and a table of the projects."""

from __future__ import annotations

import json
from pathlib import Path

from reflect.health.document import HealthReport
from reflect.health.words import markdown_of, rows_of
from tasks.artifacts import put, slug, untaken


def publish_health(report: HealthReport, page: Path) -> None:
    """Attach both to the run. They belong to the organisation, and no project's own artifacts have any of it."""
    key = slug(report.organisation)
    with untaken("lint-health report"):
        put("markdown", f"lint-health-{key}", markdown_of(report, str(page)), report.headline)
        put("table", f"lint-health-projects-{key}", json.dumps(rows_of(report)), "Worst wikis first")
