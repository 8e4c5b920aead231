"""How a night is run: the `nightly` section of the organisation file."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from reflect.model import Value


class FanOut(StrEnum):
    """How the projects of a night are spread."""

    TASKS = "tasks"  # in the night's own process, a task each
    DEPLOYMENTS = "deployments"  # a run each on the work pool, on whichever machine takes it


class Overlap(StrEnum):
    """What a night does that finds another one of its organisation at work."""

    REFUSE = "refuse"
    WAIT = "wait"
    SHARE = "share"  # both go on; a project that one of them holds is left to it


class Nightly(Value):
    """Limits of a night. `at_once` projects run side by side, each for at most `project_limit_s` seconds.

    `wait_s` is how long a night waits for another one where `overlap` says so, `cap_usd` what the model calls of the
    whole night may cost.
    """

    at_once: int = Field(default=4, ge=1, le=64)
    project_limit_s: float = Field(default=3600.0, gt=0)
    fan_out: FanOut = FanOut.TASKS
    overlap: Overlap = Overlap.REFUSE
    wait_s: float = Field(default=7200.0, ge=0)
    cap_usd: float | None = Field(default=None, ge=0)
