"""What an operator's word can and cannot do."""

from __future__ import annotations

import pytest

from reflect.errors import ScopeError
from reflect.model import Origin
from reflect.scope.approval import Choice, approve
from reflect.scope.gate import gate
from reflect.scope.resolve import bind_action
from reflect.scope.review import OPEN, ReviewItem, ReviewStatus
from tests.scope.cases import House, P, Q, action, bound, context, finding, of_project, p_keys, page, session


def question(home: House, quote: str = "Three tries were enough", **changes: object) -> ReviewItem:
    """A cross-project question: P's session on Q's page."""
    asked = bind_action(
        action(finding(session(), quote, **changes)), page(scope_keys=p_keys(project_id=Q)), context(home, session())
    )
    assert asked.item is not None
    assert asked.keys is None
    return asked.item


def test_operator_approval_writes_operator_source(home: House) -> None:
    """Row 14, R2."""
    approval = approve(question(home), Choice.APPROVE_GLOBAL, home.registry)
    assert approval.memory_type == "reflection"
    assert approval.keys.flat() == {
        "scope": "global",
        "project_id": None,
        "workspace_root": None,
        "scope_confidence": 1.0,
        "scope_source": "operator",
    }


def test_operator_can_bind_queue_item_to_project(home: House) -> None:
    """Row 15, R1 by an operator's word."""
    approval = approve(question(home), Choice.APPROVE_PROJECT, home.registry, project_id=P)
    assert approval.keys.flat() == {
        "scope": "project",
        "project_id": P,
        "workspace_root": str(home.p),
        "scope_confidence": 1.0,
        "scope_source": "operator",
    }


def test_candidate_preference_inert_until_approved(home: House) -> None:
    """Row 16, R2: no page and no row before; a fact after."""
    asked = bind_action(
        action(finding(session(), "Always cap retries")),
        page(scope_keys=p_keys(project_id=Q)),
        context(home, session()),
    )
    assert asked.item is not None
    assert asked.item.proposed.memory_type == "candidate_preference"
    assert (asked.keys, asked.reflexions) == (None, ())
    approval = approve(asked.item, Choice.APPROVE_PREFERENCE, home.registry)
    assert (approval.memory_type, approval.keys.scope, approval.keys.scope_source) == ("fact", "global", "operator")


def test_a_candidate_is_approved_as_what_it_is(home: House) -> None:
    candidate, lesson = question(home, "Always cap retries"), question(home)
    with pytest.raises(ScopeError, match="candidate_preference"):
        approve(candidate, Choice.APPROVE_GLOBAL, home.registry)
    with pytest.raises(ScopeError, match="reflection"):
        approve(lesson, Choice.APPROVE_PREFERENCE, home.registry)


def test_approval_does_not_promote_origin(home: House) -> None:
    outsiders = question(home, origin=Origin.UNTRUSTED)
    assert outsiders.reasons == ("cross_project_evidence", "untrusted_origin")
    for choice in Choice:
        with pytest.raises(ScopeError, match="rewrite it first"):
            approve(outsiders, choice, home.registry, project_id=P, widening_confirmed=True)
    written = bound(home, [of_project("e")])
    assert gate(written, learnable=False, origin=Origin.UNTRUSTED).decision == "queue"


def test_going_beyond_the_evidence_needs_a_second_yes(home: House) -> None:
    strayed = session(workspaces=("/elsewhere",))
    asked = bind_action(action(finding(strayed, "Three was enough")), None, context(home, strayed)).item
    assert asked is not None
    with pytest.raises(ScopeError, match="second yes"):
        approve(asked, Choice.APPROVE_GLOBAL, home.registry)
    assert approve(asked, Choice.APPROVE_GLOBAL, home.registry, widening_confirmed=True).keys.scope == "global"
    assert approve(asked, Choice.APPROVE_PROJECT, home.registry).keys.project_id == P


@pytest.mark.parametrize("target", ["nobody", "retired", None])
def test_a_target_must_be_registered_and_enabled(home: House, target: str | None) -> None:
    with pytest.raises(ScopeError, match="stays as it is"):
        approve(question(home), Choice.APPROVE_PROJECT, home.registry, project_id=target)


@pytest.mark.parametrize("status", [status for status in ReviewStatus if status not in OPEN])
def test_only_an_open_item_can_be_approved(home: House, status: ReviewStatus) -> None:
    decided = question(home).model_copy(update={"status": status})
    with pytest.raises(ScopeError, match=str(status)):
        approve(decided, Choice.APPROVE_GLOBAL, home.registry)
