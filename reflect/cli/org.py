"""`reflect org`: what is done for a whole organisation from a shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from reflect.cli.bench import bench_for
from reflect.cli.options import HERE, AsJson
from reflect.cli.orchestrator import quiet_orchestrator, server_explained
from reflect.cli.progress import progress_shown
from reflect.errors import OrchestratorError
from reflect.organisation.estate import Estate
from reflect.organisation.health import health_of, reports_folder
from reflect.organisation.night import NightReport, render_markdown
from reflect.review.synthesis import propose_recurring
from reflect.review.words import one_line

app = typer.Typer(help="Work on every project of an organisation.", no_args_is_help=True)

OrganisationFile = Annotated[
    Path | None,
    typer.Option("--organisation", metavar="FILE", help="The organisation file (default: REFLECT_ORGANISATION)."),
]


@app.command()
def ingest(
    project: Annotated[
        list[str] | None, typer.Option("--project", metavar="ID", help="Only this project; may be repeated.")
    ] = None,
    organisation: OrganisationFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan every project and write nothing.")] = False,
    as_json: AsJson = False,
) -> int:
    """A night, now: ingest every project that has something new, each failing alone, and report.

    Exit codes: 0 done, 2 wrong usage or configuration, 3 some projects failed, 4 all that were tried failed, 5 another
    night is at work.
    """
    estate = Estate.load(organisation)
    for chosen in project or ():
        estate.require(chosen)
    quiet_orchestrator(announce=not as_json)
    from flows.organisation import ingest_organisation

    with server_explained(), progress_shown(wanted=not as_json):
        state = ingest_organisation(estate.file, tuple(project or ()), dry_run=dry_run, return_state=True)
    report = state.result(raise_on_failure=False)
    if not isinstance(report, NightReport):
        raise OrchestratorError(f"The night gave no report ({state.name}: {state.message}); its run's log says why.")
    print(json.dumps(report.as_json()) if as_json else render_markdown(report))
    return report.exit_code


@app.command("lint")
def lint_wikis(organisation: OrganisationFile = None, as_json: AsJson = False) -> int:
    """Lint every wiki of the organisation now, as a night does, and write the report. No wiki is changed.

    Exit codes: 0 done, 2 wrong usage or configuration, 4 could not be done. What was found is in the report.
    """
    estate = Estate.load(organisation)
    quiet_orchestrator(announce=not as_json)
    from flows.organisation import lint_and_report

    with server_explained(), progress_shown(wanted=not as_json):
        state = lint_and_report(estate.file, return_state=True)
    if state.is_failed():
        raise OrchestratorError(f"The lint did not come to its end ({state.message}); the report is as it was.")
    print(json.dumps(health_of(estate).as_json()) if as_json else state.message)
    return 0


@app.command()
def report(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The folder for it (default: below the state folder).")
    ] = None,
    organisation: OrganisationFile = None,
    as_json: AsJson = False,
) -> int:
    """Write how the wikis of the organisation are: one page, JSON and CSV, from what the last lints found.

    Nothing is linted: a night does that, or `reflect org lint`. With --json the report is printed, and written only
    where --out says. Exit codes: 0 done, 2 wrong usage or configuration, 4 could not be written.
    Example: `reflect org report --out health`.
    """
    estate = Estate.load(organisation)
    told = health_of(estate)
    if as_json:
        print(json.dumps(told.as_json()))
    if out is not None or not as_json:
        from reflect.health.files import write_report

        page = write_report(told, out or reports_folder(estate))
        if not as_json:
            print(f"{told.headline}\n{page}")
    return 0


@app.command()
def synthesise(organisation: OrganisationFile = None, as_json: AsJson = False) -> int:
    """Ask the organisation's operator about lessons that two or more projects learned; nothing else is written."""
    estate = Estate.load(organisation)
    with bench_for(HERE, estate.file, None, deciding=False) as bench:
        done = propose_recurring(bench)
    if as_json:
        shown = [{"id": item.id, "claim": item.claim, "why": item.action.reason} for item in done.proposed]
        print(json.dumps({"proposed": shown, "lessons": done.lessons, "unread": list(done.unread)}))
        return 0
    print(f"{done.lessons} lessons were accepted; {len(done.proposed)} that recur are new in the organisation's queue.")
    for item in done.proposed:
        print(f"  {one_line(item)}")
    for project in done.unread:
        print(f"  {project} was not read: its repository is not on this machine.")
    return 0


@app.command()
def status(organisation: OrganisationFile = None, as_json: AsJson = False) -> int:
    """Which projects have something new. Remotes are asked; nothing is ingested.

    Exit codes: 0 told, 2 wrong usage or configuration, 3 some could not be told.
    """
    estate = Estate.load(organisation)
    rows = []
    for project in estate.awake:
        news = estate.news(project)
        state = "could not tell" if news.unknown else "new" if news.is_new else "unchanged"
        rows.append({"project": project, "state": state, "last_run": news.last_run, "reason": news.unknown})
    asleep = [project for project in estate.projects if project not in estate.awake]
    if as_json:
        print(json.dumps({"organisation": estate.name, "projects": rows, "asleep": asleep}))
    else:
        for row in rows:
            print(f"{row['project']}: {row['state']}" + (f": {row['reason']}" if row["reason"] else ""))
        for project in asleep:
            print(f"{project}: memory switched off")
    return 3 if any(row["reason"] for row in rows) else 0


@app.command()
def check(organisation: OrganisationFile = None, as_json: AsJson = False) -> int:
    """Whether the organisation file can be used and every repository in it can be read.

    Exit codes: 0 all of it, 2 something is wrong with the file or a repository.
    """
    estate = Estate.load(organisation)
    wrong = {project: reason for project in estate.projects if (reason := estate.unreachable(project))}
    if as_json:
        told = {"projects": len(estate.projects), "wrong": wrong, "left_out": estate.left_out}
        print(json.dumps({"organisation": estate.name, **told}))
    else:
        for project, reason in wrong.items():
            print(f"{project}: {reason}")
        for name, reason in estate.left_out.items():
            print(f"{name}: left out, because it is {reason}")
        print(f"{len(estate.projects)} projects, {len(wrong)} cannot be read.")
    return 2 if wrong else 0
