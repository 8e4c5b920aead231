"""Words of a text, for comparing texts of any script. Nothing here ever touches a quote that is written down."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_STRAIGHT = tuple(
    {"’": "'", "‘": "'", "‛": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "\u00a0": " "}.items()
)

_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")

_STOP = """
a about above after again all already also although am an and another any anyway are as at be because been before being
below between both but by can cannot could did do does doing done down during each either else even ever every few for
from further get gets getting go goes going gone got had has have having he her here hers him his how i if in into is it
its itself just let like made make makes many may me might more most much must my need needs neither no nor not now of
off on once one only onto or other our ours out over own per please really same see seen shall she should since so some
something still such than that the their theirs them then there these they thing things this those through thus to too
under until up upon us use used uses using very via want wants was way we well were what when where whether which while
who whom whose why will with within without would yes yet you your yours
don't doesn't didn't can't couldn't won't wouldn't isn't aren't wasn't weren't hasn't haven't shouldn't it's that's
there's we're we've we'll i'm i've i'll i'd they're you're let's what's dont doesnt didnt cant wont isnt im ive
"""

STOP_WORDS = frozenset(_STOP.split())
"""Words that say nothing about the topic of a text."""

_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ied", "ies", "ers", "ed", "er", "es", "ly", "s")


def straight(text: str) -> str:
    """`text` with straight quotes and plain hyphens, for matching: the curly ones hide every n't."""
    if not text.isascii():
        for curly, plain in _STRAIGHT:
            text = text.replace(curly, plain)
    return text


def folded(text: str) -> str:
    """The letters and digits of `text`, lower case, one space between words: equal for two renderings of a sentence."""
    return " ".join(_WORD.findall(straight(unicodedata.normalize("NFC", text)).casefold()))


def terms(text: str) -> list[str]:
    """The topical words of `text`, stemmed, in order and with repetitions; names in code are split into their words.

    Scripts without spaces give pairs of characters.
    """
    found: list[str] = []
    for word in _WORD.findall(_HUMP.sub(" ", straight(text))):
        if not word.isascii() and _SPACELESS.search(word):
            found.extend(word[at : at + 2] for at in range(max(1, len(word) - 1)))
            continue
        lowered = word.casefold()
        if lowered not in STOP_WORDS and (len(lowered) > 1 or lowered.isdigit()):
            found.append(stem(lowered.removesuffix("'s")))
    return found


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A crude English stem: enough to let `collections` meet `collection` and `installed` meet `install`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            base = word[: -len(ending)]
            if ending in ("ies", "ied"):
                return base + "i"
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            return base[:-1] if base.endswith("e") and len(base) > 3 else base
    if word.endswith("y") and len(word) > 3:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
