"""The commands, and how each kind of failure leaves the process."""

from __future__ import annotations

import sys

import click
import typer

from reflect.cli import ingest, init, ledger, session_start, status
from reflect.errors import ReflectError

app = typer.Typer(
    name="reflect",
    help="Compile coding-agent sessions and git history into a wiki inside the repository.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(init.init)
app.command()(ingest.ingest)
app.command()(status.status)
app.command("session-start")(session_start.session_start)
app.add_typer(ledger.app, name="ledger")


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; a failure we foresee is one sentence on standard error."""
    try:
        answer = app(arguments, standalone_mode=False)
    except ReflectError as error:
        print(f"reflect: {error}", file=sys.stderr)
        return error.exit_code
    except click.exceptions.Abort:
        print("reflect: stopped; what was not landed is taken up by the next run.", file=sys.stderr)
        return 4
    except click.ClickException as error:
        error.show()
        return 2
    return answer if isinstance(answer, int) else 0
