"""Private keys in their armour, over many lines, whole or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reflect.evidence.secret_shapes import Hit

_KEY_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BREAK = r"(?:\s|\\+[nrt]|[\"'`,+>|#*])"
_BODY_LINE = rf"{_BREAK}{{1,40}}(?:[A-Z][A-Za-z-]+: [^\n\\]{{1,120}}|[A-Za-z0-9+/=]{{16,}})"
_LAST_LINE = rf"{_BREAK}{{1,40}}(?=[A-Za-z0-9+/=]*[0-9+/=])[A-Za-z0-9+/]+={{0,2}}(?=\s*(?:$|\n|\\n|[\"'`]))"
_BODY = re.compile(rf"(?:{_BODY_LINE})*(?:{_LAST_LINE})?")
_LINE_BEFORE = re.compile(rf"(?:(?<=\\)[nrt])?(?P<line>[A-Za-z0-9+/]+={{0,2}}){_BREAK}{{1,40}}$")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{16}")
_LONGEST_BLOCK = 32_768


def key_blocks(text: str) -> Iterator[Hit]:
    """Private keys in PEM or PGP armour: over many lines, with escaped line ends, with either end cut off.

    The two marker lines without a key between them are how code and prose speak of keys.
    """
    covered = 0
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() >= covered:
            covered = _end_of_block(text, begin.end())
            if covered > begin.end():
                yield Hit(begin.start(), covered, "pem")
    for end in _KEY_END.finditer(text):
        if not _is_closed(text, end.start()):
            start = _beginning_of_body(text, end.start())
            if start < end.start():
                yield Hit(start, end.end(), "pem")


def _end_of_block(text: str, begin: int) -> int:
    """Where the key ends whose first line ends at `begin`; `begin` itself where no key follows."""
    end = _KEY_END.search(text, begin, begin + _LONGEST_BLOCK)
    if end is not None and _KEY_BEGIN.search(text, begin, end.start()) is None:
        return end.end() if _ENCODED.search(text, begin, end.start()) else begin
    body = _BODY.match(text, begin)
    return body.end() if body else begin


def _is_closed(text: str, end: int) -> bool:
    """Whether the block that ends at `end` has its beginning."""
    begin = text.rfind("-----BEGIN ", max(0, end - _LONGEST_BLOCK), end)
    return begin >= 0 and text.find("-----END ", begin, end) < 0


def _beginning_of_body(text: str, end: int) -> int:
    start = end
    while True:
        window = text[max(0, start - 200) : start]
        line = _LINE_BEFORE.search(window)
        if line is None or (start != end and len(line["line"]) < 16):
            return start
        start -= len(window) - line.start("line")
