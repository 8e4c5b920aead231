"""Which of several statements on one subject still stands: the newest one that contradicts the others.

A heuristic that only ever orders: an older statement that was replaced loses the headline, it is not thrown away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from reflect.model import Finding
from reflect.triage.words import straight, terms

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
_SAYS_WHAT = re.compile(
    r"^(?P<subject>.{3,80}?)\b(?:(?:should|must|shall|has to|have to|needs? to|will)(?: now| not| never| always)* be"
    r"|is|are|stays?|becomes?)(?: now| not| never| always)*\s+(?P<value>.+)$"
)
_USES_WHAT = re.compile(
    r"\b(?:use|using|with|keep|run|store[sd]?)\s+(?P<value>\S+)\s+(?:for|as|in|to)\s+(?P<subject>.+)$"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ALIKE = 0.6
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


def contradicts(newer: Finding, older: Finding) -> bool:
    """Whether `newer` replaces, negates or restates with another value what `older` says."""
    new, old = _claim(newer.quote), _claim(older.quote)
    if new == old or newer.quote == older.quote:
        return False
    if _takes_away(new, old) or _takes_away(_claim(newer.headline), old):
        return True
    if new.subject and new.subject == old.subject and _differs(new.value, old.value):
        return True
    alike = _likeness(new.terms, old.terms)
    if new.negated != old.negated and alike >= _ALIKE:
        return True
    return bool(new.numbers and old.numbers and new.numbers != old.numbers and alike >= _ALIKE)


def superseded(findings: Sequence[Finding]) -> frozenset[str]:
    """The ids of those `findings` that a later one contradicts."""
    ordered = sorted(findings, key=lambda finding: (finding.said_at, finding.evidence_id, finding.position))
    return frozenset(
        older.id
        for number, older in enumerate(ordered)
        if any(
            newer.evidence_id != older.evidence_id or newer.said_at > older.said_at
            for newer in ordered[number + 1 :]
            if contradicts(newer, older)
        )
    )


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


@lru_cache(maxsize=8192)
def _claim(text: str) -> _Claim:
    lowered = straight(text).lower()
    gone = _GONE.search(lowered)
    said = _SAYS_WHAT.match(lowered) or _USES_WHAT.search(lowered)
    return _Claim(
        terms=frozenset(term for term in terms(lowered) if not term.isdigit()),
        gone=frozenset(terms(gone.group("what"))) if gone else frozenset(),
        negated=_NEGATION.search(lowered) is not None,
        numbers=frozenset(_NUMBER.findall(lowered)),
        subject=frozenset(terms(said.group("subject"))) if said else frozenset(),
        value=frozenset(terms(said.group("value"))) if said else frozenset(),
    )
