"""The charts of the page, as Vega-Lite specifications: what they show is in the report, how they look is in the page.

Colours are the page's own CSS variables, so that a change of theme draws nothing anew. Altair and the library's script
take seconds to load and are loaded by the first chart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from reflect.health.document import Age, HealthReport, ProjectHealth
from reflect.lint.finding import SEVEREST_FIRST

if TYPE_CHECKING:
    import altair as alt

MOST_BARS = 20
"""How many projects or checks a chart names; the tables name all of them."""

MOST_COVERED = 30
_ROW = 22
_SEVERITIES = [f"{severity.value}s" for severity in SEVEREST_FIRST]
_STATUS_COLOURS = {
    "active": "var(--series-1)",
    "open": "var(--series-2)",
    "resolved": "var(--series-3)",
    "superseded": "var(--series-4)",
    "archived": "var(--series-5)",
}
_OTHER_COLOUR = "var(--series-6)"


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart with what is said above and below it. `wide` takes the page's whole width."""

    id: str
    title: str
    lead: str
    spec: Mapping[str, Any]
    wide: bool = False


def figures(report: HealthReport) -> tuple[Figure, ...]:
    """The charts that have something to show."""
    known = [one for one in report.projects if one.pages is not None]
    if not known:
        return ()
    made = (
        _trend(report),
        _changes(report),
        _ages(report),
        _worst(known),
        _pages(report, known),
        _codes(report),
        _coverage(report, known),
    )
    return tuple(one for one in made if one is not None)


@cache
def library_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that needs nothing else."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_vega_lite()))


def _vega_lite() -> str:
    """The Vega-Lite that Altair writes for, as `major.minor`."""
    import altair as alt

    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _trend(report: HealthReport) -> Figure | None:
    if not report.nights:
        return None
    rows = [
        {"at": one.at.isoformat(), "kind": kind, "findings": getattr(one, kind), "order": number}
        for one in report.nights
        for number, kind in enumerate(_SEVERITIES)
    ]
    alt, chart = _chart(rows)
    drawn = chart.mark_area(line=True, point={"size": 18}, fillOpacity=0.28, interpolate="monotone").encode(
        x=alt.X("at:T", title=None, axis=alt.Axis(format="%d %b", tickCount=8, grid=False)),
        y=alt.Y("findings:Q", title=None, stack=True),
        color=_severity(alt),
        order=alt.Order("order:Q"),
        tooltip=[_t(alt, "at:T", "night", "%d %b %Y, %H:%M"), _t(alt, "kind:N", "what"), _t(alt, "findings:Q", "open")],
    )
    return Figure("trend", "Open findings, night by night", _carried(report), _spec(drawn, 240), wide=True)


def _carried(report: HealthReport) -> str:
    carried = report.nights[-1].carried
    if not carried:
        return f"Over {_counted(len(report.nights), 'lint')} of the organisation."
    wikis = "One wiki that was" if carried == 1 else f"{carried} wikis that were"
    return f"{wikis} not read by the last lint {'counts as it was' if carried == 1 else 'count as they were'} before."


def _changes(report: HealthReport) -> Figure | None:
    if not report.nights:
        return None
    rows = [
        {"at": one.at.isoformat(), "kind": kind, "findings": amount}
        for one in report.nights
        for kind, amount in (("came", one.appeared), ("went", -one.gone))
    ]
    alt, chart = _chart(rows)
    bars = chart.mark_bar(width={"band": 0.7}, cornerRadius=2).encode(
        x=alt.X("at:T", timeUnit="yearmonthdate", title=None, axis=alt.Axis(format="%d %b", tickCount=6, grid=False)),
        y=alt.Y("sum(findings):Q", title=None),
        color=_colours(alt, "kind", {"came": "var(--fill-error)", "went": "var(--fill-good)"}),
        tooltip=[
            _t(alt, "yearmonthdate(at):T", "day", "%d %b %Y"),
            _t(alt, "kind:N", "what"),
            _t(alt, "sum(findings):Q", "findings"),
        ],
    )
    return Figure("changes", "What came and what went", "Findings since the lint before, each day.", _spec(bars, 220))


