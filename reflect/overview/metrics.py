"""A repository's memory in numbers, and the same as badges."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from reflect.errors import ReportError
from reflect.evidence.inventory import take_inventory
from reflect.freshness import fresh
from reflect.lint.finding import Severity
from reflect.lint.run import lint
from reflect.model import EvidenceKind, Outcome, Value, evidence_kind
from reflect.overview.visible import Visible
from reflect.scope.review import OPEN
from reflect.wiki.files import put_whole
from reflect.workspace import Workspace

FILE = "metrics.json"


class Metrics(Value):
    """Counts of one repository. `accounted` of the `evidence` that exists have ended in a run; `taught` led to a page.

    `days_since_run` is None before the first run. `guiding` are the active pages that agents may follow; pages,
    `guiding` and `by_category` are of the project's own wiki, active ones.
    """

    project: str
    pages: int
    guiding: int
    by_category: dict[str, int]
    archived: int
    sessions: int
    commits: int
    evidence: int
    accounted: int
    taught: int
    fresh: bool
    days_since_run: int | None
    review_open: int
    lint: dict[str, int]
    usd: float


class Badge(NamedTuple):
    """One badge as the endpoint of shields.io takes it."""

    label: str
    message: str
    color: str

    def as_json(self) -> dict[str, object]:
        return {"schemaVersion": 1, **self._asdict()}


def measure(workspace: Workspace) -> Metrics:
    """Count. Reads git, the wiki and the ledger; changes nothing."""
    own = [page for page in Visible.of(workspace).pages if page.is_own and page.is_active]
    with workspace.ledger() as ledger:
        accounts = ledger.accounts(workspace.project.project_id, workspace.landed_runs())
        counts = ledger.counts(workspace.project.project_id, workspace.landed_runs())
    existing = take_inventory(workspace.git, workspace.default).contents
    kinds = Counter(evidence_kind(name) for name in existing)
    settled = [account for name, account in accounts.items() if name in existing]
    last = counts.last_run.finished_at if counts.last_run else ""
    found = lint(workspace)
    return Metrics(
        project=workspace.project.project_id,
        pages=len(own),
        guiding=sum(page.may_guide for page in own),
        by_category=dict(sorted(Counter(page.category for page in own).items())),
        archived=found.by_status.get("archived", 0),
        sessions=kinds[EvidenceKind.SESSION],
        commits=kinds[EvidenceKind.COMMIT],
        evidence=len(existing),
        accounted=sum(account.outcome is not Outcome.PENDING for account in settled),
        taught=sum(account.outcome is Outcome.COMPILED for account in settled),
        fresh=fresh(workspace.git.root) is not None,
        days_since_run=_days(last, workspace.settings.now()),
        review_open=sum(counts.review.get(status, 0) for status in OPEN),
        lint=found.by_severity,
        usd=round(counts.spend.usd, 4),
    )


def badges(metrics: Metrics) -> dict[str, Badge]:
    """The badges by file name, without its ending."""
    share = 100 * metrics.accounted // metrics.evidence if metrics.evidence else 100
    errors, warnings = metrics.lint[Severity.ERROR], metrics.lint[Severity.WARNING]
    said = [f"{count} {name}" for count, name in ((errors, "errors"), (warnings, "warnings")) if count]
    return {
        "pages": Badge("wiki", f"{metrics.pages} pages", "blue"),
        "guiding": Badge("agents may follow", f"{metrics.guiding} pages", "blue"),
        "accounted": Badge("evidence accounted", f"{share} %", "green" if share == 100 else "yellow"),
        "freshness": Badge("wiki", *_freshness(metrics)),
        "review": Badge("waiting for review", str(metrics.review_open), "yellow" if metrics.review_open else "green"),
        "lint": Badge("wiki lint", ", ".join(said) or "clean", "red" if errors else "yellow" if warnings else "green"),
    }


def export(metrics: Metrics, folder: Path) -> tuple[str, ...]:
    """Write the numbers and a file for each badge into `folder`, made where it is missing; the names written.

    Raises ReportError where that cannot be done; a file is whole or as it was.
    """
    files: dict[str, object] = {FILE: metrics.model_dump(mode="json")}
    files |= {f"{name}.json": badge.as_json() for name, badge in badges(metrics).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in files.items():
            put_whole(folder / name, json.dumps(value, indent=1) + "\n")
    except OSError as error:
        raise ReportError(
            f"The metrics of {metrics.project} could not be written to {folder} ({error.strerror or error}); what is "
            "there is as it was; name a folder that can be written with `reflect metrics --export`."
        ) from error
    return tuple(files)


def _freshness(metrics: Metrics) -> tuple[str, str]:
    if metrics.fresh:
        return "fresh", "green"
    if metrics.days_since_run is None:
        return "never compiled", "lightgrey"
    return f"new evidence; last run {metrics.days_since_run} days ago", "yellow"


def _days(finished_at: str, now: datetime) -> int | None:
    if not finished_at:
        return None
    then = datetime.fromisoformat(finished_at)
    return max(0, (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).days)
