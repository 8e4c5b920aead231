"""The record of a lesson: the original's fields, in its order, and what a missing or a wrong value means."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from reflect.scope.binding import bind
from reflect.scope.metadata import SCOPE_FIELDS
from reflect.scope.proposal import EvidenceScope
from reflect.scope.reflexion import Reflexion
from tests.scope.cases import House, of_project, proposal

FIELDS: dict[str, Any] = {
    "id": "r1",
    "domain": "behavior",
    "session_id": "s1",
    "trigger": "denial",
    "context": "",
    "intervention": "not like that",
    "reflexion_text": "Ask first.",
    "created_at": "2026-03-02T12:00:00+00:00",
}
ORIGINAL = (
    "id",
    "domain",
    "session_id",
    "trigger",
    "context",
    "intervention",
    "reflexion_text",
    "error_type",
    "confidence",
    "is_processed",
    "leap_run_id",
    "created_at",
    "origin",
    "evidence",
)
LATER = ("edited_at", "dropped_at", "dropped_reason")


def record(**changes: object) -> Reflexion:
    return Reflexion.model_validate({**FIELDS, **changes})


def test_every_field_of_the_original_is_there_in_its_order_and_the_scope_beside_them() -> None:
    written = list(record().model_dump())
    assert tuple(written[: len(ORIGINAL) + len(LATER)]) == ORIGINAL + LATER
    assert {*SCOPE_FIELDS, "memory_type", "reflection_kind", "session_tainted", "always_on"} < set(written)


@pytest.mark.parametrize("value", [True, False, float("nan"), float("inf"), 1.5, -0.1, "high", "0.5"])
@pytest.mark.parametrize("field", ["confidence", "scope_confidence"])
def test_a_confidence_is_a_number_from_0_to_1(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        record(**{field: value})


@pytest.mark.parametrize("value", [0, 0.5, 1, None])
@pytest.mark.parametrize("field", ["confidence", "scope_confidence"])
def test_both_ends_of_a_confidence_and_none_are_taken(field: str, value: object) -> None:
    assert getattr(record(**{field: value}), field) == value


def test_a_record_without_scope_is_nobodys_evidence(home: House) -> None:
    """R1 and R2: beside a project's own evidence it stops the write."""
    old, own = record(), of_project("own")
    assert old.stored_scope.legacy_defaulted and not old.stored_scope.is_settled
    found = {own.id: own, old.id: EvidenceScope(old.id, old.stored_scope)}
    asked = proposal([own], [found[old.id]], workspace=home.p)
    assert bind(asked, found, home.registry).reasons == ("evidence_scope_unresolved",)