def _worst(known: Sequence[ProjectHealth]) -> Figure | None:
    worst = [one for one in known if one.errors or one.warnings or one.hints][:MOST_BARS]
    if not worst:
        return None
    rows = [
        {"project": one.project, "kind": kind, "findings": getattr(one, kind), "order": number}
        for one in worst
        for number, kind in enumerate(_SEVERITIES)
    ]
    lead = f"The {len(worst)} worst of {len(known)}." if len(worst) < len(known) else "Every wiki that has findings."
    spec = _bars(rows, "project", [one.project for one in worst], "findings")
    return Figure("worst", "Worst wikis first", lead, spec)


def _codes(report: HealthReport) -> Figure | None:
    top = report.codes[:MOST_BARS]
    if not top:
        return None
    rows = [
        {"check": one.code, "kind": f"{one.severity}s", "findings": one.findings, "projects": one.projects, "order": 0}
        for one in top
    ]
    spec = _bars(rows, "check", [one.code for one in top], "findings", extra="projects")
    return Figure("codes", "What is wrong", "Findings by check, errors first.", spec, wide=True)


def _ages(report: HealthReport) -> Figure | None:
    if not report.ages:
        return None
    rows = [
        {"age": one.age.value, "kind": f"{one.severity}s", "findings": one.findings, "order": number}
        for number, severity in enumerate(SEVEREST_FIRST)
        for one in report.ages
        if one.severity == severity.value
    ]
    spec = _bars(rows, "age", [age.value for age in Age], "findings", row=40)
    return Figure("ages", "How long it has been so", "Age of what is open, since a lint first saw it.", spec)


def _pages(report: HealthReport, known: Sequence[ProjectHealth]) -> Figure:
    largest = sorted(known, key=lambda one: (-(one.pages or 0), one.project))[:MOST_BARS]
    names = [one.project for one in largest]
    statuses = sorted(
        {one.status for one in report.pages}, key=lambda name: ([*_STATUS_COLOURS, name].index(name), name)
    )
    rows = [
        {"project": one.project, "status": one.status, "pages": one.pages, "order": statuses.index(one.status)}
        for one in report.pages
        if one.project in set(names)
    ]
    alt, chart = _chart(rows)
    bars = chart.mark_bar(height={"band": 0.72}, cornerRadius=2).encode(
        y=alt.Y("project:N", sort=names, title=None, axis=alt.Axis(labelLimit=190)),
        x=alt.X("pages:Q", title=None, axis=alt.Axis(tickCount=5)),
        color=_colours(alt, "status", {name: _STATUS_COLOURS.get(name, _OTHER_COLOUR) for name in statuses}),
        order=alt.Order("order:Q"),
        tooltip=[_t(alt, "project:N"), _t(alt, "status:N"), _t(alt, "pages:Q")],
    )
    lead = f"The {len(names)} largest of {len(known)}." if len(names) < len(known) else "Every wiki, largest first."
    return Figure("pages", "Pages of each wiki", lead, _spec(bars, _ROW * max(len(names), 3)))


