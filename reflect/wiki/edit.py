"""Changes inside an existing frontmatter block that leave every other character where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from reflect.wiki.frontmatter import Inline, Written, render

_ITEM = re.compile(r"[ \t]*-[ \t]")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One top-level key: where its name begins and ends, and its value."""

    key: str
    start: int
    key_end: int
    value: yaml.Node

    @property
    def end(self) -> int:
        return max(_end_of(self.value), self.key_end)


class FrontmatterEdit:
    """A frontmatter block being changed. `text` is what stands there now; line ends are `newline`."""

    def __init__(self, text: str, newline: str, order: Sequence[str] = ()) -> None:
        self.text = text
        self._newline = newline
        self._order = tuple(order)
        if self._is_one_line_mapping():
            self._spread_out()

    def set(self, key: str, value: Written) -> None:
        """Give `key` a plain value; a comment behind the old one stays."""
        entry = self._entry(key)
        if entry is None:
            self._add(key, value)
        elif isinstance(entry.value, yaml.ScalarNode) and entry.value.style in (None, "", "'", '"'):
            start, end = entry.value.start_mark.index, entry.value.end_mark.index
            gap = "" if start > entry.key_end + 1 else " "
            self.text = self.text[:start] + gap + self._rendered(key, value)[1].strip() + self.text[end:]
        else:
            self._replace(entry, value)

    def set_list(self, key: str, items: Sequence[Any]) -> None:
        """Make `items` the whole list of `key`."""
        entry = self._entry(key)
        if entry is None:
            self._add(key, items)
        else:
            self._replace(entry, items)

    def extend(self, key: str, items: Sequence[Any], read: Callable[[], Sequence[Any]]) -> None:
        """Add `items` to the list of `key`: below its last line where it is written line by line, else by writing the
        list anew from what `read` says stands there."""
        entry = self._entry(key)
        place = self._below_last_item(entry) if entry is not None else None
        if place is None:
            self.set_list(key, type(items)([*read(), *items]) if isinstance(items, Inline) else [*read(), *items])
            return
        position, indent = place
        lines = self._rendered(key, list(items))[1].strip("\r\n")
        added = "".join(f"{indent}{line[2:]}{self._newline}" for line in _LINE_END.split(lines))
        self._insert_line(position, added)

    def remove(self, key: str) -> None:
        entry = self._entry(key)
        if entry is not None:
            self.text = self.text[: entry.start] + self.text[self._next_line(entry.end) :]

    def _entries(self) -> list[_Entry]:
        root = yaml.compose(self.text, Loader=yaml.CBaseLoader)
        if not isinstance(root, yaml.MappingNode):
            return []
        return [
            _Entry(key.value, key.start_mark.index, key.end_mark.index, value)
            for key, value in root.value
            if isinstance(key, yaml.ScalarNode)
        ]

    def _entry(self, key: str) -> _Entry | None:
        return next((entry for entry in self._entries() if entry.key == key), None)

    def _is_one_line_mapping(self) -> bool:
        root = yaml.compose(self.text, Loader=yaml.CBaseLoader)
        return isinstance(root, yaml.MappingNode) and bool(root.flow_style)

    def _spread_out(self) -> None:
        data = yaml.load(self.text, Loader=yaml.CBaseLoader)
        self.text = self._with_newlines(render(data))

    def _replace(self, entry: _Entry, value: Any) -> None:
        end = entry.end
        closing = self._newline if self.text[:end].endswith(("\n", "\r")) else ""
        body = "".join(self._rendered(entry.key, value)).rstrip("\r\n")
        self.text = self.text[: entry.start] + body + closing + self.text[end:]

    def _add(self, key: str, value: Any) -> None:
        """A new key goes behind the nearest one that comes before it in `order`, else to the end."""
        position = len(self.text)
        if key in self._order:
            before = self._order[: self._order.index(key)]
            placed = [entry for entry in self._entries() if entry.key in before]
            position = self._next_line(placed[-1].end) if placed else 0
        self._insert_line(position, "".join(self._rendered(key, value)))

    def _insert_line(self, position: int, lines: str) -> None:
        head = self.text[:position]
        if head and not head.endswith(("\n", "\r")):
            head += self._newline
        self.text = head + lines + self.text[position:]

    def _below_last_item(self, entry: _Entry | None) -> tuple[int, str] | None:
        """Where a further item goes and how far it is indented; None where items are not written one per line."""
        if entry is None or not isinstance(entry.value, yaml.SequenceNode):
            return None
        if entry.value.flow_style or not entry.value.value:
            return None
        last = entry.value.value[-1]
        line_start = max(self.text.rfind(end, 0, last.start_mark.index) for end in ("\n", "\r")) + 1
        item = _ITEM.match(self.text, line_start)
        if item is None:
            return None
        indent = item.group()[: item.group().index("-")]
        return self._next_line(_end_of(last)), indent

    def _next_line(self, position: int) -> int:
        if position > 0 and self.text[position - 1] in "\r\n":
            return position
        found = _LINE_END.search(self.text, position)
        return found.end() if found else len(self.text)

    def _rendered(self, key: str, value: Any) -> tuple[str, str]:
        written = self._with_newlines(render({key: value}))
        cut = written.index(":", len(key)) + 1
        return written[:cut], written[cut:]

    def _with_newlines(self, text: str) -> str:
        return text.replace("\n", self._newline)


def _end_of(node: yaml.Node) -> int:
    """Where the text of `node` ends; YAML's own mark of a block collection lies lines further down."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
