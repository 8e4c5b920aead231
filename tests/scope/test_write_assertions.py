"""A test that says something was written says who may see it and by which rule; this one reads all the others.

What counts: an assertion that a decision is a write, or one about the scope of a page or a record, made in the test or
in a helper of its own module. What a question only proposes is no write.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

AXES = (("scope",), ("project_id",), ("scope_source", "source"))
"""What has to be looked at, each under one of its names: scope, project, and how the scope was chosen."""

VOUCHING = frozenset({"assert_page_written", "assert_row_written", "assert_written_to_p", "written"})
"""Helpers that assert all three; `test_helpers_look_at_all_three` reads them."""

WRITES_NOTHING = {
    "scope/test_write_assertions.py": "reads the others",
    "scope/test_binding_table.py::test_no_row_is_left_out": "the numbers of the rows",
    "scope/test_metadata.py": "the builder by itself",
    "wiki/test_draft.py": "keys that are handed in, byte for byte",
    "wiki/test_page.py": "keys that somebody else wrote, byte for byte",
    "cli/test_review.py::test_show_says_why_it_is_here_and_what_approving_would_do": "a question and its evidence",
    "scope/test_resolve.py::test_evidence_that_does_not_exist_is_missing": "the evidence of a question",
}
"""Files and tests that speak of scope and of nothing written, and why."""

_RULE = re.compile(r"\bR[12]\b|rule[ _]?(?:1|2|one|two)|_r[12]_", re.IGNORECASE)
_OF_A_PAGE = re.compile(r"^(?:scope|scope_source|scope_confidence|workspace_root)(?:: ?.*)?$", re.MULTILINE)
_OF_A_ROW = frozenset({"scope", "scope_source", "scope_confidence", "workspace_root"})


@dataclass(frozen=True)
class Module:
    """A test module by its own functions and constants."""

    tree: ast.Module

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)}

    @cached_property
    def constants(self) -> dict[str, ast.AST]:
        named = [node for node in self.tree.body if isinstance(node, ast.Assign)]
        return {one.id: node.value for node in named for one in node.targets if isinstance(one, ast.Name)}

    def behind(self, node: ast.AST, known: frozenset[str] = frozenset()) -> Iterator[ast.AST]:
        """`node`, and the module's own helpers and constants that it uses."""
        yield node
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - known
        for name in sorted(used & (self.functions.keys() | self.constants.keys())):
            if not name.startswith("test_"):
                yield from self.behind(self.functions.get(name) or self.constants[name], known | used)

    def asserts_a_write(self, function: ast.FunctionDef) -> bool:
        asserted = [one.test for one in ast.walk(function) if isinstance(one, ast.Assert)]
        return _vouched(function) or any(_says_so(part) for test in asserted for part in self.said_in(test))

    def said_in(self, asserted: ast.expr) -> Iterator[ast.AST]:
        """What is asserted, with what the module's own helpers in it return and its constants are."""
        yield asserted
        for one in ast.walk(asserted):
            if isinstance(one, ast.Name) and one.id in self.constants:
                yield self.constants[one.id]
            elif isinstance(one, ast.Call) and (helper := self.functions.get(getattr(one.func, "id", ""))) is not None:
                yield from (node for node in ast.walk(helper) if isinstance(node, ast.Return))

    def lacking(self, function: ast.FunctionDef) -> list[str]:
        """What of the three is looked at nowhere."""
        names = {name for part in self.behind(function) for name in _looked_at(part)}
        return [] if _vouched(function) else [axis[0] for axis in AXES if names.isdisjoint(axis)]


def _vouched(function: ast.FunctionDef) -> bool:
    called = {getattr(node.func, "id", "") for node in ast.walk(function) if isinstance(node, ast.Call)}
    return not called.isdisjoint(VOUCHING)


def _says_so(node: ast.AST) -> bool:
    proposed = {part for one in ast.walk(node) if _is_proposal(one) for part in ast.walk(one)}
    return any(_is_write(one) or _is_scope(one) for one in ast.walk(node) if one not in proposed)


def _is_proposal(node: ast.AST) -> bool:
    """`x.proposed.scope`, `proposed.scope`: what a question would write."""
    of = node.value if isinstance(node, ast.Attribute) else None
    return getattr(of, "attr", getattr(of, "id", "")) == "proposed"


