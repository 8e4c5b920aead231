"""Text on one line: how quotes are compared, wherever they are looked for."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def fold(text: str) -> str:
    """`text` on one line, white space folded, without characters that no reader shows."""
    if not text.isprintable():
        text = _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))
    return " ".join(text.split())
