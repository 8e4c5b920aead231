"""What an operator's word can and cannot do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflect.errors import ScopeError
from reflect.model import Origin
from reflect.scope.approval import Choice, approve
from reflect.scope.gate import gate
from reflect.scope.resolve import bind_action
from reflect.scope.review import OPEN, ReviewItem, ReviewStatus
from tests.scope.cases import House, P, Q, action, bound, context, finding, house, of_project, p_keys, page, session


def question(home: House, quote: str = "Three tries were enough", **changes: object) -> ReviewItem:
    """A cross-project question: P's session on Q's page."""
    asked = bind_action(
        action(finding(session(), quote, **changes)), page(scope_keys=p_keys(project_id=Q)), context(home, session())
    )
    assert asked.item is not None
    assert asked.keys is None
    return asked.item


LESSON, STANDING_RULE = "Three tries were enough", "Always cap retries"
EVERYONES = {
    "scope": "global",
    "project_id": None,
    "workspace_root": None,
    "scope_confidence": 1.0,
    "scope_source": "operator",
}


@pytest.mark.parametrize(
    ("quote", "choice", "project", "memory_type"),
    [
        pytest.param(
            LESSON, Choice.APPROVE_GLOBAL, None, "reflection", id="14 test_operator_approval_writes_operator_source"
        ),
        pytest.param(
            LESSON, Choice.APPROVE_PROJECT, P, "reflection", id="15 test_operator_can_bind_queue_item_to_project"
        ),
        pytest.param(
            STANDING_RULE,
            Choice.APPROVE_PREFERENCE,
            None,
            "fact",
            id="16 test_candidate_preference_inert_until_approved",
        ),
    ],
)
def test_row(home: House, quote: str, choice: Choice, project: str | None, memory_type: str) -> None:
    """R1 and R2 by an operator's word: no page and no row before it, and these keys after it."""
    asked = bind_action(
        action(finding(session(), quote)), page(scope_keys=p_keys(project_id=Q)), context(home, session())
    )
    assert asked.item is not None
    assert (asked.decision, asked.keys, asked.reflexions) == ("queue", None, ())
    assert (asked.item.proposed.memory_type == "candidate_preference") == (quote == STANDING_RULE)
    approval = approve(asked.item, choice, home.registry, project_id=project)
    own = {**EVERYONES, "scope": "project", "project_id": P, "workspace_root": str(home.p)}
    assert approval.keys.flat() == (EVERYONES if project is None else own)
    assert approval.memory_type == memory_type


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from(["cross", "strayed"]),
    st.sampled_from([LESSON, STANDING_RULE]),
    st.sampled_from([*Origin]),
    st.sampled_from([*ReviewStatus]),
    st.sampled_from([*Choice]),
    st.sampled_from([None, P, Q, "retired", "nobody"]),
    st.booleans(),
)
def test_whatever_is_chosen_keys_are_an_operators_and_of_an_open_clean_question(
    tmp_path_factory: pytest.TempPathFactory,
    how: str,
    quote: str,
    origin: Origin,
    status: ReviewStatus,
    choice: Choice,
    project: str | None,
    confirmed: bool,
) -> None:
    """R1 and R2: global by one of two choices alone, and for another project than the evidence's on a second yes."""
    home = house(tmp_path_factory.getbasetemp() / "approving")
    strayed = session(workspaces=("/elsewhere",))
    said = finding(strayed if how == "strayed" else session(), quote, origin=origin)
    neighbours = page(scope_keys=p_keys(project_id=Q)) if how == "cross" else None
    item = bind_action(action(said), neighbours, context(home, strayed if how == "strayed" else session())).item
    assert item is not None
    item = item.model_copy(update={"status": status})
    try:
        approval = approve(item, choice, home.registry, project_id=project, widening_confirmed=confirmed)
    except ScopeError:
        return
    keys = approval.keys
    assert (keys.scope_source, keys.scope_confidence) == ("operator", 1.0)
    assert (origin, status in OPEN) == (Origin.CLEAN, True)
    assert (keys.scope == "global") == (choice is not Choice.APPROVE_PROJECT)
    assert keys.project_id in ((None,) if keys.scope == "global" else (P, Q))
    assert (keys.workspace_root is None) == (keys.scope == "global")
    assert confirmed or keys.project_id == P or (keys.scope == "global" and how == "cross")


@pytest.mark.parametrize(
    ("project", "why"), [("retired", "switched off"), ("nobody", "registered"), (None, "registered")]
)
def test_nothing_is_approved_for_a_project_that_may_keep_nothing(home: House, project: str | None, why: str) -> None:
    with pytest.raises(ScopeError, match=why):
        approve(question(home), Choice.APPROVE_PROJECT, home.registry, project_id=project, widening_confirmed=True)


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
    """R2, and R1 for the evidence's own project, by an operator's word."""
    strayed = session(workspaces=("/elsewhere",))
    asked = bind_action(action(finding(strayed, "Three was enough")), None, context(home, strayed)).item
    assert asked is not None
    with pytest.raises(ScopeError, match="second yes"):
        approve(asked, Choice.APPROVE_GLOBAL, home.registry)
    everyones = approve(asked, Choice.APPROVE_GLOBAL, home.registry, widening_confirmed=True).keys
    assert (everyones.scope, everyones.project_id, everyones.scope_source) == ("global", None, "operator")
    own = approve(asked, Choice.APPROVE_PROJECT, home.registry).keys
    assert (own.scope, own.project_id, own.scope_source) == ("project", P, "operator")


@pytest.mark.parametrize("target", ["nobody", "retired", None])
def test_a_target_must_be_registered_and_enabled(home: House, target: str | None) -> None:
    with pytest.raises(ScopeError, match="stays as it is"):
        approve(question(home), Choice.APPROVE_PROJECT, home.registry, project_id=target)


@pytest.mark.parametrize("status", [status for status in ReviewStatus if status not in OPEN])
def test_only_an_open_item_can_be_approved(home: House, status: ReviewStatus) -> None:
    decided = question(home).model_copy(update={"status": status})
    with pytest.raises(ScopeError, match=str(status)):
        approve(decided, Choice.APPROVE_GLOBAL, home.registry)
