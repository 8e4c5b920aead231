"""Reading source: every place that makes scope keys, or writes a page, a record or a file.

A place is a function in a file. What is looked for counts wherever it is used, under whatever name it was imported:
called, handed on or given another name; not where it only stands in an annotation or beside `isinstance`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("reflect", "tasks", "flows", "expectations")

KEYS = frozenset({"scope", "workspace_root", "scope_confidence", "scope_source"})
"""The scope keys but `project_id`, which names projects everywhere and alone says nothing of who may see a row."""

TABLES = frozenset({"reflexions", "review_items"})

KEY, FILE = "a scope key", "a file"
"""What is found without a name: a value given to a scope key, and something written below no landing."""

Use = tuple[str, str]
"""What is used, and where."""

_LINE_OF_A_PAGE = re.compile(
    r'^(?:scope: ?(?:project|global|"?$)|(?:workspace_root|scope_confidence|scope_source):)', re.MULTILINE
)
_CHANGES_ROWS = frozenset({"insert", "update", "delete", "keep_known", "_add"})
_SQL = re.compile(r"\b(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|update|delete\s+from)\s+(\w+)", re.IGNORECASE)
_WRITES_FILES = frozenset(
    "write_text write_bytes write_durably write_new symlink_to hardlink_to rename renames copyfile copy2 copytree "
    "mkstemp NamedTemporaryFile".split()
)
_MOVES_FILES = frozenset({"os.link", "os.symlink", "os.replace", "shutil.move", "shutil.copy"})
_WRITING = re.compile(r"[rbt]*[wax+][bt+]*")


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the product by its path."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def uses(file: str, tree: ast.Module, wanted: Iterable[str]) -> set[Use]:
    """What of `wanted` (dotted names) `tree` uses, and the scope keys, rows and files that it makes by itself."""
    names, known = frozenset(wanted), _known(file, tree)
    found: set[Use] = set()
    for node, function in _run(tree.body):
        place = f"{file}::{function}"
        if (name := _dotted(node, known)) in names:
            found.add((name, place))
        if _gives_a_key(node):
            found.add((KEY, place))
        if _writes_a_file(node, known):
            found.add((FILE, file))
        found |= {(f"the table {table}", place) for table in _tables_changed(node, known)}
    return found


def _known(file: str, tree: ast.Module) -> dict[str, str]:
    """The dotted name of what each name stands for: imported, given a second name, or defined here."""
    module = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            known |= {one.asname: one.name for one in node.names if one.asname is not None}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            known[node.name] = f"{module}.{node.name}"
    return known


def _run(body: Iterable[ast.AST], function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Every node that is run, with the function it stands in."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{function}.{node.name}".strip(".")
            stated = node.bases if isinstance(node, ast.ClassDef) else [*node.args.defaults, *node.args.kw_defaults]
            yield from _run([*node.decorator_list, *(one for one in stated if one is not None)], inside)
            yield from _run(node.body, inside)
            continue
        yield node, function
        said = _only_said(node)
        yield from _run((one for one in ast.iter_child_nodes(node) if one not in said), function)


def _only_said(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that name a type and use nothing."""
    if isinstance(node, ast.AnnAssign):
        return [node.annotation]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        return list(node.args[1:])
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
        return [node.value]  # a name for a type
    return []


def _dotted(node: ast.AST, known: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, known)}.{node.attr}"
    return known.get(node.id, node.id) if isinstance(node, ast.Name) else ""


def _last(node: ast.AST, known: dict[str, str]) -> str:
    return _dotted(node, known).rpartition(".")[2]


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _gives_a_key(node: ast.AST) -> bool:
    """As a keyword, in a dict or a pair, by an assignment, or as a line of a page."""
    if isinstance(node, ast.keyword):
        return node.arg in KEYS
    if isinstance(node, ast.Dict):
        return any(_text(key) in KEYS for key in node.keys)
    if isinstance(node, ast.Tuple):
        return len(node.elts) == 2 and _text(node.elts[0]) in KEYS and _text(node.elts[1]) not in KEYS
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and _text(node.slice) in KEYS
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Store) and node.attr in KEYS
    if isinstance(node, ast.Call):
        return _last(node.func, {}) in ("setattr", "__setattr__") and any(_text(one) in KEYS for one in node.args)
    return _LINE_OF_A_PAGE.search(_text(node)) is not None


def _tables_changed(node: ast.AST, known: dict[str, str]) -> set[str]:
    if isinstance(node, ast.Call) and _last(node.func, known) in _CHANGES_ROWS:
        return {_last(one, known) for one in node.args} & TABLES
    return {table.lower() for table in _SQL.findall(_text(node))} & TABLES


def _writes_a_file(node: ast.AST, known: dict[str, str]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name, last = _dotted(node.func, known), _last(node.func, known)
    if last in ("open", "fdopen"):
        modes = (*node.args[:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode"))
        return any(_WRITING.fullmatch(_text(one)) for one in modes)
    moved = isinstance(node.func, ast.Attribute) and last == "replace" and len(node.args) == 1 and not node.keywords
    return last in _WRITES_FILES or name in _MOVES_FILES or moved  # a text's `replace` takes two
