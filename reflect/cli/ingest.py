"""`reflect ingest`: the pipeline on one repository, as a Prefect flow run."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.orchestrator import quiet_orchestrator, server_explained
from reflect.cli.progress import progress_shown
from reflect.pipeline.engine import engine_for
from reflect.publish.policy import PublishMode
from reflect.report import RunReport, render_markdown
from reflect.triage.claude.estimating import Estimate
from reflect.triage.engines import ENGINES
from reflect.workspace import Workspace


def ingest(
    repo: Repository = HERE,
    engine: Annotated[str | None, typer.Option(help=f"Which engine: {', '.join(ENGINES)}.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and write nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run without the warning on a branch that is not the default one.")
    ] = False,
    publish: Annotated[PublishMode, typer.Option("--publish", help="How pages are written back.")] = PublishMode.NONE,
    as_json: AsJson = False,
) -> int:
    """Read new sessions and commits, and compile what they teach into the wiki.

    Exit codes: 0 done, 2 wrong usage or configuration, 3 some pages could not be written or written back, 4 nothing was
    done because of an error, 5 another run holds the repository.
    """
    workspace = Workspace.open(repo)
    engine_for(workspace, engine, estimate=Estimate() if dry_run else None)
    workspace.require_free()
    if not force:
        _warn_off_branch(workspace)
    quiet_orchestrator(announce=not as_json)
    from flows.repository import ingest_repository

    named = ingest_repository.with_options(flow_run_name=f"ingest · {workspace.run_name}")
    with server_explained(), progress_shown(wanted=not as_json):
        report: RunReport = named(workspace.git.root, engine=engine, dry_run=dry_run, publish=publish)
    print(json.dumps(report.as_json()) if as_json else render_markdown(report))
    return report.exit_code


def _warn_off_branch(workspace: Workspace) -> None:
    here, default = workspace.git.head().target.removeprefix("refs/heads/"), workspace.default.name
    if here and default and here != default:
        print(
            f"reflect: this is branch {here}, and the wiki belongs on {default}; pages written here conflict when the "
            "branch is merged (--force silences this).",
            file=sys.stderr,
        )
