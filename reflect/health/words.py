"""The report in a few lines of Markdown, and its projects as rows, for where a page cannot be shown."""

from __future__ import annotations

import re
from typing import Any

from reflect.health.document import HealthReport, Knowledge, ProjectHealth

MOST_LISTED = 15


def markdown_of(report: HealthReport, place: str = "") -> str:
    """The worst projects and checks; `place` is where the whole report lies."""
    lines = [f"# Lint health: {_text(report.organisation)}", "", f"**{report.headline}**"]
    if place:
        lines += ["", f"The whole report: `{place}`"]
    known = [one for one in report.projects if one.pages is not None]
    worst = [one for one in known if one.errors or one.warnings][:MOST_LISTED]
    lines += _table("Worst wikis", ("project", "errors", "warnings", "hints", "oldest", "pages"), map(_project, worst))
    codes = [(one.code, one.severity, one.findings, one.projects) for one in report.codes[:MOST_LISTED]]
    lines += _table("What is wrong", ("check", "severity", "findings", "projects"), codes)
    broken = [(one.expectation, one.broken, one.pages) for one in report.expectations if one.broken]
    lines += _table("Expectations that are not met", ("expectation", "projects", "pages"), broken)
    for state, title in _UNKNOWN.items():
        unknown = [one for one in report.projects if one.state is state]
        rows = [(one.project, one.linted_at.date() if one.linted_at else "never", one.reason) for one in unknown]
        lines += _table(title, ("project", "known from", "why"), rows)
    return "\n".join(lines) + "\n"


def rows_of(report: HealthReport) -> list[dict[str, Any]]:
    """A row for each project, worst first, that names no page."""
    return [
        {
            "project": one.project,
            "state": one.state.value,
            "errors": one.errors,
            "warnings": one.warnings,
            "hints": one.hints,
            "pages": one.pages,
            "oldest (days)": one.oldest_days,
            "expectations met": _met(one),
            "known from": one.linted_at.date().isoformat() if one.linted_at else "",
        }
        for one in report.projects
    ]


_UNKNOWN = {
    Knowledge.LAST_KNOWN: "Not read by the last lint",
    Knowledge.NOT_LINTED: "Never linted",
}


def _project(one: ProjectHealth) -> tuple[object, ...]:
    oldest = "–" if one.oldest_days is None else f"{one.oldest_days} d"
    return one.project, one.errors, one.warnings, one.hints, oldest, one.pages


def _met(one: ProjectHealth) -> str:
    if one.expectations is None or one.expectations_broken is None:
        return "not checked"
    return f"{one.expectations - one.expectations_broken} of {one.expectations}"


def _table(title: str, heads: tuple[str, ...], rows: Any) -> list[str]:
    told = [f"| {' | '.join(_text(cell) for cell in row)} |" for row in rows]
    return ["", f"## {title}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *told] if told else []


def _text(value: object) -> str:
    """`value` as text that is no Markdown and no HTML."""
    return re.sub(r"([\\`*_\[\]<>|#&])", r"\\\1", " ".join(str(value).split()))
