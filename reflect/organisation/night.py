"""A night: which projects have something to do, what became of each, and what the whole of it came to.

Pure: nothing here reads a repository, a ledger or a clock. One failing project never decides for the others, and what
did not happen because something before it failed is named as that.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field

from reflect.errors import ReflectError, RepositoryBusy, TimeLimitReached
from reflect.model import ProjectId, Value
from reflect.publish.policy import Published
from reflect.report import RunReport, Spend

IN_A_ROW = 3
"""A project that failed this many nights one after another is called out: nobody looked at it the first time."""


class ProjectState(StrEnum):
    DONE = "done"
    PARTLY = "partly"  # the run landed, some pages could not be written
    UNCHANGED = "unchanged"  # nothing was new, so nothing was started
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    BUSY = "busy"  # another run holds the project, and does its work
    SKIPPED = "skipped"  # not tried, because of something that happened before


FAILURES = frozenset({ProjectState.FAILED, ProjectState.TIMED_OUT})
_NO_VERDICT = frozenset({ProjectState.BUSY, ProjectState.SKIPPED})
"""States that say nothing of the project itself: they neither end a row of failures nor lengthen it."""


class NightState(StrEnum):
    COMPLETED = "completed"
    PARTLY_DONE = "partly-done"
    FAILED = "failed"
    REFUSED = "refused"  # another night of the organisation is running


class StepState(StrEnum):
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class Step(Value):
    """What is done once for the whole organisation, after its projects."""

    name: str
    state: StepState
    summary: str = ""


class ProjectNight(Value):
    """What became of one project. `name` is `project@short-sha`, as runs are called.

    `commit` and `url` say where its pages were written back to, `written_back` what became of that in words. `queued`
    claims were put into the review queue tonight, `waiting` stand in it in all.
    """

    project: ProjectId
    state: ProjectState
    name: str = ""
    reason: str = ""
    run: str = ""
    collected: dict[str, int] = Field(default_factory=dict)
    outcomes: dict[str, int] = Field(default_factory=dict)
    pages: int = 0
    failed_pages: int = 0
    queued: int = 0
    waiting: int = 0
    spend: Spend = Spend()
    commit: str = ""
    url: str = ""
    written_back: str = ""
    seconds: float = 0.0

    @classmethod
    def of(cls, report: RunReport, *, name: str = "") -> ProjectNight:
        """What a run that came to its end did."""
        failed = len(report.failed_pages)
        return cls(
            project=report.project,
            state=ProjectState.PARTLY if failed else ProjectState.DONE,
            name=name or report.project,
            reason=_why_partly(report) if failed else "",
            run=report.run,
            collected=report.collected,
            outcomes=report.outcomes,
            pages=len(report.pages),
            failed_pages=failed,
            queued=report.queued,
            spend=report.spend,
        )

    def written_back_as(self, published: Published) -> ProjectNight:
        """The same with where its pages went; partly done where they are not there yet."""
        said = f"{published.outcome}: {published.reason}"
        told: dict[str, object] = {"commit": published.commit, "url": published.url, "written_back": said}
        if not published.is_done:
            told |= {"state": ProjectState.PARTLY, "reason": f"its pages were not written back ({said})"}
        return self.model_copy(update=told)

    @classmethod
    def of_error(cls, project: str, error: Exception, *, name: str = "", seconds: float = 0.0) -> ProjectNight:
        """What a project that did not come to its end is told as; evidence in the words of a fault stays out."""
        if isinstance(error, TimeLimitReached):
            state = ProjectState.TIMED_OUT
        else:
            state = ProjectState.BUSY if isinstance(error, RepositoryBusy) else ProjectState.FAILED
        return cls(project=project, state=state, name=name, reason=explained(error), seconds=seconds)


class NightReport(Value):
    """Everything a night has to say; every project of the organisation is in it once."""

    organisation: str
    night: str
    projects: tuple[ProjectNight, ...] = ()
    steps: tuple[Step, ...] = ()
    swept: tuple[str, ...] = ()
    again_and_again: dict[str, int] = Field(default_factory=dict)
    cap_usd: float | None = None
    dry_run: bool = False
    refused: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def state(self) -> NightState:
        """Failed only where every project did that says anything: the rest of an organisation is not lost with one."""
        if self.refused:
            return NightState.REFUSED
        told = [one for one in self.projects if one.state not in _NO_VERDICT]
        failed = [one for one in told if one.state in FAILURES]
        if failed and len(failed) == len(told):
            return NightState.FAILED
        partly = any(one.state in (ProjectState.PARTLY, ProjectState.SKIPPED) for one in self.projects)
        lost = any(step.state is not StepState.DONE for step in self.steps)
        return NightState.PARTLY_DONE if failed or partly or lost else NightState.COMPLETED

    @property
    def exit_code(self) -> int:
        codes = {NightState.COMPLETED: 0, NightState.PARTLY_DONE: 3, NightState.FAILED: 4, NightState.REFUSED: 5}
        return codes[self.state]

    @property
    def usd(self) -> float:
        return sum(one.spend.usd for one in self.projects)

    @property
    def cap_reached(self) -> bool:
        return self.cap_usd is not None and 0 < self.usd >= self.cap_usd

    def counted(self, state: ProjectState) -> int:
        return sum(one.state is state for one in self.projects)

    @property
    def headline(self) -> str:
        """The night in one sentence: how many projects ended how, and which of them failed."""
        if self.refused:
            return self.refused
        counts = ", ".join(f"{count} {state}" for state in ProjectState if (count := self.counted(state)))
        failed = [one.project for one in self.projects if one.state in FAILURES]
        named = f"; failed: {', '.join(failed[:5])}{' and others' if len(failed) > 5 else ''}" if failed else ""
        cap = f"; the cap of ${self.cap_usd:.2f} was reached" if self.cap_reached and self.cap_usd is not None else ""
        lost = [f"{step.name} {step.state}" for step in self.steps if step.state is not StepState.DONE]
        return f"{counts or 'no projects'}{named}{cap}{''.join(f'; {one}' for one in lost)}"

    def as_json(self) -> dict[str, Any]:
        """The object of `reflect org ingest --json`."""
        return {
            **self.model_dump(mode="json"),
            "state": self.state.value,
            "headline": self.headline,
            "usd": round(self.usd, 6),
            "cap_reached": self.cap_reached,
        }


def explained(error: BaseException) -> str:
    """What is told of an error: its own sentence where we foresaw it, else its kind and place alone.

    The words of an error that nobody foresaw may repeat what a transcript says.
    """
    if isinstance(error, ReflectError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"A fault of the product ({type(error).__name__}{place}); nothing of this project landed; please report it."


def failed_in_a_row(states: Sequence[str]) -> int:
    """How many nights in a row a project has failed, given what became of it, newest first."""
    row = 0
    for state in states:
        if state in FAILURES:
            row += 1
        elif state not in _NO_VERDICT:
            break
    return row


def again_and_again(tonight: Iterable[ProjectNight], before: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The projects that have failed `IN_A_ROW` nights or more with tonight, and how many; `before` is newest first."""
    rows = {one.project: failed_in_a_row((one.state, *before.get(one.project, ()))) for one in tonight}
    failing = {one.project for one in tonight if one.state in FAILURES}
    return {project: row for project, row in sorted(rows.items()) if row >= IN_A_ROW and project in failing}


