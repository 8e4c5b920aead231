"""What a test says of something that was written: who may see it, whose it is, and how that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflect.scope.metadata import SCOPE_FIELDS, build_scope_metadata
from reflect.scope.reflexion import Reflexion
from reflect.wiki.page import parse_page


def assert_page_written(text: str, *, project: str | None, scope_source: str, workspace_root: str = ".") -> None:
    """R1: a page of `project` has its five keys. R2: one of no project is everyone's, and an operator's."""
    stated = parse_page(text.encode(), "a/b.md").data
    keys = {name: stated.get(name) for name in SCOPE_FIELDS}
    _assert_scope({**keys, "scope_confidence": float(keys["scope_confidence"] or "nan")}, project, scope_source)
    assert keys["workspace_root"] == (None if project is None else workspace_root)


def assert_row_written(row: Reflexion, *, project: str | None, scope_source: str, workspace_root: str | None) -> None:
    """R1: a record of `project` has its five keys. R2: one of no project is everyone's, and an operator's."""
    keys = row.model_dump(include={*SCOPE_FIELDS})
    _assert_scope(keys, project, scope_source)
    assert keys["workspace_root"] == workspace_root


def _assert_scope(keys: Mapping[str, Any], project: str | None, scope_source: str) -> None:
    """R1, R2: keys that the one builder would make again, and these."""
    scope = "global" if project is None else "project"
    assert (keys["scope"], keys["project_id"], keys["scope_source"]) == (scope, project, scope_source)
    assert build_scope_metadata(**keys).flat() == keys
    assert (keys["scope_confidence"] == 1.0) == (scope_source == "operator")
