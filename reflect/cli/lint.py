"""`reflect lint`: what is wrong with a wiki, and what can be mended."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.progress import waiting_for
from reflect.lint.finding import LintFinding, Severity
from reflect.lint.mend import Mended, mend, preview
from reflect.lint.run import LintReport
from reflect.lint.run import lint as check
from reflect.wiki.lock import repository_lock
from reflect.workspace import Workspace

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "dim"}


def lint(
    repo: Repository = HERE,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can safely be mended; no text is ever removed.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --fix: show what would change.")] = False,
    as_json: AsJson = False,
) -> int:
    """Check the wiki: links, sources, quotes, scope, secrets, and what is stale, doubled or done.

    Exit codes: 0 nothing found, or only what was mended, or only hints; 1 something found; 2 wrong usage or
    configuration; 4 could not be checked; 5 another run holds the repository. Example: `reflect lint --fix --dry-run`.
    """
    workspace = Workspace.open(repo)
    if dry_run and not fix:
        raise typer.BadParameter("--dry-run shows what --fix would do; give both.")
    with waiting_for("Checking the wiki …"):
        report = check(workspace)
    mended = Mended()
    if fix and dry_run:
        mended = preview(workspace, report.findings)
    elif fix and any(finding.fixable for finding in report.findings):
        with repository_lock(workspace.lock):
            report = check(workspace)
            mended = mend(workspace, report.findings)
        report = check(workspace)
    if as_json:
        print(json.dumps(_as_json(report, mended, dry_run=dry_run)))
    else:
        _show(report, mended, dry_run=dry_run)
    return 1 if any(finding.severity is not Severity.HINT for finding in report.findings) else 0


def _as_json(report: LintReport, mended: Mended, *, dry_run: bool) -> dict[str, Any]:
    fixed = 0 if dry_run else len(mended.fixed)
    changes = {"moved": [list(move) for move in mended.moves], "changed": list(mended.paths), "diff": mended.diff}
    return {**report.as_json(), "fixed": fixed, "dry_run": dry_run, **changes}


def _show(report: LintReport, mended: Mended, *, dry_run: bool) -> None:
    console = Console(soft_wrap=True)
    if mended.diff:
        console.print(mended.diff, markup=False, highlight=False)
    for path, place in mended.moves:
        console.print(f"{'would move' if dry_run else 'moved'} {path} to {place}", markup=False)
    for finding in report.findings:
        console.print(_line(finding), markup=True, highlight=False)
    for note in (*report.notes, *mended.notes):
        console.print(f"note: {note}", markup=False)
    counts = ", ".join(f"{count} {name}{'s' if count != 1 else ''}" for name, count in report.by_severity.items())
    fixed = f"; {len(mended.fixed)} {'would be ' if dry_run else ''}mended" if mended.fixed else ""
    console.print(f"{report.pages} pages: {counts}{fixed}", markup=False)
    if not mended.fixed and any(finding.fixable for finding in report.findings):
        console.print("`reflect lint --fix` mends those marked with a +; --dry-run shows it first.", markup=False)


def _line(finding: LintFinding) -> str:
    """One finding on one line, as editors and `grep` read it."""
    place = finding.path or "the wiki"
    where = f"{place}:{finding.line}" if finding.line else place
    mark = " +" if finding.fixable else ""
    colour = _COLOURS[finding.severity]
    return f"{escape(where)}: [{colour}]{finding.severity}[/] {finding.code}{mark}: {escape(finding.detail)}"
