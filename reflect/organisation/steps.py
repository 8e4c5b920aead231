"""What is done once for the whole organisation after its projects: each step is a function, and fails alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reflect.organisation.estate import Estate
from reflect.organisation.night import ProjectNight, Step, StepState, explained, step_after

SYNTHESIS = "synthesis"
LINT = "lint"

STEPS: Mapping[str, Callable[[Estate], str]] = {}
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
