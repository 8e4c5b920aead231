"""What is done once for the whole organisation after its projects: each step is a function, and fails alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from reflect.deadline import within
from reflect.errors import ReflectError
from reflect.lint.run import LintReport, lint
from reflect.organisation.estate import Estate
from reflect.organisation.night import ProjectNight, Step, StepState, explained, step_after
from reflect.review.synthesis import propose_recurring
from reflect.workspace import Workspace

SYNTHESIS = "synthesis"
LINT = "lint"

_OPENING_S = 5
"""How long a step waits for a repository to open. What takes longer has failed in the night already, and says so."""


def synthesise(estate: Estate) -> str:
    """Ask the organisation's operator about lessons that recur in several projects."""
    with estate.bench("", lambda project: _workspace(estate, project)) as bench:
        done = propose_recurring(bench)
    unread = f"; {', '.join(done.unread)} could not be read" if done.unread else ""
    return f"{done.lessons} lessons, {len(done.proposed)} new in the organisation's queue{unread}"


def check_wikis(estate: Estate) -> str:
    """Lint every wiki that is on this machine: how many findings there are, and where most errors stand."""
    reports: list[LintReport] = []
    unread: list[str] = []
    for project in estate.awake:
        report = _linted(estate, project)
        if report is None:
            unread.append(project)
        else:
            reports.append(report)
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update(report.by_severity)
    worst = max(reports, key=lambda report: report.by_severity["error"], default=None)
    said = f"{len(reports)} wikis: {counts['error']} errors, {counts['warning']} warnings, {counts['hint']} hints"
    if worst is not None and worst.by_severity["error"]:
        said += f"; most errors in {worst.project} ({worst.by_severity['error']})"
    return said + (f"; {', '.join(unread)} could not be read" if unread else "")


def _linted(estate: Estate, project: str) -> LintReport | None:
    """What lint says of one wiki; None where it cannot be read, or not within what a project may take."""
    workspace = _workspace(estate, project)
    try:
        with within(estate.nightly.project_limit_s):
            return None if workspace is None else lint(workspace)
    except ReflectError:
        return None


def _workspace(estate: Estate, project: str) -> Workspace | None:
    """The project's repository; None where it is not there or cannot be opened: a repository that hangs is let go."""
    try:
        with within(min(estate.nightly.project_limit_s, _OPENING_S)):
            return estate.workspace(project)
    except ReflectError:
        return None


STEPS: Mapping[str, Callable[[Estate], str]] = {SYNTHESIS: synthesise, LINT: check_wikis}
"""By name, in their order: what does it, and says in a few words what it did. A step may read every project's wiki and
ledger rows, and may write to the organisation's own wiki alone."""


def take(name: str, estate: Estate, projects: Sequence[ProjectNight] = ()) -> Step:
    """Do the step `name`, unless everything it would work on failed before it."""
    skipped = step_after(name, projects)
    if skipped is not None:
        return skipped
    try:
        return Step(name=name, state=StepState.DONE, summary=STEPS[name](estate))
    except Exception as error:  # a step that fails is told of, and takes no project down
        return Step(name=name, state=StepState.FAILED, summary=explained(error))
