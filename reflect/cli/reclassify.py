"""`reflect reclassify`: a scope for records that have none."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Annotated

import typer

from reflect.cli.options import HERE, AsJson, Repository
from reflect.errors import ConfigurationError
from reflect.evidence.inventory import take_inventory
from reflect.evidence.redaction import Redactor
from reflect.evidence.reread import words_of
from reflect.model import EvidenceKind, evidence_kind
from reflect.review.preimages import Preimages
from reflect.review.reclassify import Applied, apply, census, proposals_text, roll_back, verdict_on
from reflect.wiki.files import write_new
from reflect.workspace import Workspace


def reclassify(
    proposals: Annotated[
        Path | None, typer.Option("--write", metavar="FILE", help="Where to write the proposals to review.")
    ] = None,
    applied: Annotated[
        Path | None, typer.Option("--apply", metavar="FILE", help="Apply a reviewed file, as it stands.")
    ] = None,
    rollback: Annotated[
        str | None, typer.Option("--rollback", metavar="RUN", help="Take back what an apply changed.")
    ] = None,
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """Propose a scope for records that have none; changes nothing unless told to apply a reviewed file."""
    if sum(one is not None for one in (proposals, applied, rollback)) > 1:
        raise ConfigurationError("`--write`, `--apply` and `--rollback` exclude each other; nothing was changed.")
    workspace = Workspace.open(repo)
    project = workspace.project.project_id
    kept = Preimages(workspace.settings.state / "reclassify" / project)
    if applied is not None:
        with workspace.ledger() as ledger:
            return _tell(apply(ledger, workspace.registry, project, _text(applied), kept), as_json)
    if rollback is not None:
        with workspace.ledger() as ledger:
            return _tell(roll_back(ledger, project, rollback, kept), as_json)
    return _propose(workspace, proposals, as_json)


def _propose(workspace: Workspace, file: Path | None, as_json: bool) -> int:
    project = workspace.project.project_id
    with workspace.ledger() as ledger:
        found = census(ledger.reflexions(project), ledger.queue(project))
    words = _words(workspace, {name for row in found.selected for name in row.evidence_ids})
    verdicts = [verdict_on(row, project, words) for row in found.selected]
    if file is not None:
        _write(file, proposals_text(project, verdicts))
    left = {str(reason): count for reason, count in found.left.items()}
    if as_json:
        shown = [verdict.model_dump(mode="json") for verdict in verdicts]
        print(json.dumps({"project": project, "proposals": shown, "left": left}))
        return 0
    print(f"{len(verdicts)} records have no scope; nothing was changed.")
    for reason, count in left.items():
        print(f"  {count} left alone: {reason}")
    if file is not None:
        print(f"Review {file}, then `reflect reclassify --apply {file}`.")
    elif verdicts:
        print("`--write FILE` writes what is proposed for them, to be reviewed.")
    return 0


def _words(workspace: Workspace, evidence: AbstractSet[str]) -> dict[str, str]:
    """What each piece of `evidence` says, empty where it cannot be read; what this repository lacks is left out."""
    inventory = take_inventory(workspace.git, workspace.default)
    here = {name for name in inventory.contents if name in evidence}
    commits = {name for name in here if evidence_kind(name) is EvidenceKind.COMMIT}
    checkpoints = {name.split("/")[0] for name in here - commits}
    redactor = Redactor(workspace.config.redact, keep=inventory.checkpoints | set(inventory.contents))
    said = {name: words or "" for name, words in words_of(workspace.git, checkpoints, commits, redactor)}
    return {name: said.get(name, "") for name in here}


def _tell(done: Applied, as_json: bool) -> int:
    left = {name: str(reason) for name, reason in sorted(done.left.items())}
    if as_json:
        print(json.dumps({"run": done.run_id, "changed": list(done.changed), "left": left}))
        return 0
    print(f"Run {done.run_id}: {len(done.changed)} records changed, {len(left)} left as they are.")
    for name, reason in left.items():
        print(f"  {name}: {reason}")
    return 0


def _write(file: Path, text: str) -> None:
    try:
        write_new(file, text.encode(), 0o600)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written ({error.strerror}); name another file.") from error


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} cannot be read ({error}); nothing was changed.") from error
