"""What a developer asks of a repository's memory from day to day: sessions, timeline, metrics, context, improve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.progress import waiting_for
from reflect.cli.terminal import console
from reflect.model import Outcome
from reflect.overview.briefing import briefing
from reflect.overview.improve import Improvements, improve
from reflect.overview.metrics import Metrics, badges, export, measure
from reflect.overview.sessions import SessionDetail, Sessions, find_sessions, list_sessions
from reflect.overview.timeline import Day, Happened, Timeline, timeline
from reflect.search.refresh import wikis_of
from reflect.workspace import Workspace

_READING = "Reading what is new …"


def sessions(
    session: Annotated[str, typer.Argument(metavar="[ID]", help="A session, or the beginning of its id.")] = "",
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """List the sessions with what became of each; with an ID show what was said in it and which pages rest on it.

    Examples: `reflect sessions`, `reflect sessions 4ecb34b8`, `reflect sessions --json`.
    """
    workspace = Workspace.open(repo)
    if session:
        with waiting_for(_READING):
            found = find_sessions(workspace, session)
        if as_json:
            print(json.dumps({"sessions": [one.model_dump(mode="json") for one in found]}))
        else:
            for one in found:
                _show_session(one)
        return 0
    with waiting_for(_READING):
        listed = list_sessions(workspace)
    if as_json:
        print(listed.model_dump_json())
    else:
        _show_sessions(listed)
    return 0


def show_timeline(
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, max=36500, help="How many days back.")] = 14,
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """Show day by day which sessions began, what was committed, and which pages changed.

    Examples: `reflect timeline`, `reflect timeline --days 90`.
    """
    with waiting_for(_READING):
        found = timeline(Workspace.open(repo), days)
    if as_json:
        print(found.model_dump_json())
    else:
        _show_timeline(found)
    return 0


def metrics(
    folder: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Write them to DIR, with a file for each badge.")
    ] = None,
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """Count: pages, evidence accounted for, what waits, lint, spend. `--export` writes badges for shields.io.

    Example: `reflect metrics --export public/badges`, and
    `https://img.shields.io/endpoint?url=<where it is served>/freshness.json` shows one.
    """
    with waiting_for(_READING):
        found = measure(Workspace.open(repo))
    written = export(found, folder) if folder is not None else ()
    if as_json:
        print(json.dumps({**found.model_dump(mode="json"), "written": list(written)}))
    else:
        _show_metrics(found)
        for name in written:
            print(f"wrote {folder}/{name}")
    return 0


def context(
    max_lines: Annotated[
        int | None,
        typer.Option("--max-lines", metavar="N", min=10, help="Lines at most (default: `max_lines` of the config)."),
    ] = None,
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """Print a briefing for whoever begins to work here: what the wiki says that may be followed, most recent first.

    Examples: `reflect context --max-lines 60`, `reflect context > .claude/context.md`.
    """
    with waiting_for(_READING):
        found = briefing(Workspace.open(repo), max_lines)
    print(found.model_dump_json() if as_json else found.text, end="\n" if as_json else "")
    return 0


def show_improvements(repo: Repository = HERE, as_json: AsJson = False) -> int:
    """Propose what `.reflect/format.yaml` should say instead, each change with the figures that speak for it.

    Nothing is written: copy what convinces you. Example: `reflect improve`.
    """
    workspace = Workspace.open(repo)
    with waiting_for(_READING):
        found = improve(workspace)
    if as_json:
        print(found.model_dump_json())
    else:
        _show_improvements(found, wiki=str(wikis_of(workspace)["wiki"]))
    return 0


def _show_sessions(found: Sessions) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("session", no_wrap=True, min_width=max((len(one.id) for one in found.sessions), default=0))
    table.add_column("began", no_wrap=True, min_width=len("2026-01-01"))
    table.add_column("outcome", no_wrap=True, min_width=len(Outcome.QUARANTINED))
    table.add_column("pages", justify="right", min_width=5)
    table.add_column("what was said first", overflow="ellipsis", no_wrap=True)
    for one in found.sessions:
        began = one.at.strftime("%Y-%m-%d") if one.at else "unknown"
        outcome = one.outcome.value if one.outcome else one.reason
        table.add_row(one.id, began, outcome, str(len(one.pages)), escape(one.title))
    out = console()
    if not found.sessions:
        out.print("No session is stored in this repository; `reflect doctor` says where they are looked for.")
        return
    out.print(table)
    if found.withheld:
        out.print(f"{found.withheld} more belong to another project and are not shown.")


def _show_session(one: SessionDetail) -> None:
    out = console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    outcome = ": ".join(part for part in (one.outcome, one.reason) if part)
    shown = {"full": "all of it", "user_turns": "the person's words alone", "": "nothing"}[one.shown]
    rows = {
        "session": one.id,
        "began": one.at.isoformat(timespec="minutes") if one.at else "unknown",
        "agent": one.agent or "unknown",
        "branch": one.branch or "unknown",
        "outcome": outcome,
        "an engine was shown": shown + (f" ({one.tainted_by})" if one.tainted_by else ""),
        "pages": "\n".join(one.pages) or "none",
    }
    for name, value in rows.items():
        table.add_row(name, escape(value))
    out.print(table)
    out.print()
    out.print(one.text or "Nobody typed anything in it.", markup=False)
    out.print()


def _show_timeline(found: Timeline) -> None:
    out = console()
    for day in found.days:
        out.print(f"[bold]{day.day:%Y-%m-%d %a}[/]  {_summary(day)}")
        for sign, group, width in (("○", day.sessions, 32), ("●", day.commits, 12), ("✎", day.pages, 80)):
            for one in group:
                out.print(_line(sign, one, width), markup=False, overflow="ellipsis", no_wrap=True)
        out.print()
    if not found.days:
        out.print(f"Nothing happened from {found.since} to {found.until}; `--days` looks further back.")
    elif found.undated:
        out.print(f"{found.undated} sessions have no date and are not shown; `reflect sessions` lists them.")


def _line(sign: str, one: Happened, width: int) -> str:
    name = one.id[:width]
    return f"  {sign} {one.title} {name}" if sign == "✎" else f"  {sign} {name}  {one.title}"


def _summary(day: Day) -> str:
    counts = (("session", len(day.sessions)), ("commit", len(day.commits)), ("page", len(day.pages)))
    return ", ".join(f"{count} {name}{'s' if count != 1 else ''}" for name, count in counts if count)


def _show_metrics(found: Metrics) -> None:
    table = Table(title=found.project, show_header=False, title_justify="left", box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    categories = ", ".join(f"{count} {name}" for name, count in found.by_category.items())
    rows = {
        "active pages": f"{found.pages}{f' ({categories})' if categories else ''}, {found.archived} archived",
        "agents may follow": f"{found.guiding} of them",
        "sources": f"{found.sessions} sessions, {found.commits} commits",
        "accounted for": f"{found.accounted} of {found.evidence}, {found.taught} taught something",
        "freshness": badges(found)["freshness"].message,
        "waiting for review": str(found.review_open),
        "lint": ", ".join(f"{count} {name}s" for name, count in found.lint.items()),
        "spent on models": f"{found.usd:.2f} USD",
    }
    for name, value in rows.items():
        table.add_row(name, escape(value))
    console().print(table)


def _show_improvements(found: Improvements, *, wiki: str) -> None:
    out = console()
    if not found.proposals:
        out.print(f"The format fits the {found.pages} pages in {wiki}: nothing to change.")
        return
    for one in found.proposals:
        head = f"drop “{one.section}”" if one.is_drop else f"add “{one.section}”" if one.is_addition else one.section
        changes = [
            f"{key} {one.now[key]} → {value}" if key in one.now else f"{key} {value}"
            for key, value in one.proposed.items()
        ]
        out.print(f"[bold]{escape(head or 'the whole format')}[/]{escape(': ' if changes else '')}{', '.join(changes)}")
        out.print(f"  because {one.why}", markup=False)
    out.print("\nWith all of them `.reflect/format.yaml` reads:\n")
    out.print(Syntax(found.format, "yaml", background_color="default", word_wrap=True))
