"""A test that says something was written says who may see it and by which rule; this one reads the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOMS = ("scope", "review")

AXES = (("scope",), ("project_id",), ("scope_source", "source"))
"""What has to be looked at, each under one of its names: scope, project, and how the scope was chosen."""

VOUCHING = {"assert_written_to_p", "written"}
"""Helpers that assert all three and name their rule; `test_helpers_look_at_all_three` reads them."""

_RULE = re.compile(r"\bR[12]\b|rule[ _]?[12]|_r[12]_|^test_r[12]_", re.IGNORECASE)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def sources() -> Iterator[tuple[str, str, ast.Module]]:
    for room in ROOMS:
        for path in sorted((TESTS / room).glob("*.py")):
            text = path.read_text(encoding="utf-8")
            yield f"{room}/{path.name}", text, ast.parse(text)


def asserts_a_write(function: ast.FunctionDef) -> bool:
    """Whether it claims that a decision is a write, or vouches for one through a helper."""
    return vouched(function) or any(
        is_write(node) for one in ast.walk(function) if isinstance(one, ast.Assert) for node in ast.walk(one)
    )


def is_write(node: ast.AST) -> bool:
    """`x is Decision.WRITE` or `x == "write"`: the write itself, not its denial."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.Eq):
        return False
    other = node.comparators[0]
    named = isinstance(other, ast.Attribute) and other.attr == "WRITE"
    return named or (isinstance(other, ast.Constant) and other.value == "write")


def looked_at(function: ast.FunctionDef) -> set[str]:
    """The names of attributes, keys and keywords in the function."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"\w+", node.value))
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return found


def vouched(function: ast.FunctionDef) -> bool:
    called = {getattr(node.func, "id", "") for node in ast.walk(function) if isinstance(node, ast.Call)}
    return not called.isdisjoint(VOUCHING)


def names_a_rule(function: ast.FunctionDef) -> bool:
    return _RULE.search(f"{function.name} {ast.get_docstring(function) or ''}") is not None


def lacking(function: ast.FunctionDef) -> list[str]:
    names = looked_at(function)
    return [axis[0] for axis in AXES if names.isdisjoint(axis)]


WRITING = [
    (f"{where}::{function.name}", function)
    for where, _, tree in sources()
    for function in functions(tree)
    if function.name.startswith("test_") and asserts_a_write(function)
]


def test_there_are_such_tests() -> None:
    assert len(WRITING) >= 15


@pytest.mark.parametrize(("name", "function"), WRITING, ids=[name for name, _ in WRITING])
def test_each_looks_at_scope_project_and_source_and_names_its_rule(name: str, function: ast.FunctionDef) -> None:
    assert vouched(function) or lacking(function) == []
    assert vouched(function) or names_a_rule(function)


def test_helpers_look_at_all_three() -> None:
    helpers = [one for _, _, tree in sources() for one in functions(tree) if one.name in VOUCHING]
    assert {one.name for one in helpers} == VOUCHING
    for helper in helpers:
        assert lacking(helper) == []
        assert names_a_rule(helper)


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("def test_x():\n    assert b.decision is Decision.WRITE", ["scope", "project_id", "scope_source"]),
        ("def test_x():\n    assert b.decision == 'write' and k.scope and k.project_id", ["scope_source"]),
    ],
)
def test_a_test_that_forgets_one_is_found(code: str, seen: list[str]) -> None:
    (function,) = functions(ast.parse(code))
    assert asserts_a_write(function)
    assert lacking(function) == seen
