"""The one builder of scope keys refuses what may not be stored, and changes nothing to make it fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflect.errors import ScopeError
from reflect.scope.metadata import SCOPE_FIELDS, build_scope_metadata
from tests.scope.cases import P, Q

GOOD: dict[str, Any] = {
    "scope": "project",
    "project_id": P,
    "workspace_root": "/srv/payments",
    "scope_confidence": 0.6,
    "scope_source": "extraction_default",
}


@pytest.mark.parametrize("value", [True, False, float("nan"), 1.5, -0.1, float("inf"), "0.5", None])
def test_confidence_bool_nan_out_of_range_rejected(value: Any) -> None:
    with pytest.raises(ScopeError, match="`scope_confidence`"):
        build_scope_metadata(**{**GOOD, "scope_confidence": value, "scope_source": "operator"})


@pytest.mark.parametrize("value", [None, "", "  ", 3])
@pytest.mark.parametrize("field", ["workspace_root", "project_id"])
def test_workspace_root_required_for_project_reflection(field: str, value: Any) -> None:
    with pytest.raises(ScopeError, match=f"`{field}`"):
        build_scope_metadata(**{**GOOD, field: value})


@pytest.mark.parametrize("source", ["legacy_default", "invalid_default", "", "extracted", None])
def test_sources_of_the_resolver_are_never_written(source: Any) -> None:
    with pytest.raises(ScopeError, match="`scope_source`"):
        build_scope_metadata(**{**GOOD, "scope_source": source})


@pytest.mark.parametrize("scope", ["task", "team", "", None])
def test_scopes_that_do_not_last_are_never_written(scope: Any) -> None:
    with pytest.raises(ScopeError, match="`scope`"):
        build_scope_metadata(**{**GOOD, "scope": scope})


@pytest.mark.parametrize("source", ["classifier", "extraction_default"])
def test_global_needs_an_operator(source: str) -> None:
    with pytest.raises(ScopeError, match="only an operator makes a row global"):
        build_scope_metadata(**{**GOOD, "scope": "global", "scope_source": source})


def test_global_drops_its_project() -> None:
    keys = build_scope_metadata(**{**GOOD, "scope": "global", "scope_source": "operator", "scope_confidence": 1})
    assert (keys.project_id, keys.workspace_root, keys.scope_confidence) == (None, None, 1.0)


def test_certainty_is_an_operators_alone() -> None:
    with pytest.raises(ScopeError, match="never certain"):
        build_scope_metadata(**{**GOOD, "scope_confidence": 1.0})
    assert build_scope_metadata(**{**GOOD, "scope_confidence": 1.0, "scope_source": "operator"}).scope_confidence == 1


ODD = st.one_of(st.none(), st.booleans(), st.integers(-1, 2), st.floats(), st.text(max_size=3))
GIVEN: dict[str, st.SearchStrategy[Any]] = {
    "scope": st.one_of(st.sampled_from(["global", "project", "task"]), ODD),
    "project_id": st.one_of(st.sampled_from([P, Q]), ODD),
    "workspace_root": st.one_of(st.just("/srv/payments"), ODD),
    "scope_confidence": st.one_of(st.floats(0, 1), st.sampled_from([0, 1, 1.0]), ODD),
    "scope_source": st.one_of(st.sampled_from(["operator", "classifier", "extraction_default", "legacy_default"]), ODD),
}


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.fixed_dictionaries(GIVEN))
def test_whatever_is_asked_for_only_whole_keys_come_out_as_they_went_in(given: dict[str, Any]) -> None:
    """R1 and R2: five keys, global an operator's alone, certainty too; a project's row with its project and root."""
    try:
        keys = build_scope_metadata(**given).flat()
    except ScopeError as error:
        assert str(error).startswith(tuple(f"`{name}` is" for name in SCOPE_FIELDS))
        return
    assert tuple(keys) == SCOPE_FIELDS
    assert keys["scope_source"] in ("operator", "classifier", "extraction_default")
    assert keys["scope_source"] == "operator" or (keys["scope"] == "project" and keys["scope_confidence"] < 1)
    located = (given["project_id"], given["workspace_root"]) if keys["scope"] == "project" else (None, None)
    assert (keys["project_id"], keys["workspace_root"]) == located
    assert keys["scope"] == "global" or all(str(value or "").strip() for value in located)
    assert {name: keys[name] for name in ("scope", "scope_confidence", "scope_source")} == {
        name: given[name] for name in ("scope", "scope_confidence", "scope_source")
    }
