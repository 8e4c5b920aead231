"""What stands on a page: the words of the sources, the leading statement first, each passage with what it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reflect.model import (
    Action,
    EvidenceKind,
    EvidenceMode,
    Finding,
    Operation,
    PageContent,
    PageSummary,
    Passage,
    Section,
    evidence_kind,
)
from reflect.triage.extractive.digests import DONE_SINCE
from reflect.triage.extractive.headlines import of_subject
from reflect.triage.extractive.history import UNDONE
from reflect.triage.extractive.newest import replaced_on, superseded
from reflect.triage.extractive.sessions import COMPLETED
from reflect.triage.extractive.topics import title_of
from reflect.triage.extractive.weights import Weights
from reflect.triage.words import folded, terms

RESOLVED = "Resolved"
EVIDENCE = "Evidence"
EARLIER = "Earlier"
NOW = "Now"
"""What replaces something a page says; it stands above all that the page said until then."""

QUESTION = "The question"
REVERTED_WORK = "What was reverted"

_HEADINGS = {
    "decision": "What was decided",
    "rule": "What was asked for",
    "problem": "What went wrong",
    "behaviour": "How it behaves",
    "reason": "Why",
    "structure": "How it is built",
    "open": "What is open",
}
_LIKE = {
    "decision": re.compile(r"decision|decided|solution|approach|implementation|how it works", re.IGNORECASE),
    "rule": re.compile(r"rule|preference|convention|asked|guidance|directive", re.IGNORECASE),
    "problem": re.compile(r"problem|went wrong|symptom|issue|gotcha|cause|failure|caveat|pitfall", re.IGNORECASE),
    "behaviour": re.compile(r"behaviou?r|how it|caveat|details", re.IGNORECASE),
    "reason": re.compile(r"\bwhy\b|reason|rationale|motivation|background", re.IGNORECASE),
    "structure": re.compile(r"architecture|structure|built|design|layout|components", re.IGNORECASE),
    "open": re.compile(r"open|to-?do|next|remaining|required|gap", re.IGNORECASE),
}
_OURS = frozenset(_HEADINGS.values())
"""Headings by which a page of this engine is known: it may get another one of them."""

_HEADING = re.compile(r"^#{2,3}\s+(.+?)\s*#*\s*$", re.MULTILINE)


class Writer:
    """Lays out findings as sections of quotes. Never a word that is not a source's, except the headings."""

    def __init__(self, weights: Weights) -> None:
        self._role_of_cue = {cue.name: (cue.kind, cue.role) for cue in weights.cues}

    def write(self, action: Action, page: PageSummary | None) -> PageContent:
        """The whole of a new page, or what `action` adds to `page`."""
        undone = [finding for finding in action.findings if _names_undone(finding)]
        lessons = [finding for finding in action.findings if finding not in undone]
        taken_back = [Section(heading=REVERTED_WORK, passages=_passages(undone))] if undone else []
        if action.digest:
            done = [finding for finding in lessons if _says_done(finding)]
            sections = _by_month([finding for finding in action.findings if finding not in done])
            sections += [Section(heading=DONE_SINCE, passages=_what_closed(done))] if done else []
        elif page is None:
            sections = self._whole(lessons) + taken_back
        elif action.operation is Operation.RESOLVE:
            sections = self._resolved(action, page)
        else:
            sections = self._added(lessons, page) + taken_back
        return PageContent(title=action.title, sections=tuple(sections), tags=action.tags)

    def _whole(self, findings: Sequence[Finding]) -> list[Section]:
        """The leading statement's section first, then the others in a fixed order, what was replaced last."""
        old = superseded(findings)
        standing = [finding for finding in findings if finding.id not in old] or list(findings)
        replaced = [finding for finding in findings if finding not in standing]
        first = "problem" if "revert" in standing[0].signals else self._role(standing[0])
        roles = list(dict.fromkeys([first, *_HEADINGS]))
        title = title_of(findings)
        sections = _questions(standing)
        sections += [
            Section(heading=_HEADINGS[role], passages=_passages(said, below=title))
            for role in roles
            if (said := [finding for finding in standing if self._role(finding) == role])
        ]
        quoted = _quoted(findings)
        if beside := _beside(standing, quoted):
            sections.append(Section(heading=EVIDENCE, passages=tuple(beside)))
        if replaced:
            sections.append(Section(heading=EARLIER, passages=_passages(replaced)))
        return sections

    def _added(self, findings: Sequence[Finding], page: PageSummary, *, replaces: bool = True) -> list[Section]:
        """New passages below the page's own headings where one fits, else below one that invents nothing."""
        old = superseded(findings)
        standing = [finding for finding in findings if finding.id not in old] or list(findings)
        replaced = [finding for finding in findings if finding not in standing]
        headings = _HEADING.findall(page.body)
        newest = [each for each in standing if replaces and replaced_on(page, each) is not None]
        by_heading: dict[str, list[Finding]] = {}
        for finding in standing:
            if finding in newest:
                continue
            by_heading.setdefault(_heading_for(self._role(finding), headings), []).append(finding)
        sections = [Section(heading=NOW, passages=_passages(newest, below=page.title), first=True)] if newest else []
        sections += _questions(standing)
        sections += [
            Section(heading=heading, passages=_passages(said, below=page.title)) for heading, said in by_heading.items()
        ]
        if replaced:
            sections.append(Section(heading=EARLIER, passages=_passages(replaced)))
        return sections

    def _resolved(self, action: Action, page: PageSummary) -> list[Section]:
        done = [finding for finding in action.findings if _says_done(finding)]
        others = [finding for finding in action.findings if finding not in done]
        sections = [Section(heading=RESOLVED, passages=_passages(done))] if done else []
        return sections + (self._added(others, page, replaces=False) if others else [])

    def _role(self, finding: Finding) -> str:
        """The part of a page that a finding belongs to: that of its strongest cue of its own kind."""
        roles = [self._role_of_cue[signal] for signal in finding.signals if signal in self._role_of_cue]
        own = [role for kind, role in roles if kind == finding.category] or [role for _, role in roles]
        if "revert" in finding.signals:
            return "decision" if {"decision", "rule"} & set(own) else "problem"
        if own:
            return "decision" if own[0] == "rule" and not _spoken(finding) else own[0]
        return "problem" if finding.category in {"gotchas", "pitfalls"} else "decision"


