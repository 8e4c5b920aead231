"""The commands, and how each kind of failure leaves the process."""

from __future__ import annotations

import sys
import traceback
from importlib import metadata
from typing import Annotated

import typer

from reflect.cli import (
    daily,
    doctor,
    evaluate,
    ingest,
    init,
    ledger,
    lint,
    mcp,
    org,
    reclassify,
    reflexions,
    review,
    search,
    session_start,
    status,
    upgrade,
)
from reflect.errors import ReflectError


def _leave_with(code: int, version: bool) -> None:
    """What a command returns is the exit code."""
    raise typer.Exit(code)


def _told_version(wanted: bool) -> None:
    if wanted:
        print(f"reflect {metadata.version('reflect-wiki')}")
        raise typer.Exit


app = typer.Typer(
    name="reflect",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    result_callback=_leave_with,
)


@app.callback()
def _about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_told_version)
    ] = False,
) -> None:
    """Compile coding-agent sessions and git history into a wiki inside the repository."""


app.command()(init.init)
app.command()(upgrade.upgrade)
app.command()(ingest.ingest)
app.command()(status.status)
app.command()(doctor.doctor)
app.command()(lint.lint)
app.command()(search.search)
app.command()(daily.context)
app.command()(daily.sessions)
app.command("timeline")(daily.show_timeline)
app.command()(daily.metrics)
app.command("improve")(daily.show_improvements)
app.command()(mcp.mcp)
app.command()(evaluate.evaluate)
app.command()(reclassify.reclassify)
app.command("session-start")(session_start.session_start)
app.add_typer(ledger.app, name="ledger")
app.add_typer(org.app, name="org")
app.add_typer(reflexions.app, name="reflexions")
app.add_typer(review.app, name="review")


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; a failure we foresee is one sentence on standard error."""
    try:
        app(arguments, prog_name="reflect")
    except BrokenPipeError:
        raise
    except ReflectError as error:
        print(f"reflect: {error}", file=sys.stderr)
        return error.exit_code
    except Exception:
        traceback.print_exc()
        print(
            "reflect: this is a fault of the product, not of the repository; nothing half-done is left standing, and "
            "the next run finishes what had begun to land. Please report the lines above.",
            file=sys.stderr,
        )
        return 4
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0
    return 0
