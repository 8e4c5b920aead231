"""Every check over one wiki."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reflect.errors import LedgerError
from reflect.evidence import commits as history
from reflect.evidence.collect import as_evidence
from reflect.evidence.redaction import Redactor
from reflect.evidence.trust import Trust
from reflect.lint.checks import doubles, life, links, quotes, sources, structure, trust, whole
from reflect.lint.evidence import Sources
from reflect.lint.finding import LintFinding, Severity
from reflect.lint.verified import Verified
from reflect.lint.view import WikiView
from reflect.model import Commit, CommitSha, EvidenceKind, Finding, evidence_kind
from reflect.scope.vocabulary import ORGANISATION
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.extractive.sessions import COMPLETED
from reflect.wiki.paths import INDEX
from reflect.workspace import Workspace

ARCHIVED = "archived"
UNREADABLE_PAGES = "unreadable"
"""What pages are counted as, beside the statuses of the format, that have none which counts."""


@dataclass(frozen=True, slots=True)
class LintReport:
    """What the checks found in one wiki. `notes` say what could not be checked, and so is not known to be well.

    `by_status` counts every page, `by_category` the active ones, with 0 for a category that the format asks for.
    `titles` are those of the pages that have findings. No text here holds what looks like a secret.
    """

    project: str
    findings: tuple[LintFinding, ...]
    pages: int
    by_status: Mapping[str, int]
    by_category: Mapping[str, int]
    titles: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def by_severity(self) -> dict[str, int]:
        counts = Counter(finding.severity for finding in self.findings)
        return {severity.value: counts[severity] for severity in Severity}

    def as_json(self) -> dict[str, Any]:
        return {
            "project": self.project,
            "pages": self.pages,
            "findings": [finding.as_json() for finding in self.findings],
            "total": len(self.findings),
            "by_severity": self.by_severity,
            "notes": list(self.notes),
        }


def lint(workspace: Workspace) -> LintReport:
    """Check the wiki of `workspace`. Reads git and the ledger, changes neither; worst findings first."""
    with _no_cycles():
        return _report(workspace)


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Without looking for cycles among millions of values that have none: that takes a sixth of the whole."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _report(workspace: Workspace) -> LintReport:
    view = WikiView.of(workspace.wiki, workspace.format, workspace.settings.now().date())
    notes: list[str] = []
    known = Sources.of(workspace.git, workspace.default)
    redactor = Redactor(workspace.config.redact, keep=known.ids)
    findings = [*_of_pages(view), *_of_git(view, workspace, known, redactor, notes)]
    findings += _uncovered(workspace, known, notes)
    findings += trust.scopes(view, {project.project_id for project in workspace.registry.projects} - {ORGANISATION})
    findings += whole.index(view, workspace.wiki.content(INDEX))
    named = {finding.path for finding in findings}
    return LintReport(
        project=workspace.project.project_id,
        findings=tuple(sorted((_redacted(finding, redactor) for finding in findings), key=lambda one: one.order)),
        pages=len(view.state.pages),
        by_status=_by_status(view),
        by_category=_by_category(view),
        titles={path: redactor.redact(page.title) for path in sorted(named) if (page := view.pages.get(path))},
        notes=tuple(notes),
    )


def _redacted(finding: LintFinding, redactor: Redactor) -> LintFinding:
    """`finding`, which may quote any page, without a secret of it: a report goes further than a page."""
    detail = redactor.redact(finding.detail)
    return finding if detail == finding.detail else finding.model_copy(update={"detail": detail})


def _by_status(view: WikiView) -> dict[str, int]:
    counts = Counter(page.status for page in view.state.pages)
    counts += Counter({ARCHIVED: len(view.state.archived), UNREADABLE_PAGES: len(view.state.unreadable)})
    return dict(sorted(counts.items()))


def _by_category(view: WikiView) -> dict[str, int]:
    counts = Counter(dict.fromkeys(view.format.categories, 0))
    counts.update(path.split("/")[0] for path in view.active)
    return dict(sorted(counts.items()))


def _of_pages(view: WikiView) -> Iterator[LintFinding]:
    """What the pages alone tell."""
    yield from structure.unreadable(view)
    yield from structure.of_page(view)
    yield from links.broken(view)
    yield from links.orphans(view)
    yield from sources.unlisted(view)
    yield from sources.uncited(view)
    yield from life.stale(view)
    yield from life.not_archived(view)
    yield from life.contradicted(view)
    yield from doubles.twins(view)
    yield from doubles.duplicates(view)
    yield from whole.categories(view)


def _of_git(
    view: WikiView, workspace: Workspace, known: Sources, redactor: Redactor, notes: list[str]
) -> Iterator[LintFinding]:
    """What shows only beside the evidence: sources, quotes, finished work, and ids that are no secrets."""
    if known.shallow:
        notes.append("This clone is shallow: commits it does not hold were not called missing.")
    if not known.inventory.checkpoints:
        notes.append("No checkpoint is stored in this clone: `git fetch origin 'refs/entire/*:refs/entire/*'`.")
    yield from trust.secrets(view, redactor.finds)
    yield from sources.missing(view, known)
    verified = Verified(workspace.settings.state / "lint" / f"{workspace.project.project_id}.verified")
    yield from quotes.lost(view, known, redactor, verified)
    if pages := life.open_pages(view):
        since = min((page.updated for page in pages if page.updated), default=view.today)
        commits = _commits(workspace, known.commits, redactor)
        later = [commit for commit in commits if commit.at.date() >= since and commit.trusted]
        yield from life.possibly_resolved(view, _completions(workspace, later))


def _commits(workspace: Workspace, shas: Iterable[str], redactor: Redactor) -> Iterator[Commit]:
    """The commits of the default branch that say something, as an engine takes them."""
    judge = Trust(workspace.config)
    for raw in history.read_commits(workspace.git, [CommitSha(sha) for sha in shas]):
        if not raw.made_here:
            yield as_evidence(raw, (), redactor, trusted=judge.trusts_words(raw))


def _completions(workspace: Workspace, commits: list[Commit]) -> list[Finding]:
    """What the commits say is done, by the cues of the embedded engine, whichever engine writes the pages."""
    found = ExtractiveEngine(workspace.config.weights).reflect_on_commits(commits)
    return [finding for finding in found if COMPLETED in finding.signals]


def _uncovered(workspace: Workspace, known: Sources, notes: list[str]) -> Iterator[LintFinding]:
    """How much evidence no run has accounted for."""
    try:
        with workspace.ledger() as ledger:
            rows = ledger.seen(workspace.project.project_id, workspace.landed_runs())
    except LedgerError as error:
        notes.append(f"What is not yet covered could not be told: {error}")
        return
    window = history.choose_window(
        workspace.git,
        workspace.default.tips,
        rows.contents.keys(),
        rows.floor,
        first_run=rows.first_run,
        seed=workspace.config.seed_commits,
    )
    sessions = sum(
        evidence_kind(one) is EvidenceKind.SESSION and rows.contents.get(one) != content
        for one, content in known.inventory.contents.items()
    )
    yield from whole.evidence(sessions, len(window.new))
