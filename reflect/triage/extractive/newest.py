"""Which of several statements on one subject still stands: the newest one that contradicts the others.

A heuristic that only ever orders: an older statement that was replaced loses the headline, it is not thrown away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from reflect.model import Finding, PageSummary
from reflect.triage.words import stem, straight, terms

_GONE = re.compile(
    r"""\b(?:
        no\ longer|not\ .{1,30}?\bany\ ?more|instead\ of|rather\ than|away\ from|in\ place\ of|supersed(?:es?|ed|ing)
        |replac(?:es?|ed|ing)|(?:switch|chang|mov|migrat)(?:e|ed|es|ing)\ (?:\S+\ ){0,6}?from|stop(?:ped|s)?(?=\ \w+ing)
        |remov(?:e|ed|es|ing)|drop(?:ped|s|ping)?|delet(?:e|ed|es|ing)|disabl(?:e|ed|es|ing)|retir(?:e|ed|es|ing)
        |abandon(?:ed|s|ing)?|(?:get|got)\ rid\ of|deprecat(?:e|ed|es|ing)
    )\s+(?P<what>(?:[^\s,;:]+\s*){1,6})""",
    re.VERBOSE,
)
_NEGATION = re.compile(r"\b(?:not|never|no|don't|dont|doesn't|won't|isn't|aren't|shouldn't|cannot|can't|mustn't)\b")
_CLAUSE_END = r"(?=[,;]|\s+(?:instead|rather|because|since|so|but|although|while)\b|$)"
_SAYS_WHAT = re.compile(
    r"^(?P<subject>.{3,80}?)\b(?:(?:should|must|shall|has to|have to|needs? to|will)(?: now| not| never| always)* be"
    r"|is|are|stays?|becomes?)(?: now| not| never| always)*\s+(?P<value>.+?)"
    rf"{_CLAUSE_END}"
)
_USES_WHAT = re.compile(
    r"\b(?:use|using|with|keep|run|store[sd]?)\s+(?P<value>\S+)\s+(?:for|as|in|to)\s+(?P<subject>.+?)"
    rf"{_CLAUSE_END}"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COUNTED = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
_NUMERALS = {word: str(number) for number, word in enumerate(_COUNTED, start=1)} | {
    "twenty": "20",
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "hundred": "100",
}
_UNITS = {"s": "second", "sec": "second", "secs": "second", "min": "minut", "mins": "minut", "h": "hour", "hrs": "hour"}
_AMOUNT = re.compile(rf"\b(?P<number>\d+(?:[.,]\d+)*|{'|'.join(_NUMERALS)})[ -]?(?P<unit>[a-z%]+)")
_CHANGES = re.compile(
    r"""\bto\ \d|\bnow\b|\bfrom\b.{1,40}\bto\b|\binstead\b|\bno\ longer\b|\bnot\ enough\b
    |\btoo\ (?:short|long|low|high|small|large|few|many|strict|tight|slow|fast)\b
    |\b(?:rais|lower|increas|reduc|decreas|doubl|halv|extend|shorten|bump|cut|chang|rather)\w*\b""",
    re.VERBOSE,
)
_ORDERS = frozenset(terms("always never please"))
"""How a rule is put, not what it is about."""
_QUOTED = re.compile(r"^ {0,3}>[ \t]?(?P<text>.*?)[ \t]*\((?:checkpoint|commit) [^()]*\)[ \t]*$", re.MULTILINE)
_ALIKE = 0.6
_FEWEST_SHARED = 2
_VALUE_SHARE = 0.5
_LONGEST_VALUE = 2
_FEWEST_GONE = 2
_GONE_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class _Claim:
    terms: frozenset[str]
    gone: frozenset[str]
    negated: bool
    numbers: frozenset[str]
    subject: frozenset[str]
    value: frozenset[str]
    amounts: tuple[tuple[str, str], ...]
    changes: bool


def contradicts(newer: Finding, older: Finding) -> bool:
    """Whether `newer` replaces, negates or restates with another value what `older` says."""
    return _replaces(newer, older.quote)


def replaced_on(page: PageSummary, newer: Finding) -> str | None:
    """The first statement of `page` that `newer` replaces: its title, its lead or a quote; None where all still stand.

    What is older than the page replaces nothing on it.
    """
    if page.updated is not None and newer.said_at.date() < page.updated:
        return None
    said = [page.title, page.lead, *(match.group("text") for match in _QUOTED.finditer(page.body))]
    return next((text for text in dict.fromkeys(said) if text and _replaces(newer, text)), None)


def _replaces(newer: Finding, older: str) -> bool:
    new, old = _claim(newer.quote), _claim(older)
    if new == old or newer.quote == older:
        return False
    if _takes_away(new, old) or _takes_away(_claim(newer.headline), old):
        return True
    if _changes_value(new, old, _claim(newer.headline)):
        return True
    if new.subject and new.subject == old.subject and _differs(new.value, old.value):
        return True
    alike = _likeness(new.terms, old.terms)
    if new.negated != old.negated and alike >= _ALIKE:
        return True
    return bool(new.numbers and old.numbers and new.numbers != old.numbers and alike >= _ALIKE)


def superseded(findings: Sequence[Finding]) -> frozenset[str]:
    """The ids of those `findings` that a later one contradicts; a commit never does so to the session it came from."""
    ordered = sorted(findings, key=lambda finding: (finding.said_at, finding.evidence_id, finding.position))
    return frozenset(
        older.id
        for number, older in enumerate(ordered)
        if any(
            newer.evidence_id != older.evidence_id or newer.said_at > older.said_at
            for newer in ordered[number + 1 :]
            if older.source.id not in newer.checkpoints and contradicts(newer, older)
        )
    )


def _changes_value(new: _Claim, old: _Claim, headline: _Claim) -> bool:
    """Whether the newer statement says of the same thing that a quantity in the same unit is another one now."""
    if not (new.changes or headline.changes):
        return False
    said = {*new.amounts, *headline.amounts}
    units = {unit for _, unit in said} & {unit for _, unit in old.amounts}
    if not any(unit in units and (number, unit) not in old.amounts for number, unit in said):
        return False
    shared = ((new.terms | headline.terms) & old.terms) - units
    return len(shared) >= _FEWEST_SHARED and len(shared) >= _VALUE_SHARE * len(old.terms - units)


def _takes_away(new: _Claim, old: _Claim) -> bool:
    """Whether what the newer statement does away with is what the older one is about."""
    if len(new.gone) < _FEWEST_GONE or old.negated or old.gone & new.gone:
        return False
    return len(new.gone & old.terms) >= max(_FEWEST_GONE, _GONE_SHARE * len(new.gone))


def _differs(new: frozenset[str], old: frozenset[str]) -> bool:
    """Whether two values exclude each other: both short, nothing in common."""
    return all(1 <= len(value) <= _LONGEST_VALUE for value in (new, old)) and not new & old


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _amounts(lowered: str) -> Iterator[tuple[str, str]]:
    """Each number of a text with the word behind it; numbers in words count as their digits."""
    for match in _AMOUNT.finditer(lowered):
        number, unit = match.group("number"), match.group("unit")
        yield _NUMERALS.get(number, number), _UNITS.get(unit, stem(unit))


@lru_cache(maxsize=8192)
def _claim(text: str) -> _Claim:
    lowered = straight(text).lower()
    gone = _GONE.search(lowered)
    said = _SAYS_WHAT.match(lowered) or _USES_WHAT.search(lowered)
    return _Claim(
        terms=frozenset(term for term in terms(lowered) if not (term.isdigit() or term in _ORDERS)),
        gone=frozenset(terms(gone.group("what"))) if gone else frozenset(),
        negated=_NEGATION.search(lowered) is not None,
        numbers=frozenset(_NUMBER.findall(lowered)),
        subject=frozenset(terms(said.group("subject"))) if said else frozenset(),
        value=frozenset(terms(said.group("value"))) if said else frozenset(),
        amounts=tuple(dict.fromkeys(_amounts(lowered))),
        changes=_CHANGES.search(lowered) is not None,
    )
