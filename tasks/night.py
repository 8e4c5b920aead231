"""The night in the Prefect UI: its progress, its report, and the state that tells what it came to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from uuid import UUID

from prefect.client.schemas.objects import State
from prefect.events import emit_event
from prefect.states import Completed, Failed

from reflect.ledger.nights import NightRow
from reflect.organisation.night import (
    FAILURES,
    NightReport,
    NightState,
    ProjectNight,
    ProjectState,
    Step,
    StepState,
    render_markdown,
)
from tasks.artifacts import change, put, slug, untaken

EVERY_S = 1.0
"""How often the progress is told: each telling is a call to the server."""

_NAMES = {
    ProjectState.DONE: "Completed",
    ProjectState.PARTLY: "PartlyDone",
    ProjectState.UNCHANGED: "NothingNew",
    ProjectState.BUSY: "Busy",
    ProjectState.SKIPPED: "Skipped",
    ProjectState.FAILED: "Failed",
    ProjectState.TIMED_OUT: "TimedOut",
}


def state_of(report: NightReport) -> State[NightReport]:
    """The final state of a night's run: what failed in part is told apart from what failed and what did not."""
    message = report.headline[:2000]
    match report.state:
        case NightState.FAILED:
            return Failed(message=message, data=report)
        case NightState.PARTLY_DONE:
            return Completed(name="PartlyDone", message=message, data=report)
        case NightState.REFUSED:
            return Completed(name="Refused", message=message, data=report)
        case NightState.COMPLETED:
            return Completed(message=message, data=report)


def state_of_project(one: ProjectNight) -> State[str]:
    """The final state of the run of one project."""
    message = one.reason[:2000] or f"{one.pages} pages, {one.queued} claims wait for review"
    if one.state in FAILURES:
        return Failed(name=_NAMES[one.state], message=message)
    return Completed(name=_NAMES[one.state], message=message, data=one.run)


def state_of_steps(steps: Sequence[Step]) -> State[str]:
    """The final state of a run that does one of an organisation's steps by itself."""
    said = "; ".join(f"{step.name}: {step.summary or step.state.value}" for step in steps) or "nothing to do"
    if any(step.state is StepState.FAILED for step in steps):
        return Failed(message=said)
    return Completed(message=said, data=said)


class Progress:
    """The progress of a night as an artifact; a server that does not take it stops nothing."""

    def __init__(self, key: str, total: int) -> None:
        self._total = total
        self._done = 0
        self._guard = threading.Lock()
        self._told = 0.0
        self._artifact: UUID | None = None
        with untaken("progress"):
            begun = 0.0 if total else 100.0
            self._artifact = put("progress", key, begun, f"{total} projects have something new")

    def one_more(self, usd: float) -> None:
        """Another project is done; `usd` is what models cost the night so far."""
        with self._guard:
            self._done += 1
            share = 100.0 * self._done / self._total
            due = self._done == self._total or time.monotonic() - self._told >= EVERY_S
            if due and self._artifact is not None:
                self._told = time.monotonic()
                with untaken("progress"):  # told in turn: what is told last is what stays
                    cost = f", ${usd:.4f} so far" if usd else ""
                    change(self._artifact, share, f"{self._done} of {self._total} projects{cost}")


def publish_night(report: NightReport) -> None:
    """Attach the report to the run, and raise the event that says that the cap was reached."""
    key = f"night-{slug(report.organisation)}"
    with untaken("report"):
        put("markdown", key, render_markdown(report), report.headline)
    if report.cap_reached:
        emit_event(
            "reflect.spend-cap-reached",
            resource={
                "prefect.resource.id": f"reflect.organisation.{slug(report.organisation)}",
                "prefect.resource.name": report.organisation,
            },
            payload={"message": report.headline, "usd": round(report.usd, 6), "cap_usd": report.cap_usd},
        )


def publish_nights(organisation: str, nights: Sequence[NightRow]) -> None:
    """A table of the last nights."""
    rows = [
        {"night": one.night_id, "state": one.state, "began": one.started_at, "what": one.report.get("headline", "")}
        for one in nights
    ]
    with untaken("nights"):
        put("table", f"nights-{slug(organisation)}", json.dumps(rows), "The last nights, newest first")
