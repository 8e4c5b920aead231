"""Who may see a row: every reason by name, the first that holds, and none for a row that may be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflect.scope.visibility import Candidate, Exclusion, exclusion
from tests.scope.cases import P, Q, project

OURS = Candidate("reflection", "project", P, learnable=True)
EVERYONES = Candidate("reflection", "global", None, learnable=True)


def row(of: Candidate = OURS, **changes: Any) -> Candidate:
    return Candidate(**{**of.flat(), **changes})


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (OURS, None),
        (EVERYONES, None),
        (row(memory_type="candidate_preference"), Exclusion.CANDIDATE_PREFERENCE_UNAPPROVED),
        (row(EVERYONES, memory_type="candidate_preference"), Exclusion.CANDIDATE_PREFERENCE_UNAPPROVED),
        (row(pending=True), Exclusion.PENDING_REVIEW),
        (row(EVERYONES, pending=True), Exclusion.PENDING_REVIEW),
        (row(EVERYONES, legacy=True), Exclusion.LEGACY_SCOPE_QUARANTINED),
        (row(invalid=True), Exclusion.INVALID_SCOPE_QUARANTINED),
        (row(project_id=None), Exclusion.PROJECT_SCOPE_MISSING_PROJECT_ID),
        (row(project_id=Q), Exclusion.PROJECT_ID_MISMATCH),
        (row(scope="task"), Exclusion.TASK_SCOPE_NOT_SUPPORTED),
        (row(scope="galaxy"), Exclusion.UNKNOWN_SCOPE),
        (row(pending=True, project_id=Q), Exclusion.PENDING_REVIEW),
        (row(memory_type="candidate_preference", pending=True), Exclusion.CANDIDATE_PREFERENCE_UNAPPROVED),
    ],
)
def test_the_first_reason_that_holds_is_given(candidate: Candidate, reason: Exclusion | None) -> None:
    assert exclusion(candidate, project(P, Path("/p"))) is reason


def test_only_what_teaches_rides_as_a_rule() -> None:
    assert exclusion(row(learnable=False), project(P, Path("/p"))) is None
    assert exclusion(row(learnable=False), project(P, Path("/p")), as_rule=True) is Exclusion.ORIGIN_NOT_LEARNABLE
    assert exclusion(OURS, project(P, Path("/p")), as_rule=True) is None


def test_a_project_whose_memory_is_off_sees_what_everyone_may_and_nothing_of_its_own() -> None:
    off = project(P, Path("/p"), enabled=False)
    assert exclusion(OURS, off) is Exclusion.PROJECT_SCOPE_NOT_ALLOWED
    assert exclusion(EVERYONES, off) is None
