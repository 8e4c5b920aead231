"""What is done once for the whole organisation after its projects: each step is a function, and fails alone."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reflect.deadline import within
from reflect.errors import ReflectError, RepositoryError
from reflect.ledger.health import ExpectedRow, FoundRow, LintRow, LintState
from reflect.ledger.recording import instant
from reflect.lint.run import LintReport, lint
from reflect.organisation.estate import Estate
from reflect.organisation.health import health_of, reports_folder
from reflect.organisation.night import ProjectNight, Step, StepState, explained, step_after
from reflect.review.synthesis import propose_recurring
from reflect.workspace import Workspace

if TYPE_CHECKING:
    from reflect.health.document import HealthReport

SYNTHESIS = "synthesis"
LINT = "lint"
REPORT = "lint-health"

_OPENING_S = 5
"""How long a step waits for a repository to open. What takes longer has failed in the night already, and says so."""


CheckPages = Callable[[Workspace], tuple[ExpectedRow, ...]]
"""What the expectations say of a wiki's pages; it is handed in, for the domain does not load them."""

Show = Callable[["HealthReport", Path], None]


@dataclass(frozen=True, slots=True)
class Round:
    """What the steps are taken for. `id` is the night's, or names what was started by hand.

    Without `check_pages` the history says that the pages were not put before the expectations. `show` is told of the
    report and where its page lies.
    """

    estate: Estate
    id: str
    check_pages: CheckPages | None = None
    show: Show | None = None

    @classmethod
    def by_hand(cls, estate: Estate, check_pages: CheckPages | None = None, show: Show | None = None) -> Round:
        return cls(estate, f"{estate.settings.now():%Y-%m-%d}-by-hand-{uuid.uuid4().hex[:8]}", check_pages, show)


def synthesise(around: Round) -> str:
    """Ask the organisation's operator about lessons that recur in several projects."""
    with around.estate.bench("", lambda project: _workspace(around.estate, project)) as bench:
        done = propose_recurring(bench)
    unread = f"; {', '.join(done.unread)} could not be read" if done.unread else ""
    return f"{done.lessons} lessons, {len(done.proposed)} new in the organisation's queue{unread}"


def check_wikis(around: Round) -> str:
    """Lint every wiki that is on this machine and keep what was found: how much it is, and where most errors stand."""
    reports: list[LintReport] = []
    unread: list[str] = []
    with around.estate.ledger() as ledger:
        for project in around.estate.awake:
            at = instant(around.estate.settings.now())
            try:
                report, expected = _linted(around, project)
            except Exception as error:  # one wiki that cannot be checked takes no other down
                unread.append(project)
                ledger.record_lint(LintRow(project, around.id, at, state=LintState.UNREAD, reason=explained(error)))
            else:
                reports.append(report)
                ledger.record_lint(_lint_row(around, project, at, report, expected), _found_rows(report))
    return _told(reports, unread)


def _told(reports: Sequence[LintReport], unread: Sequence[str]) -> str:
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update(report.by_severity)
    worst = max(reports, key=lambda report: report.by_severity["error"], default=None)
    said = f"{len(reports)} wikis: {counts['error']} errors, {counts['warning']} warnings, {counts['hint']} hints"
    if worst is not None and worst.by_severity["error"]:
        said += f"; most errors in {worst.project} ({worst.by_severity['error']})"
    return said + (f"; {', '.join(unread)} could not be read" if unread else "")


def _lint_row(
    around: Round, project: str, at: str, report: LintReport, expected: tuple[ExpectedRow, ...] | None
) -> LintRow:
    return LintRow(
        project_id=project,
        lint_id=around.id,
        linted_at=at,
        by_status=report.by_status,
        by_category=report.by_category,
        expected=expected,
        notes=report.notes,
    )


def _found_rows(report: LintReport) -> list[FoundRow]:
    return [
        FoundRow(
            code=finding.code,
            severity=finding.severity.value,
            path=finding.path,
            detail=finding.detail,
            line=finding.line,
            title=report.titles.get(finding.path, ""),
            fixable=finding.fixable,
        )
        for finding in report.findings
    ]


def _linted(around: Round, project: str) -> tuple[LintReport, tuple[ExpectedRow, ...] | None]:
    """What lint and the expectations say of one wiki, within what a project may take. Raises ReflectError."""
    with within(around.estate.nightly.project_limit_s):
        workspace = _opened(around.estate, project)
        report = lint(workspace)
        return report, None if around.check_pages is None else around.check_pages(workspace)


def _opened(estate: Estate, project: str) -> Workspace:
    """The project's repository; one that hangs is let go. Raises ReflectError where it cannot be opened."""
    with within(min(estate.nightly.project_limit_s, _OPENING_S)):
        workspace = estate.workspace(project)
    if workspace is None:
        raise RepositoryError(f"The repository of {project} is not on this machine; its wiki was not read.")
    return workspace


def _workspace(estate: Estate, project: str) -> Workspace | None:
    """The project's repository; None where it cannot be opened."""
    try:
        return _opened(estate, project)
    except ReflectError:
        return None


def report_health(around: Round) -> str:
    """Write the lint-health report for the operator: how the wikis are, and where its page lies."""
    from reflect.health.files import write_report  # with pandas and the charts, which take seconds to load

    report = health_of(around.estate)
    page = write_report(report, reports_folder(around.estate))
    if around.show is not None:
        around.show(report, page)
    return f"{report.headline}; {page}"


STEPS: Mapping[str, Callable[[Round], str]] = {SYNTHESIS: synthesise, LINT: check_wikis, REPORT: report_health}
"""By name, in their order: what does it, and says in a few words what it did. A step may read every project's wiki and
ledger rows, and may write to the organisation's own wiki alone."""

_OF_WIKIS = frozenset({SYNTHESIS, LINT})
"""Steps that have nothing to work on where every project failed; a report tells then what is still known."""


def take(name: str, around: Round, projects: Sequence[ProjectNight] = ()) -> Step:
    """Do the step `name`, unless everything it would work on failed before it."""
    skipped = step_after(name, projects) if name in _OF_WIKIS else None
    if skipped is not None:
        return skipped
    try:
        return Step(name=name, state=StepState.DONE, summary=STEPS[name](around))
    except Exception as error:  # a step that fails is told of, and takes no project down
        return Step(name=name, state=StepState.FAILED, summary=explained(error))
