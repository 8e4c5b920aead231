"""`reflect reflexions`: the records of lessons, as a list and as a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from reflect.cli.options import HERE, AsJson, Repository
from reflect.errors import ConfigurationError
from reflect.evidence.redaction import Redactor
from reflect.review.reflexions import drop as drop_record
from reflect.review.reflexions import export_records, import_records
from reflect.review.words import printable
from reflect.scope.reflexion import Reflexion
from reflect.workspace import Workspace

app = typer.Typer(help="The records of lessons: list, drop, export, import.", no_args_is_help=True)

_LONGEST_FILE = 256 * 1024 * 1024


@app.callback()
def about() -> None:
    """The records of lessons: list, drop, export, import."""


@app.command("list")
def list_records(repo: Repository = HERE, as_json: AsJson = False) -> int:
    """Show every record, dropped ones too, oldest first."""
    workspace = Workspace.open(repo)
    with workspace.ledger() as ledger:
        rows = ledger.reflexions(workspace.project.project_id)
    if as_json:
        shown = [row.model_dump(mode="json") | {"learnable": row.learnable} for row in rows]
        print(json.dumps({"project": workspace.project.project_id, "reflexions": shown}))
        return 0
    print("\n".join(map(_line, rows)) or "There are no records yet.")
    return 0


@app.command("export")
def export(
    file: Annotated[Path | None, typer.Argument(help="Where to write (default: standard output).")] = None,
    repo: Repository = HERE,
) -> int:
    """Write every record as JSON lines, in the field names of the original, with the lines nobody could read."""
    workspace = Workspace.open(repo)
    with workspace.ledger() as ledger:
        content = export_records(ledger, workspace.project.project_id)
    if file is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return 0
    try:
        file.write_bytes(content)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written ({error.strerror}); name another file.") from error
    return 0


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A file of JSON lines.")],
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """Keep the records of a file. They are shown to nobody until `reflect reclassify` gives them a scope."""
    workspace = Workspace.open(repo)
    redact = Redactor(workspace.config.redact).redact
    with workspace.ledger() as ledger:
        done = import_records(ledger, workspace.project.project_id, _content(file), redact)
    if as_json:
        print(json.dumps({"new": list(done.new), "known": done.known, "carried": done.carried}))
        return 0
    print(
        f"{len(done.new)} records are new, {done.known} were known; {done.carried} lines are no records and are kept "
        "as they are."
    )
    if done.new:
        print("The new ones have no scope yet; `reflect reclassify` proposes one.")
    return 0


@app.command()
def drop(
    record: Annotated[str, typer.Argument(metavar="ID", help="An id, whole or its first digits.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept with the record.")],
    repo: Repository = HERE,
) -> int:
    """Refuse a lesson: it is kept, flagged, and never learned from again."""
    if not reason.strip():
        raise ConfigurationError("No reason is given; nothing was changed; pass `--reason`.")
    workspace = Workspace.open(repo)
    with workspace.ledger() as ledger:
        row = drop_record(ledger, workspace.project.project_id, record, reason, workspace.settings.now().isoformat())
    print(f"{row.id} was dropped at {row.dropped_at}: {printable(row.dropped_reason or '')}")
    return 0


def _content(file: Path) -> bytes:
    try:
        if file.stat().st_size > _LONGEST_FILE:
            raise ConfigurationError(f"{file} is larger than {_LONGEST_FILE} bytes; nothing was read; split it.")
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read ({error.strerror}); nothing was changed.") from error


def _line(row: Reflexion) -> str:
    state = "dropped" if row.dropped_at is not None else "learnable" if row.learnable else "kept"
    scope = "no scope" if row.stored_scope.legacy_defaulted else row.stored_scope.scope
    return f"{row.id}  {state}  {row.domain}  {row.effective_origin}  {scope}  {printable(row.reflexion_text)[:100]}"