def _names_undone(finding: Finding) -> bool:
    return any(signal.startswith(UNDONE) for signal in finding.signals)


def _says_done(finding: Finding) -> bool:
    return COMPLETED in finding.signals


def _subject(finding: Finding) -> str:
    """The subject of the commit a quote is from, where it says more than the quote; empty for everything else."""
    if evidence_kind(finding.evidence_id) is not EvidenceKind.COMMIT or "revert" in finding.signals:
        return ""
    news = set(terms(finding.context)) - set(terms(finding.quote))
    return finding.context if news and finding.headline == of_subject(finding.context) else ""


def _questions(findings: Iterable[Finding]) -> list[Section]:
    """What the agent had asked where a person answered: its words, and only where they may be shown."""
    answered = [
        finding
        for finding in _as_said(findings)
        if "answered-question" in finding.signals and finding.context and finding.evidence is EvidenceMode.FULL
    ]
    asked = tuple(_passage(finding, finding.context) for finding in answered)
    return [Section(heading=QUESTION, passages=asked)] if asked else []


def _what_closed(done: Iterable[Finding]) -> tuple[Passage, ...]:
    """The subject that finished something, and what its commit says of it in whole sentences."""
    return tuple(_passage(finding, text) for finding in _as_said(done) for text in (finding.quote, *finding.around))


def _spoken(finding: Finding) -> bool:
    """Whether somebody asked for it in a session; a commit message asks for nothing."""
    return evidence_kind(finding.evidence_id) is EvidenceKind.SESSION


def _heading_for(role: str, headings: Sequence[str]) -> str:
    like = next((heading for heading in headings if _LIKE[role].search(heading)), None)
    ours = not _OURS.isdisjoint(headings)
    return like or (_HEADINGS[role] if ours else EVIDENCE)


def _as_said(findings: Iterable[Finding]) -> list[Finding]:
    """`findings` with those of one piece of evidence in the order of its sentences, the strongest evidence first."""
    several = list(findings)
    order = {evidence: number for number, evidence in enumerate(dict.fromkeys(each.evidence_id for each in several))}
    return sorted(several, key=lambda each: (order[each.evidence_id], each.position, each.sentence))


def _passages(findings: Iterable[Finding], *, below: str | None = None) -> tuple[Passage, ...]:
    """The quotes in order; on a page with another title than `below` a commit's subject stands before its sentences."""
    passages: list[Passage] = []
    told: set[str] = set()
    for finding in _as_said(findings):
        subject = _subject(finding)
        if below is not None and subject and finding.headline != below and folded(subject) not in told:
            told.add(folded(subject))
            passages.append(_passage(finding, subject))
        passages.append(_passage(finding, finding.quote, finding.evidence_ids))
    return tuple(passages)


def _passage(finding: Finding, text: str, evidence_ids: Sequence[str] = ()) -> Passage:
    return Passage(text=text, evidence_ids=tuple(evidence_ids) or (finding.evidence_id,), said_at=finding.said_at)


def _quoted(findings: Iterable[Finding]) -> set[str]:
    return {folded(finding.quote) for finding in findings}


def _beside(findings: Sequence[Finding], quoted: set[str]) -> list[Passage]:
    """The sentences that stood beside the quotes, each once."""
    seen = set(quoted)
    passages: list[Passage] = []
    for finding in findings:
        for text in finding.around:
            if folded(text) not in seen:
                seen.add(folded(text))
                passages.append(_passage(finding, text))
    return passages


def _by_month(findings: Sequence[Finding]) -> list[Section]:
    months: dict[str, list[Finding]] = {}
    in_time = sorted(findings, key=lambda each: (each.said_at, each.evidence_id, each.position, each.sentence))
    for finding in in_time:
        months.setdefault(finding.said_at.strftime("%Y-%m"), []).append(finding)
    return [Section(heading=month, passages=_passages(said)) for month, said in months.items()]
