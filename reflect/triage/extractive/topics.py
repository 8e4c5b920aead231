"""Findings that belong on one page: said in one breath, below one commit subject, or about the same names and words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reflect.model import EvidenceKind, Finding, evidence_kind
from reflect.triage.extractive.newest import contradicts, superseded
from reflect.triage.words import terms

LARGEST = 10
"""Statements on one topic; a page of more is a list nobody reads."""

_NEIGHBOUR_TURNS = 12
_NEIGHBOUR_LIKENESS = 0.4
"""Of the likeness asked for elsewhere: what two turns of one session that follow each other need to be one topic."""

_FEWEST_GROUPS = 60
"""A word that stands in two of three statements of a quiet night is still a rare word."""

_TELLING_DIGITS = 3
"""Digits of a number that tells one topic from another: a status code does, a count does not."""

_LOOSE_LINK_NEEDS = 0.4
_LINK_NEEDS = 0.3
"""Of the likeness asked for elsewhere: what a session and a commit that names its checkpoint need to be one topic.

A squash names several checkpoints, so that the link says less."""

_REVERT_NEEDS = 1.5
"""A revert tells what went wrong with one change; what was done instead belongs there only if nearly the same."""

_INSIDE = 0.7
_FEWEST_INSIDE = 3


@dataclass(eq=False)
class Topic:
    """Findings about one thing. The first is the strongest that still stands."""

    findings: list[Finding]
    words: Counter[str] = field(default_factory=Counter)
    nearby: Counter[str] = field(default_factory=Counter)
    """The words with those of the sentences beside the statements: what two linked groups are compared by."""

    @property
    def is_revert(self) -> bool:
        return any("revert" in finding.signals for finding in self.findings)

    @property
    def lead(self) -> Finding:
        return self.findings[0]

    @property
    def checkpoints_named(self) -> frozenset[str]:
        """What its commits name in their trailers."""
        return frozenset(checkpoint for finding in self.findings for checkpoint in finding.checkpoints)

    @property
    def checkpoints_held(self) -> frozenset[str]:
        """The checkpoints whose sessions speak in it."""
        held = (each for each in self.sources if evidence_kind(each) is EvidenceKind.SESSION)
        return frozenset(each.split("/")[0] for each in held)

    @property
    def sources(self) -> frozenset[str]:
        return frozenset(evidence for finding in self.findings for evidence in finding.evidence_ids)


def topics_of(findings: Iterable[Finding], likeness: float) -> list[Topic]:
    """`findings` grouped, in a fixed order, the strongest topic first.

    `likeness` (0 to 1) is the share of the rarer words two groups must have in common.
    """
    groups = sorted((_topic(group) for group in _together(findings)), key=_strength)
    rarity = _rarity(groups)
    merged: list[Topic] = []
    by_word: dict[str, list[int]] = defaultdict(list)
    for group in groups:
        home = _nearest(group, merged, by_word, rarity, likeness)
        if home is None:
            for word in group.nearby:
                by_word[word].append(len(merged))
            merged.append(group)
        else:
            old = merged[home]
            merged[home] = Topic(_ordered([*old.findings, *group.findings]), old.words, old.nearby)
    return sorted(merged, key=_strength)


def _together(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings of one turn, and those below one commit subject."""
    groups: dict[tuple[str, object], list[Finding]] = defaultdict(list)
    for finding in findings:
        in_commit = evidence_kind(finding.evidence_id) is EvidenceKind.COMMIT
        groups[finding.evidence_id, finding.headline if in_commit else finding.position].append(finding)
    return [groups[key] for key in sorted(groups, key=str)]


def _topic(group: Sequence[Finding]) -> Topic:
    words: Counter[str] = Counter()
    nearby: Counter[str] = Counter()
    for finding in group:
        words.update(_telling(finding.quote))
        words.update(_telling(finding.headline))
        nearby.update({term for text in finding.around for term in _telling(text)})
    return Topic(_ordered(group), words, words + nearby)


def _telling(text: str) -> set[str]:
    """The words of `text` by which topics are told apart; small numbers stand everywhere."""
    return {term for term in terms(text) if not term.isdigit() or len(term) >= _TELLING_DIGITS}


