"""The one edge where text becomes storable: NUL and lone surrogates are escaped going in and restored coming out.

PostgreSQL refuses a NUL in text, and neither database nor UTF-8 can hold half a surrogate pair; transcripts hold both.
"""

from __future__ import annotations

import json
import re
from typing import TypeVar

from pydantic import BaseModel
from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_V = TypeVar("_V", bound=BaseModel)

_MARK = "\x1a"
_UNSTORABLE = re.compile(r"[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile(r"\x1a([0-9a-f]{4})")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` in a form any database and UTF-8 can hold; the same text where nothing had to be escaped."""
    return _UNSTORABLE.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    """The text that `storable` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _MARK in text else text


def dump(value: BaseModel) -> str:
    """`value` as storable JSON."""
    return storable(json.dumps(value.model_dump(mode="json"), ensure_ascii=False, sort_keys=True))


def load(kind: type[_V], text: str) -> _V:
    """The value that `dump` was given."""
    raw = restored(text)
    if _SURROGATE.search(raw):  # pydantic's own reader takes UTF-8 alone
        return kind.model_validate(json.loads(raw))
    return kind.model_validate_json(raw)


class SafeText(TypeDecorator[str]):
    """Text of any characters, compared by equality; the order of escaped texts is not theirs."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else restored(value)