def _is_write(node: ast.AST) -> bool:
    """`x is Decision.WRITE` or `x == "write"`: the write itself, not its denial."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.Eq):
        return False
    other = node.comparators[0]
    named = isinstance(other, ast.Attribute) and other.attr == "WRITE"
    return named or (isinstance(other, ast.Constant) and other.value == "write")


def _is_scope(node: ast.AST) -> bool:
    """`row.scope`, `keys["scope"]` or `"scope: project" in text`."""
    if isinstance(node, ast.Attribute):
        return node.attr in _OF_A_ROW
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_OF_A_PAGE.search(node.value))


def _looked_at(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield from re.findall(r"\w+", one.value)
        elif isinstance(one, ast.keyword) and one.arg:
            yield one.arg


def names_a_rule(function: ast.FunctionDef) -> bool:
    said = (one.value for one in ast.walk(function) if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return any(_RULE.search(text) for text in (function.name, *said))


def modules() -> dict[str, Module]:
    return {
        path.relative_to(TESTS).as_posix(): Module(ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(TESTS.rglob("*.py"))
    }


MODULES = modules()
WRITING = {
    f"{file}::{name}": (module, function)
    for file, module in MODULES.items()
    for name, function in module.functions.items()
    if name.startswith("test_") and module.asserts_a_write(function)
}


def test_there_are_such_tests_in_every_room_that_writes() -> None:
    rooms = {name.split("/")[0] for name in WRITING.keys() - _excused()}
    assert {"scope", "review", "cli"} <= rooms
    assert len(WRITING) >= 60


@pytest.mark.parametrize("name", sorted(WRITING))
def test_each_looks_at_scope_project_and_source_and_names_its_rule(name: str) -> None:
    module, function = WRITING[name]
    if name not in _excused():
        assert module.lacking(function) == []
        assert names_a_rule(function)


def _excused() -> set[str]:
    return {name for name in WRITING if name in WRITES_NOTHING or name.split("::")[0] in WRITES_NOTHING}


def test_an_excuse_that_no_longer_applies_is_taken_out() -> None:
    used = {where for where in WRITES_NOTHING for name in WRITING if where in (name, name.split("::")[0])}
    assert used == set(WRITES_NOTHING)


def test_helpers_look_at_all_three() -> None:
    helpers = {
        name: (module, function)
        for module in MODULES.values()
        for name, function in module.functions.items()
        if name in VOUCHING
    }
    assert helpers.keys() == VOUCHING
    for module, helper in helpers.values():
        assert module.lacking(helper) == []
        assert names_a_rule(helper)


OFFENDERS = {
    "a decision": ("def test_x():\n    assert b.decision is Decision.WRITE", ["scope", "project_id", "scope_source"]),
    "a decision by its word": (
        "def test_x():\n    assert b.decision == 'write' and k.scope and k.project_id",
        ["scope_source"],
    ),
    "a record": ("def test_x():\n    assert row.scope == 'project'", ["project_id", "scope_source"]),
    "a key of a page": ("def test_x():\n    assert keys['scope_source'] == 'operator'", ["scope", "project_id"]),
    "a line of a page": ("def test_x():\n    assert 'scope: project\\n' in text", ["project_id", "scope_source"]),
    "by a helper": (
        "def scope_of(row):\n    return row.scope\n\n\ndef test_x():\n    assert scope_of(row) == 'project'",
        ["project_id", "scope_source"],
    ),
    "by a constant": (
        "KEYS = ('scope: global\\n',)\n\n\ndef test_x():\n    assert all(key in text for key in KEYS)",
        ["project_id", "scope_source"],
    ),
}


@pytest.mark.parametrize("how", OFFENDERS)
def test_a_test_that_forgets_one_is_found(how: str) -> None:
    code, lacking = OFFENDERS[how]
    module = Module(ast.parse(code))
    function = module.functions["test_x"]
    assert module.asserts_a_write(function)
    assert module.lacking(function) == lacking
    assert not names_a_rule(function)


@pytest.mark.parametrize(
    "code",
    [
        "assert b.decision is not Decision.WRITE",
        "assert item.proposed.scope == 'global'",
        "assert proposed.scope is None",
        "assert report.pages == 3",
        "assert 'scope filter' in text",
    ],
)
def test_what_says_nothing_of_a_write_is_left_alone(code: str) -> None:
    module = Module(ast.parse(f"def test_x():\n    {code}"))
    assert not module.asserts_a_write(module.functions["test_x"])