def _ordered(findings: Iterable[Finding]) -> list[Finding]:
    """What still stands first, the strongest of it leading; what was replaced last."""
    several = list(findings)
    old = superseded(several)
    return sorted(
        several, key=lambda each: (each.id in old, -each.score, each.said_at, each.evidence_id, each.position)
    )


def _strength(topic: Topic) -> tuple[float, str, int, str]:
    lead = topic.lead
    return (-lead.score, lead.evidence_id, lead.position, lead.quote)


def _rarity(groups: Sequence[Topic]) -> dict[str, float]:
    seen = Counter(word for group in groups for word in group.nearby)
    total = max(len(groups), _FEWEST_GROUPS)
    return {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) for word, count in seen.items()}


def _nearest(
    group: Topic,
    merged: Sequence[Topic],
    by_word: dict[str, list[int]],
    rarity: dict[str, float],
    likeness: float,
) -> int | None:
    most = max(8, len(merged) // 8)
    candidates = {number for word in group.nearby for number in by_word.get(word, ()) if len(by_word[word]) <= most}
    best: tuple[float, int] | None = None
    for number in sorted(candidates):
        other = merged[number]
        if len(other.findings) + len(group.findings) > LARGEST:
            continue
        linked = _linked(group, other)
        if group.is_revert != other.is_revert and not linked:
            alike = _cosine(group.words, other.words, rarity) / _REVERT_NEEDS
        elif linked:
            sure = len(group.checkpoints_named | other.checkpoints_named) == 1
            alike = _likeness(group.nearby, other.nearby, rarity) / (_LINK_NEEDS if sure else _LOOSE_LINK_NEEDS)
        else:
            alike = _likeness(group.words, other.words, rarity)
        if alike >= _needed(group, other, likeness) and (best is None or alike > best[0]):
            best = (alike, number)
    return None if best is None else best[1]


def _linked(one: Topic, other: Topic) -> bool:
    """Whether a commit of one group names the checkpoint of a session of the other: they speak of the same work."""
    return bool(one.checkpoints_named & other.checkpoints_held or other.checkpoints_named & one.checkpoints_held)


def _needed(group: Topic, other: Topic, likeness: float) -> float:
    """Turns that follow each other need less to be one topic, and so does a statement that replaces another."""
    one, two = group.lead, other.lead
    if one.evidence_id == two.evidence_id and evidence_kind(one.evidence_id) is EvidenceKind.SESSION:
        return likeness * (_NEIGHBOUR_LIKENESS if abs(one.position - two.position) <= _NEIGHBOUR_TURNS else 1.0)
    newer, older = (one, two) if one.said_at >= two.said_at else (two, one)
    return 0.0 if contradicts(newer, older) else likeness


def _likeness(one: Counter[str], other: Counter[str], rarity: dict[str, float]) -> float:
    """Weighted cosine of two sets of words; a short statement may also lie inside a long one."""
    both = one.keys() & other.keys()
    smaller = min(_size(one, rarity), _size(other, rarity))
    if not smaller:
        return 0.0
    inside = _INSIDE * _size(both, rarity) / smaller if len(both) >= _FEWEST_INSIDE else 0.0
    return max(_cosine(one, other, rarity), inside)


def _cosine(one: Counter[str], other: Counter[str], rarity: dict[str, float]) -> float:
    sizes = _size(one, rarity) * _size(other, rarity)
    return _size(one.keys() & other.keys(), rarity) / math.sqrt(sizes) if sizes else 0.0


def _size(words: Iterable[str], rarity: dict[str, float]) -> float:
    return sum(rarity.get(word, 0.0) ** 2 for word in words)


def title_of(findings: Sequence[Finding]) -> str:
    """The headline of the leading statement, or of a commit among the others: a subject is written to be a title."""
    lead = findings[0]
    if evidence_kind(lead.evidence_id) is EvidenceKind.COMMIT:
        return lead.headline
    subjects = [each.headline for each in findings[1:] if evidence_kind(each.evidence_id) is EvidenceKind.COMMIT]
    return subjects[0] if subjects else lead.headline
