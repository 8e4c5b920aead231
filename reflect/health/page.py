"""The report as one HTML file that needs nothing else: no network, no server, no other file.

The page holds the report as JSON and shows it; what stands in it is text everywhere. A policy in the page lets only the
scripts run whose digests it names, and lets nothing be loaded or sent.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from reflect.health.charts import Figure, figures, library_script
from reflect.health.document import LISTS, HealthReport, Knowledge, NightHealth, ProjectHealth

MOST_ROWS = 4_000
"""How many findings, the worst ones, and how many broken pages the page itself holds; the other files have all."""

_TEMPLATES = Path(__file__).parent / "template"


@dataclass(frozen=True, slots=True)
class Tile:
    """One number with what stands below it; `line` are the points of its course over the nights."""

    label: str
    number: str
    under: str = ""
    tone: str = ""
    change: str = ""
    change_tone: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True)
class Attention:
    """Projects of which less is known than should be."""

    title: str
    rows: tuple[ProjectHealth, ...]
    tone: str


@dataclass(frozen=True, slots=True)
class Listing:
    """One table of the page."""

    id: str
    title: str
    lead: str


def page_of(report: HealthReport) -> str:
    """The whole page."""
    charts = figures(report)
    shown = _tables(report)
    scripts = [_inline(library_script())] if charts else []
    scripts.append(_inline((_TEMPLATES / "page.js").read_text("utf-8")))
    short = report.model_copy(update={name: getattr(report, name)[:MOST_ROWS] for name in ("findings", "broken")})
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            policy=_policy(scripts),
            style=Markup((_TEMPLATES / "page.css").read_text("utf-8")),
            empty=_empty(report),
            tiles=_tiles(report) if charts else (),
            attention=_attention(report),
            figures=charts,
            shown_tables=shown,
            sections=[("charts", "Charts"), *((one.id, one.title) for one in shown)] if charts else (),
            lists=LISTS,
            data=htmlsafe_json_dumps(short.as_json()),
            specs=htmlsafe_json_dumps([_spec(figure) for figure in charts]),
            scripts=[Markup(script) for script in scripts],
        )
    )


@cache
def _environment() -> Environment:
    loader = FileSystemLoader(_TEMPLATES)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _spec(figure: Figure) -> dict[str, Any]:
    return {"id": figure.id, "spec": figure.spec}


def _inline(script: str) -> str:
    """`script` as it may stand in a page, with the line ends that a browser will read."""
    return script.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _policy(scripts: Iterable[str]) -> str:
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def _empty(report: HealthReport) -> str:
    """What to do where there is nothing to show; empty where there is."""
    if not report.projects:
        return "Name projects in the organisation file; `reflect org check` says whether they can be read."
    if any(one.pages is not None for one in report.projects):
        return ""
    return "A night lints every wiki, and `reflect org lint` does it now. Not linted is not the same as no findings."


def _tiles(report: HealthReport) -> tuple[Tile, ...]:
    totals, nights = report.totals, report.nights
    told = totals["linted"] + totals["last_known"]
    checked = sum(one.expectations is not None for one in report.projects)
    met = sum(one.expectations_broken == 0 for one in report.projects)
    of = f"of {totals['projects']:,} projects" if told < totals["projects"] else "all projects"
    return (
        Tile("Wikis", f"{told:,}", of),
        Tile("Pages", f"{totals['pages']:,}", "archived ones too", "", *_change(nights, "pages", neutral=True)),
        Tile("Errors", f"{totals['errors']:,}", "mislead readers", _tone(totals, "error"), *_change(nights, "errors")),
        Tile(
            "Warnings",
            f"{totals['warnings']:,}",
            "will, in time",
            _tone(totals, "warning"),
            *_change(nights, "warnings"),
        ),
        Tile("Hints", f"{totals['hints']:,}", "worth a look", "", *_change(nights, "hints")),
        Tile("Fixable", f"{totals['fixable']:,}", "by reflect lint --fix"),
        Tile("Expectations", f"{met:,}", f"of {checked:,} meet all", "good" if checked and met == checked else ""),
    )


def _tone(totals: Mapping[str, int], severity: str) -> str:
    return severity if totals[f"{severity}s"] else "good"


def _change(nights: Sequence[NightHealth], name: str, *, neutral: bool = False) -> tuple[str, str, str]:
    """What changed since the lint before, how that is, and the course over the nights."""
    course = [int(getattr(night, name)) for night in nights]
    if len(course) < 2:
        return "", "", ""
    by = course[-1] - course[-2]
    tone = "" if neutral or not by else "worse" if by > 0 else "better"
    return f"{'+' if by > 0 else '−'}{abs(by):,}" if by else "", tone, _line(course)


def _line(course: Sequence[int]) -> str:
    low, high = min(course), max(course)
    span = (high - low) or 1
    step = 100 / (len(course) - 1)
    return " ".join(f"{n * step:.1f},{25 - 22 * (value - low) / span:.1f}" for n, value in enumerate(course))


def _attention(report: HealthReport) -> tuple[Attention, ...]:
    def rows(state: Knowledge) -> tuple[ProjectHealth, ...]:
        return tuple(one for one in report.projects if one.state is state)

    groups = (
        ("not read by the last lint; what was last known is shown", rows(Knowledge.LAST_KNOWN), "warning"),
        ("never linted, which is not the same as no findings", rows(Knowledge.NOT_LINTED), "warning"),
        ("switched off", rows(Knowledge.ASLEEP), ""),
    )
    return tuple(
        Attention(f"{len(found)} {'wiki' if len(found) == 1 else 'wikis'} {said}", found, tone)
        for said, found, tone in groups
        if found
    )


def _tables(report: HealthReport) -> tuple[Listing, ...]:
    findings = _lead("Everything that is open, worst and oldest first.", "findings", len(report.findings))
    broken = _lead("Each page with the expectation that it breaks.", "broken", len(report.broken))
    made = (
        (report.projects, Listing("projects", "Projects", "Worst first; what nothing is known of comes last.")),
        (
            report.codes,
            Listing("codes", "Checks", "What lint found, by check; reflect lint shows it in a repository."),
        ),
        (report.findings, Listing("findings", "Findings", findings)),
        (
            report.expectations,
            Listing(
                "expectations",
                "Expectations",
                "What every page is expected to be, whoever wrote it, checked with Great Expectations.",
            ),
        ),
        (report.broken, Listing("broken", "Pages that break one", broken)),
    )
    return tuple(listing for rows, listing in made if rows)


def _lead(said: str, name: str, rows: int) -> str:
    """What is said above a table, with what is left out of it."""
    return said if rows <= MOST_ROWS else f"{said} These are the first {MOST_ROWS:,} of {rows:,}; {name}.csv has all."
