"""`reflect status`: what is stored, how fresh it is, and what waits."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from reflect.cli.options import HERE, AsJson, Repository
from reflect.evidence.inventory import take_inventory
from reflect.freshness import fresh
from reflect.search.setup import qmd_status
from reflect.workspace import Workspace


def status(repo: Repository = HERE, as_json: AsJson = False) -> int:
    """Show sources, wiki, freshness, search, the review queue and the ledger of one repository."""
    found = _gather(Workspace.open(repo))
    if as_json:
        print(json.dumps(found))
    else:
        _show(found)
    return 0


def _gather(workspace: Workspace) -> dict[str, Any]:
    project = workspace.project.project_id
    wiki = workspace.wiki.read()
    with workspace.ledger() as ledger:
        counts = ledger.counts(project, workspace.landed_runs())
        address = ledger.name
        oldest = ledger.oldest_waiting(project)
    inventory = take_inventory(workspace.git, workspace.default)
    last = counts.last_run
    return {
        "project": project,
        "sources": {
            "checkpoints": len(inventory.checkpoints),
            "default_branch": workspace.default.name,
            "default_branch_from": workspace.default.how,
            "evidence": counts.evidence,
            "sessions_taught": counts.taught,
            "tainted_by": counts.tainted_by,
        },
        "wiki": {
            "pages": len(wiki.pages),
            "by_status": dict(sorted(Counter(page.status for page in wiki.pages).items())),
            "archived": len(wiki.archived),
            "unreadable": [path for path, _ in wiki.unreadable],
        },
        "fresh": fresh(workspace.git.root) is not None,
        "last_run": None if last is None else {"run": last.run_id, "finished_at": last.finished_at},
        "pending_findings": counts.pending_findings,
        "qmd": qmd_status(workspace),
        "review": counts.review,
        "review_oldest": _age(oldest, workspace.settings.now()),
        "reflexions": {"all": counts.reflexions, "learnable": counts.learnable, "dropped": counts.dropped},
        "spend": counts.spend.model_dump(mode="json"),
        "ledger": address,
    }


def _age(oldest: datetime | None, now: datetime) -> dict[str, Any] | None:
    """When the oldest open question was last said something about, and how many days ago; None where none waits."""
    return None if oldest is None else {"created_at": oldest.isoformat(), "days": max(0, (now - oldest).days)}


def _about_qmd(qmd: dict[str, Any]) -> str:
    if not qmd["installed"]:
        return "not installed (optional: `reflect init --qmd`)"
    if not qmd["collection"]:
        return f"{qmd['version']}, not set up for this repository (`reflect init`)"
    if qmd["fault"]:
        return f"{qmd['version']}, not used: {qmd['fault']}"
    vectors = "words and vectors" if qmd["vectors"] else "words"
    return f"{qmd['version']}, {qmd['collection']}: {qmd['pages']} pages by {vectors}, as of {qmd['refreshed_at']}"


def _show(found: dict[str, Any]) -> None:
    table = Table(title=found["project"], show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    sources, wiki = found["sources"], found["wiki"]
    table.add_row("checkpoints", str(sources["checkpoints"]))
    table.add_row("default branch", f"{sources['default_branch'] or 'none'} (from {sources['default_branch_from']})")
    for kind, outcomes in sorted(sources["evidence"].items()):
        table.add_row(f"{kind}s", _listed(outcomes))
    table.add_row("sessions taught", _listed(sources["sessions_taught"]))
    table.add_row("why not in full", _listed(sources["tainted_by"]))
    table.add_row("pages", f"{wiki['pages']} ({_listed(wiki['by_status'])}), {wiki['archived']} archived")
    if wiki["unreadable"]:
        table.add_row("unreadable pages", ", ".join(wiki["unreadable"]))
    table.add_row("fresh", "yes" if found["fresh"] else "no: `reflect ingest` has something to do")
    table.add_row("findings waiting", str(found["pending_findings"]))
    table.add_row("review queue", _listed(found["review"]) + _oldest(found["review_oldest"]))
    table.add_row("qmd", _about_qmd(found["qmd"]))
    table.add_row("ledger", found["ledger"])
    Console().print(table)


def _oldest(age: dict[str, Any] | None) -> str:
    return "" if age is None else f"; the oldest that waits is {age['days']} days old (`reflect review list`)"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