def step_after(name: str, projects: Sequence[ProjectNight]) -> Step | None:
    """The step `name`, skipped, where nothing before it left it anything to work on; else None."""
    tried = [one for one in projects if one.state not in _NO_VERDICT]
    if tried and all(one.state in FAILURES for one in tried):
        return Step(name=name, state=StepState.SKIPPED, summary="every project failed before it")
    return None


def render_markdown(report: NightReport) -> str:
    """The night as a person reads it."""
    dry = " (dry run: nothing was written)" if report.dry_run else ""
    head = f"# {report.organisation}: night `{report.night}`{dry}"
    lines = [head, "", f"**{report.state.value}**: {report.headline}."]
    called_out = [f"- **{name}** has failed {row} nights in a row" for name, row in report.again_and_again.items()]
    lines += _listed("Failing night after night", called_out)
    ordered = sorted(report.projects, key=_worst_first)
    lines += _listed("What went wrong", [_complaint(one) for one in ordered if one.reason])
    lines += ["", "## Projects", "", _HEAD, _RULE, *map(_row, ordered)]
    lines += _listed("For the whole organisation", [_step(step) for step in report.steps])
    if report.usd or report.cap_usd is not None:
        cap = "no cap" if report.cap_usd is None else f"of ${report.cap_usd:.2f}"
        lines += ["", f"Model calls cost ${report.usd:.4f} ({cap})."]
    lines += _listed("Left by a night that crashed, and cleared", [f"- {one}" for one in report.swept])
    return "\n".join(lines) + "\n"


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _complaint(one: ProjectNight) -> str:
    return f"- **{one.project}** ({one.state.value}): {' '.join(one.reason.split())}"


def _step(step: Step) -> str:
    return f"- {step.name}: {step.state.value}" + (f" ({step.summary})" if step.summary else "")


_HEAD = "| project | state | pages | sessions | commits | for review | cost | where to |"
_RULE = "|---|---|---:|---:|---:|---:|---:|---|"


def _row(one: ProjectNight) -> str:
    link = f"[{one.written_back or one.url}]({one.url})" if one.url else one.written_back
    cells = (
        one.name or one.project,
        one.state.value,
        str(one.pages),
        str(one.collected.get("sessions", 0)),
        str(one.collected.get("commits", 0)),
        f"{one.queued} new, {one.waiting} in all" if one.waiting else "0",
        f"${one.spend.usd:.4f}" if one.spend.usd else "–",
        link or "–",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


_ORDER = (
    ProjectState.FAILED,
    ProjectState.TIMED_OUT,
    ProjectState.PARTLY,
    ProjectState.SKIPPED,
    ProjectState.BUSY,
    ProjectState.DONE,
    ProjectState.UNCHANGED,
)


def _worst_first(one: ProjectNight) -> tuple[int, str]:
    return _ORDER.index(one.state), one.project


def _why_partly(report: RunReport) -> str:
    first = report.failed_pages[0]
    more = f" and {len(report.failed_pages) - 1} more" if len(report.failed_pages) > 1 else ""
    return f"{first.path} could not be written{more}: {first.reason}"
