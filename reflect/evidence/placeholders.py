"""What stands where a secret would stand without being one: masks, variables, types, words of documentation."""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(
    r"""
      [*x.:•…_\-#?0]+                                            # a mask
    | <.* | \{.* | \[.*\]? | \(.* | [$%@&].* | \.\.\..* | .*\[REDACTED.*
    | (?:your|my|our|fake|dummy|example|sample|mock|insert|enter|replace|change)(?:[-_ ]?me|[-_ ].*)?
    | (?:your|my|example|dummy|fake|sample|change)[-_]?(?:password|secret|token|api[-_]?key|key|value)?
    | test[-_](?:token|key|secret|password|value)
    | (?:re)?placeholder | redacted | masked | hidden | removed | censored
    | none | null | nil | undefined | true | false | yes | no | on | off | nan
    | required | optional | missing | invalid | incorrect | wrong | empty | unset | expired | inherit | default
    | str | string | text | bytes? | int(?:eger)? | bool(?:ean)? | number | any | object | varchar | char | type
    | input | field | header | env | hash(?:ed)? | prompt | literal | identifier | symbol | value | auto | ask
    | pass(?:word|wd|phrase)? | p(?:wd|w) | secret | token | api[-_]?key | key | credentials? | user(?:name)? | tiger
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def is_placeholder(value: str) -> bool:
    """Whether `value` names a secret or stands for one instead of being one."""
    return _PLACEHOLDER.fullmatch(value) is not None
