"""`reflect search` without the command line's own machinery, for an index that is up to date."""

from __future__ import annotations

import gc
import re
from pathlib import Path

from reflect.search.answer import Query
from reflect.search.quick import answer_at_once
from reflect.search.show import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NUMBER = re.compile(r"[0-9]{1,6}")
_SWITCHES = {"--phrase": "phrase", "--wiki-only": "wiki_only", "--explain": "explain"}


def answered_at_once(arguments: list[str]) -> bool:
    """Whether these arguments of `reflect search` could be answered at once, and have been.

    Anything it does not know (`--help`, a misspelt option, a number that is none) is left to the full command.
    """
    where, as_json, query = Path.cwd(), False, Query("")
    switched: dict[str, Any] = {}
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            words += rest
        elif argument in _SWITCHES:
            switched[_SWITCHES[argument]] = True
        elif argument == "--json":
            as_json = True
        elif argument == "--repo" and (value := next(rest, None)):
            where = Path(value)
        elif argument == "--backend" and (value := next(rest, None)) in ("auto", "text"):
            query = query._replace(backend=value)
        elif argument == "--limit" and _NUMBER.fullmatch(number := next(rest, "")):
            query = query._replace(limit=int(number))
        elif argument.startswith("-"):
            return False
        else:
            words.append(argument)
    query = query._replace(text=" ".join(words), **switched)
    gc.disable()  # thousands of small values and then the end: looking for cycles among them costs a tenth of it all
    answer = answer_at_once(query, where)
    gc.enable()
    if answer is None:
        return False
    show(answer, explain=query.explain, as_json=as_json)
    return True
