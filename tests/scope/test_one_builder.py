"""Scope keys are made in one place. A second place would be a second policy, and would be wrong first."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import reflect

PACKAGE = Path(reflect.__file__).parent
KEYS = {"scope_source", "scope_confidence", "workspace_root"}

MAKERS = {
    "scope/binding.py": "asks the builder for a write; fills the proposed scope of a question, which nothing stores",
    "scope/page_keys.py": "asks the builder again, with the root made relative",
    "scope/approval.py": "asks the builder in an operator's name",
    "scope/stored.py": "reads stored keys",
    "review/reclassify.py": "asks the builder for records without a scope, in a classifier's name and never globally",
    "scope/recurring.py": "copies a lesson's scope source onto the evidence of a question; makes no keys",
    "scope/resolve.py": "fills the proposed scope of a question about a global page, which nothing stores",
}
"""Every file that gives a value to a scope key, and why it may. Only the builder turns them into keys."""


def keys_made_in(tree: ast.AST) -> set[str]:
    """Scope keys given as a keyword, as a key of a dict display, or assigned by subscript."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found |= {keyword.arg for keyword in node.keywords if keyword.arg in KEYS and keyword.arg is not None}
        elif isinstance(node, ast.Dict):
            found |= {str(key.value) for key in node.keys if isinstance(key, ast.Constant) and key.value in KEYS}
        elif isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {
                str(target.slice.value)
                for target in targets
                if isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value in KEYS
            }
    return found


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@cache
def sources() -> dict[str, ast.AST]:
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def test_single_builder_single_writer_ast_sweep() -> None:
    """R1 and R2: an unknown place fails, and so does an entry here that no longer applies."""
    makers = {name for name, tree in sources().items() if keys_made_in(tree)}
    assert makers == set(MAKERS)


def test_only_the_builder_makes_scope_keys() -> None:
    """And each later form of them is made in one place as well."""
    places = {
        "ScopeKeys": {"scope/metadata.py"},
        "Binding": {"scope/binding.py"},
        "PageKeys": {"scope/page_keys.py"},
        "Reflexion": {"scope/rows.py"},
        "ReviewItem": {"scope/review.py"},
        "BoundAction": {"scope/resolve.py"},
    }
    found: dict[str, set[str]] = {made: set() for made in places}
    for name, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (made := _called(node.func)) in found:
                found[made].add(name)
    assert found == places


WRITERS = {
    "draft_page": {
        "pipeline/write.py": "the pages of a run",
        "pipeline/approved.py": "the page of what an operator approved",
    },
    "Landing": {
        "pipeline/index.py": "the files of a run; `.last_run` alone where nothing was new",
        "pipeline/archive.py": "moves pages with their keys as they are",
        "pipeline/approved.py": "the page of what an operator approved",
        "publish/retry.py": "the note that pages wait to be written back; no page",
        "lint/mend.py": "mends what lint found on pages, their scope keys as they are",
        "wiki/landing.py": "finishes what was killed",
    },
    "reflexion_row": {
        "ledger/recording.py": "the records of a run; a known one is kept as it is",
        "ledger/reviewing.py": "a record that an operator's decision made or changed",
    },
    "put_reflexion": {
        "ledger/reviewing.py": "what a decision on a question made of a lesson",
        "ledger/keeping.py": "a record from a file, without a scope",
    },
    "replace_reflexion": {
        "ledger/reviewing.py": "the same, where the lesson was recorded before",
        "ledger/keeping.py": "a record that was dropped, reclassified or restored",
    },
    "item_row": {
        "ledger/recording.py": "the questions of a run",
        "ledger/keeping.py": "the questions of an organisation, which no run asked",
    },
}
"""Every place from which a page or a record is written, and why. There is one builder, one landing, one row."""


@pytest.mark.parametrize("written", WRITERS)
def test_pages_and_rows_are_written_from_places_that_are_listed(written: str) -> None:
    """R1 and R2: a new place fails until it is listed here with a reason, and so does a reason without a place."""
    found = {
        name
        for name, tree in sources().items()
        if any(isinstance(node, ast.Call) and _called(node.func) == written for node in ast.walk(tree))
    }
    assert found == set(WRITERS[written])


@pytest.mark.parametrize(
    "code",
    [
        "page(scope_source='operator')",
        "x = {'scope_confidence': 1.0}",
        "data['workspace_root'] = '/'",
        "dict(scope_source='operator')",
    ],
)
def test_the_sweep_sees_every_way_to_make_a_key(code: str) -> None:
    assert keys_made_in(ast.parse(code))
