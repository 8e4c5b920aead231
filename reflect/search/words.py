"""Words of a text as they are indexed, and of a question as they are looked for.

Both sides go through the same function, so whatever a person types, in any script and with any sign in it, is a list of
words and never syntax. Imports nothing slow: `reflect search` answers before anything heavy is loaded.
"""

from __future__ import annotations

import re
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_TERMS = 32
"""Terms of a question that are looked for; the rest of a pasted page says nothing more."""

_MARKS = "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc]+"
"""Accents, Hebrew points, Arabic vowels and the tatweel: written by some and left out by others."""

_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no space between words (and Hangul, which joins endings to them): each character is a word."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:(?<=[A-Za-z])(?:\+\+|#)(?!\w))?|[\U0001f000-\U0001faff\u2600-\u27bf]"
"""Compiled when it is first needed: that takes longer than a question in plain letters takes to be answered."""

_PLAIN_WORD = re.compile(r"[a-z0-9]+(?:(?<=[a-z])(?:\+\+|#)(?![a-z0-9_]))?")
_NAME = re.compile(r"[^\W\d]\w*")
_QUOTED = re.compile(r'"([^"]*)"|(\S+)')
_EDGES = ".,;:!?()[]{}<>«»“”„'`…。、！？"

_STOP_WORDS = frozenset(
    """a about am an and are as at be been but by can could did do does for from had has have he her his how i if in
    into is it its me my of on or our she should so some than that the their them then there these they this those to
    us was we were what when where which who whom whose why will with would you your""".split()
)


def words(text: str) -> list[str]:
    """The words of `text` in order: folded, `camelCase` and `snake_case` taken apart, `C++` and `C#` kept whole."""
    folded = fold(text if text.islower() else _CAMEL.sub(" ", text))
    return _PLAIN_WORD.findall(folded) if folded.isascii() else re.findall(_WORD, folded)


def names(text: str) -> list[str]:
    """Each identifier of several parts in `text` as one word: `retry_policy` and `RetryPolicy` are `retrypolicy`."""
    found = dict.fromkeys(name for name in _NAME.findall(text) if "_" in name or _CAMEL.search(name))
    return [joined for name in found if (joined := fold(name).replace("_", "")).isalnum()]


def fold(text: str) -> str:
    """`text` without what two writers of the same word do differently: case, width, accents, vowel points."""
    if text.isascii():
        return text.lower()
    plain = re.sub(_MARKS, "", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", plain).casefold()


def terms_of(question: str, *, phrase: bool = False) -> list[list[str]]:
    """What is looked for: each term the words that must stand side by side.

    The whole question where `phrase`; else what stands in double quotes and, outside of it, each piece between spaces
    (`src/a.py` is one term of three words). Words that say nothing are dropped where others are left.
    """
    if phrase:
        whole = words(question)
        return [whole] if whole else []
    pieces = [match[1] if match[1] is not None else match[2].strip(_EDGES) for match in _QUOTED.finditer(question)]
    found = list(dict.fromkeys(tuple(words(piece)) for piece in pieces))
    telling = [term for term in found if term and not (len(term) == 1 and term[0] in _STOP_WORDS)]
    return [list(term) for term in (telling or [term for term in found if term])[:MAX_TERMS]]


def expression(terms: Iterable[Iterable[str]]) -> str:
    """The FTS5 expression for any of `terms`. Every word is quoted and holds no quote, so it is text to FTS5."""
    return " OR ".join(_alternatives(list(term)) for term in terms)


def _alternatives(term: list[str]) -> str:
    together = '"' + " ".join(term) + '"'
    joined = "".join(term)
    return f'({together} OR "{joined}")' if 1 < len(term) <= 5 and joined.isascii() and joined.isalnum() else together
