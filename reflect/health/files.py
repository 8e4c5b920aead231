"""The report in a folder: a page, JSON, and a CSV file for each list. Each file is whole or as it was before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from reflect.errors import ReportError
from reflect.health.document import HealthReport
from reflect.health.frames import tables
from reflect.health.page import page_of
from reflect.wiki.files import put_whole

NAME = "lint-health"


def write_report(report: HealthReport, folder: Path) -> Path:
    """Write everything into `folder`, made where it is missing; the page's path.

    Raises ReportError where that cannot be done; files that were not written yet are as they were.
    """
    page = folder / f"{NAME}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in _files(report):
            put_whole(folder / name, text)
        put_whole(page, page_of(report))
    except OSError as error:
        raise ReportError(
            f"The report of {report.organisation} could not be written to {folder} ({error.strerror or error}); what "
            "is there is as it was; name a folder that can be written with `reflect org report --out`."
        ) from error
    return page


def _files(report: HealthReport) -> Iterator[tuple[str, str]]:
    yield f"{NAME}.json", json.dumps(report.as_json(), indent=1) + "\n"
    for name, text in tables(report):
        yield f"{name}.csv", text
