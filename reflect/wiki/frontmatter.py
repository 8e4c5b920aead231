"""The YAML block at the head of a page: split off, read without guessing types, written so that no reader can guess.

YAML 1.1 reads `0192117`, `12e4567`, `83e2010`, `2026-04-07`, `no` and `1:30` as numbers, dates and truth values. Here
every scalar is read as the text that stands there, and what YAML could misread is written in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from reflect.errors import PageError

BOM = "\ufeff"

_LINE_END = r"(?:\r\n|\n|\r)"
_OPENING = re.compile(rf"(?:[ \t]*{_LINE_END})*---[ \t]*{_LINE_END}")
_CLOSING = re.compile(rf"(?:(?<=\n)|(?<=\r))---[ \t]*(?:{_LINE_END}|\Z)")
_KEY_LINE = re.compile(r"[ \t]*[A-Za-z_][\w-]*:(?:[ \t\r\n]|$)")
_SAFE_PLAIN = re.compile(r"[^\W\d](?:[\w ./()+-]*[\w)])?")
_MISREAD_WORDS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nil", "nan", "inf", "infinity"]
)
_SURROGATE = re.compile("[\ud800-\udfff]")

Written = str | bool | int | float | date | None


class Quoted(str):
    """Text that is written in double quotes whatever it looks like: ids."""


class Inline(list[Any]):
    """A list that is written on one line."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A file's text, cut. `head` is everything up to and with the opening fence, `tail` begins with the closing one.

    `head + yaml + tail` is the file, byte for byte; a file without frontmatter has an empty `head` and `yaml`.
    """

    head: str
    yaml: str
    tail: str
    body_start: int
    data: Mapping[str, Any] | None

    @property
    def body(self) -> str:
        return self.tail[self.body_start :]


def split(text: str, path: str) -> Parts:
    """Cut `text` into frontmatter and body.

    The block begins in the first line (a byte order mark and blank lines may stand before it); later `---` lines are
    rules of the body. Raises PageError, with the line, for a block that is meant as frontmatter and does not parse.
    """
    start = 1 if text.startswith(BOM) else 0
    opening = _OPENING.match(text, start)
    if opening is None:
        return Parts("", "", text, start, None)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        if _KEY_LINE.match(text, opening.end()):
            raise PageError(f"{path}:1: the frontmatter has no closing `---`; the page was left as it is.")
        return Parts("", "", text, start, None)
    block = text[opening.end() : closing.start()]
    data = _mapping_of(block, path, first_line=_count_lines(text[: opening.end()]) + 1)
    if data is None:
        return Parts("", "", text, start, None)
    return Parts(
        head=text[: opening.end()],
        yaml=block,
        tail=text[closing.start() :],
        body_start=closing.end() - closing.start(),
        data=data,
    )


def render(data: Mapping[str, Any]) -> str:
    """`data` as block YAML, keys in the order given, ending in a line feed. `Quoted` and `Inline` are obeyed."""
    return str(_HANDLER.export(dict(data))) + "\n" if data else ""


class TextLoader(yaml.CBaseLoader):
    """Reads every scalar as written; a key that stands twice is an error, because no one can say which one counts.

    Built here and not by yaml's own constructor, which looks up for each scalar what else it could be: that takes
    longer than parsing it.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        return _built(node, {})

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return ""


def _built(node: yaml.Node, known: dict[int, Any]) -> Any:
    """What `node` holds. `known` are the lists and mappings built so far, for those that an alias names again."""
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if id(node) in known:
        if known[id(node)] is None:
            raise yaml.constructor.ConstructorError(None, None, "it holds itself", node.start_mark)
        return known[id(node)]
    known[id(node)] = None
    built: Any = _sequence(node, known) if isinstance(node, yaml.SequenceNode) else _mapping(node, known)
    known[id(node)] = built
    return built


def _sequence(node: yaml.SequenceNode, known: dict[int, Any]) -> list[Any]:
    return [_built(item, known) for item in node.value]


def _mapping(node: yaml.Node, known: dict[int, Any]) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = _built(key_node, known)
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(None, None, "a key is no text", key_node.start_mark)
        if key in mapping:
            raise yaml.constructor.ConstructorError(None, None, "a key stands twice", node.start_mark)
        mapping[key] = _built(value_node, known)
    return mapping


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Handler(YAMLHandler):
    """python-frontmatter's YAML, with scalars as text and quotes where they are needed."""

    def load(self, fm: str, **kwargs: object) -> Any:
        return super().load(fm, **{"Loader": TextLoader, **kwargs})

    def export(self, metadata: dict[str, object], **kwargs: object) -> str:
        return str(super().export(metadata, Dumper=_Dumper, sort_keys=False, width=2**31, **kwargs))


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    plain = _SAFE_PLAIN.fullmatch(text) is not None and text.casefold() not in _MISREAD_WORDS
    style = None if plain and not isinstance(text, Quoted) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", _SURROGATE.sub("\ufffd", text), style=style)


def _represent_inline(dumper: yaml.SafeDumper, items: Inline) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Quoted, _represent_text)
_Dumper.add_representer(Inline, _represent_inline)
_HANDLER = _Handler()


def _mapping_of(block: str, path: str, first_line: int) -> Mapping[str, Any] | None:
    """The mapping that `block` holds; None where it holds prose between two rules and no frontmatter at all."""
    try:
        data = _HANDLER.load(block)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        reason = error.problem or error.context or "it does not parse"
        raise PageError(
            f"{path}:{line}: the frontmatter is not YAML ({reason}); the page was left as it is."
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise PageError(
            f"{path}:{first_line}: the frontmatter is not YAML ({reason}); the page was left as it is."
        ) from error
    if isinstance(data, dict):
        return data
    if isinstance(data, list):
        raise PageError(f"{path}:{first_line}: the frontmatter is a list, not keys; the page was left as it is.")
    return None if block.strip() else {}


def _count_lines(text: str) -> int:
    return len(re.findall(_LINE_END, text))
