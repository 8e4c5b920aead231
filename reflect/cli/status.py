"""`reflect status`: what is stored, how fresh it is, and what waits, when that cannot be answered at once."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.status_at_once import key_of, oldest_waiting, remember
from reflect.cli.status_view import as_text
from reflect.evidence.inventory import take_inventory
from reflect.freshness import fresh, refs_for
from reflect.search.setup import qmd_status
from reflect.workspace import Workspace


def status(repo: Repository = HERE, as_json: AsJson = False) -> int:
    """Show sources, wiki, freshness, search, the review queue and the ledger of one repository."""
    workspace = Workspace.open(repo)
    before = key_of(workspace.git.root, refs := refs_for(workspace.default.ref), workspace.ledger_file)
    found = _gather(workspace)
    remember(workspace.git.root, refs, workspace.ledger_file, before, found)
    print(json.dumps(found) if as_json else as_text(found, os.environ))
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
        "review_oldest": None if oldest is None else oldest_waiting(oldest.isoformat(), workspace.settings.now()),
        "reflexions": {"all": counts.reflexions, "learnable": counts.learnable, "dropped": counts.dropped},
        "spend": counts.spend.model_dump(mode="json"),
        "ledger": address,
    }