def _coverage(report: HealthReport, known: Sequence[ProjectHealth]) -> Figure | None:
    shown = [one.project for one in known[:MOST_COVERED]]
    categories = [one.category for one in report.categories][:MOST_BARS]
    rows = [
        {"project": one.project, "category": one.category, "pages": one.pages, "empty": one.pages == 0}
        for one in report.coverage
        if one.project in set(shown) and one.category in set(categories)
    ]
    if not rows:
        return None
    alt, chart = _chart(rows)
    base = chart.encode(
        x=alt.X("category:N", sort=categories, title=None, axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=110)),
        y=alt.Y("project:N", sort=shown, title=None, axis=alt.Axis(labelLimit=190)),
        tooltip=[_t(alt, "project:N"), _t(alt, "category:N"), _t(alt, "pages:Q", "active pages")],
    )
    filled = (
        base.transform_filter("!datum.empty")
        .mark_rect(color="var(--series-1)", stroke="var(--card)")
        .encode(opacity=alt.Opacity("pages:Q", scale=alt.Scale(type="sqrt", range=[0.18, 1]), legend=None))
    )
    missing = base.transform_filter("datum.empty").mark_rect(
        fill="var(--error)", fillOpacity=0.07, stroke="var(--error)", strokeDash=[3, 3], strokeOpacity=0.6
    )
    of = f"; the {len(shown)} worst wikis of {len(known)}" if len(shown) < len(known) else ""
    lead = (
        f"Active pages, stronger for more. A dashed field is a category that the format asks for and that is empty{of}."
    )
    drawn = alt.layer(filled, missing)
    return Figure("coverage", "Coverage by category", lead, _spec(drawn, _ROW * max(len(shown), 3)), wide=True)


def _bars(
    rows: Sequence[Mapping[str, Any]], name: str, order: Sequence[str], value: str, extra: str = "", row: int = _ROW
) -> Any:
    """Bars lying down, stacked by severity, in the order given."""
    alt, chart = _chart(rows)
    told = [_t(alt, f"{name}:N"), _t(alt, "kind:N", "what"), _t(alt, f"{value}:Q")]
    drawn = chart.mark_bar(height={"band": 0.72}, cornerRadius=2).encode(
        y=alt.Y(
            f"{name}:N",
            sort=list(order),
            scale=alt.Scale(domain=list(order)),
            title=None,
            axis=alt.Axis(labelLimit=190),
        ),
        x=alt.X(f"{value}:Q", title=None, axis=alt.Axis(tickCount=5, format="d")),
        color=_severity(alt),
        order=alt.Order("order:Q"),
        tooltip=[*told, _t(alt, f"{extra}:Q")] if extra else told,
    )
    return _spec(drawn, row * max(len(order), 3))


def _chart(rows: Iterable[Mapping[str, Any]]) -> tuple[Any, alt.Chart]:
    import altair as alt

    return alt, alt.Chart(alt.InlineData(values=list(rows)))


def _severity(alt: Any) -> Any:
    return _colours(alt, "kind", {kind: f"var(--fill-{kind.removesuffix('s')})" for kind in _SEVERITIES})


def _colours(alt: Any, name: str, colours: Mapping[str, str]) -> Any:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    legend = alt.Legend(orient="top", title=None, symbolType="square", symbolSize=90, offset=4, columnPadding=16)
    return alt.Color(f"{name}:N", scale=scale, legend=legend)


def _t(alt: Any, field: str, title: str = "", format: str = "") -> Any:
    named = {"title": title or field.split(":")[0]}
    return alt.Tooltip(field, **named, **({"format": format} if format else {}))


def _spec(chart: Any, height: int) -> Mapping[str, Any]:
    """The specification of `chart`, as wide as its place and in the page's own type and colours."""
    told: dict[str, Any] = chart.properties(width="container", height=height).to_dict(validate=False)
    told["config"] = _LOOK
    told.pop("usermeta", None)
    return told


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'
"""The page's own: the width of labels is measured with it, so it has to be named."""

_TEXT = {"labelColor": "var(--muted)", "titleColor": "var(--muted)", "labelFontSize": 12}
_LOOK: Mapping[str, Any] = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": "transparent"},
    "axis": {
        **_TEXT,
        "gridColor": "var(--line)",
        "domain": False,
        "ticks": False,
        "labelPadding": 8,
    },
    "axisY": {"labelColor": "var(--text)"},
    "legend": {**_TEXT, "labelColor": "var(--text)"},
    "autosize": {"type": "fit-x", "contains": "padding"},
}
