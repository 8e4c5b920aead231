"""`reflect org`: what is done for a whole organisation from a shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from reflect.cli.ingest import show_progress
from reflect.cli.options import AsJson
from reflect.cli.orchestrator import quiet_orchestrator, server_explained
from reflect.errors import OrchestratorError
from reflect.organisation.estate import Estate
from reflect.organisation.night import NightReport, render_markdown

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
    if not as_json:
        show_progress()
    quiet_orchestrator(announce=not as_json)
    from flows.organisation import ingest_organisation

    with server_explained():
        state = ingest_organisation(estate.file, tuple(project or ()), dry_run=dry_run, return_state=True)
    report = state.result(raise_on_failure=False)
    if not isinstance(report, NightReport):
        raise OrchestratorError(f"The night gave no report ({state.name}: {state.message}); its run's log says why.")
    print(json.dumps(report.as_json()) if as_json else render_markdown(report))
    return report.exit_code
