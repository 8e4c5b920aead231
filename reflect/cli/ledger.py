"""`reflect ledger rebuild`: from the wiki's own sources."""

from __future__ import annotations

import json
import sys

import typer

from reflect.cli.options import HERE, AsJson, Repository
from reflect.evidence.inventory import take_inventory
from reflect.ledger.rebuild import WikiSources
from reflect.ledger.set_aside import set_aside
from reflect.wiki.log import landed_runs
from reflect.workspace import Workspace

app = typer.Typer(help="The durable state of all projects.", no_args_is_help=True)


@app.callback()
def about() -> None:
    """The durable state of all projects."""


@app.command()
def rebuild(repo: Repository = HERE, as_json: AsJson = False) -> int:
    """Restore a lost ledger from what the wiki's pages cite; what they do not cite is read again by the next run."""
    workspace = Workspace.open(repo)
    log = workspace.log_text()
    inventory = take_inventory(workspace.git, workspace.default)
    wiki = WikiSources(
        project=workspace.project.project_id,
        pages=workspace.wiki.read().pages,
        landed_runs=sorted(landed_runs(log), key=log.index),
        known={str(name): content for name, content in inventory.contents.items()},
    )
    aside = set_aside(workspace.settings.ledger)
    if aside is not None:
        print(f"The ledger could not be read; it was kept as {aside}.", file=sys.stderr)
    with workspace.ledger() as ledger:
        rebuilt = ledger.rebuild(wiki)
    if as_json:
        print(json.dumps(rebuilt.model_dump(mode="json")))
        return 0
    print(
        f"{len(rebuilt.restored)} pieces of evidence restored, {len(rebuilt.already)} were known, "
        f"{len(rebuilt.unresolved)} sources of pages stand for nothing in this repository."
    )
    for source in rebuilt.unresolved:
        print(f"  {source.path}: {source.source} ({source.reason})")
    return 0
