"""Short forms of a statement for titles: its own words, cut at a clause, never other words."""

from __future__ import annotations

import re

LONGEST = 80
_SHORTEST_CLAUSE = 24

_CONVENTIONAL = re.compile(r"^(?:[a-z]{2,12}(?:\([^)]{0,40}\))?!?|release|revert): +", re.IGNORECASE)
_PULL_REQUEST = re.compile(r"\s*\((?:#|gh-)\d+\)\s*$", re.IGNORECASE)
_VERSION = re.compile(r"^v?\d+(?:\.\d+)+\s*[-—–:]+\s*(?=\S)")
_LEAD_IN = re.compile(
    r"^(?:(?:no(?! longer\b| more\b| one\b)|nope|yes|yeah|ok(?:ay)?|so(?! that\b)|also|and|but|well|actually|please|pls"
    r"|right|now|then|hm+|oh|hey|btw|by the way|basically|honestly|i think(?: that)?|i guess|i believe|i mean|i feel"
    r"|you know|if you think about it|the thing is|to be honest|rest|one(?: more)? thing|just one thing"
    r"|just(?! because\b))\b"
    r"[,.:;!\s-]*)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:\s+[-—–]+\s+|;\s|:\s|,\s(?!(?:but|except|unless|only|if|when|until|not?|never|without|and|or)\b)"
    r"|\s(?:because|so that|since|which|causing)\s|\s\()"
)
_FILLER = re.compile(
    r"(?<!\bnot)(?<!n't)(?<!\bif)\s(?:just|basically|actually|simply|really|somehow|kind of|sort of|you know,?|i guess)"
    r"(?=\s)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(?:if|when(?:ever)?|unless|until|before|after|for|in|on|with|while|as|since|because|once|like)\b", re.I
)
_SPOKEN = 60
"""A spoken sentence longer than this is cut at a clause where one ends in time."""
_NESTED_REVERT = re.compile(r'^reverts?:?\s+"?(.+?)"?$', re.IGNORECASE)
_DANGLING = re.compile(
    r"(?:\s+(?:a|an|the|to|of|for|and|or|in|on|with|that|is|are|as|by|from|so|be|it|this|if|when))+$", re.I
)


def bare_subject(subject: str) -> str:
    """A commit's subject without its conventional prefix and pull request number: a part of it, word for word."""
    return _PULL_REQUEST.sub("", _CONVENTIONAL.sub("", " ".join(subject.split())))


def of_subject(subject: str) -> str:
    """A commit's subject as a title."""
    return shortened(_VERSION.sub("", bare_subject(subject)))


def of_reverted(subject: str) -> str:
    """A title for the revert of the commit with a bare `subject`; a revert of a revert brings the first one back."""
    undone = True
    while (nested := _NESTED_REVERT.match(subject)) is not None:
        subject, undone = bare_subject(nested.group(1)), not undone
    ending = " was reverted" if undone else " was brought back"
    return f'"{shortened(subject.replace(chr(34), ""), LONGEST - len(ending) - 2)}"{ending}'


def of_sentence(sentence: str) -> str:
    """The first clauses of a sentence, without the words people begin to speak with."""
    bare = _LEAD_IN.sub("", sentence.strip())
    plain = _FILLER.sub("", bare if len(bare) >= 8 else sentence)
    return shortened(_first_clauses(plain))


def _first_clauses(sentence: str) -> str:
    """As many clauses of a long sentence as make a short title; all of one that begins with its condition."""
    line = " ".join(sentence.split())
    if len(line) <= _SPOKEN or _CONDITION.match(line):
        return line
    ends = [clause.start() for clause in _CLAUSE.finditer(line) if _SHORTEST_CLAUSE <= clause.start() <= _SPOKEN]
    return _without_open_bracket(line[: ends[-1]]) if ends else line


def _without_open_bracket(text: str) -> str:
    """`text` without a bracket that a cut left open."""
    opened = text.rfind("(")
    return text[:opened].rstrip() if opened >= _SHORTEST_CLAUSE and ")" not in text[opened:] else text


def shortened(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, its first letter upper case, cut at the last clause or word that fits."""
    line = " ".join(text.split()).rstrip(" .;:,!")
    if len(line) > longest:
        ends = [clause.start() for clause in _CLAUSE.finditer(line) if _SHORTEST_CLAUSE <= clause.start() <= longest]
        cut = line[: ends[-1]] if ends else line[: longest + 1].rsplit(" ", 1)[0]
        line = _DANGLING.sub("", _without_open_bracket(cut[:longest])).rstrip(" .;:,!(-—–") + ("" if ends else " …")
    if line[:1].islower() and not _is_name(line.split(" ", 1)[0]):
        line = line[0].upper() + line[1:]
    return line


def _is_name(word: str) -> bool:
    return any(mark in word for mark in "_./`-()=") or any(letter.isupper() for letter in word[1:])
