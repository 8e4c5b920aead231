"""The lessons of commit messages: a body that says why, a revert that says what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reflect.model import SHORT, Commit, CommitSha, EvidenceMode, Finding, Origin, ReflectionKind, Speaker
from reflect.triage.always_on import is_always_on
from reflect.triage.extractive.headlines import bare_subject, of_reverted, of_sentence, of_subject
from reflect.triage.extractive.hearing import Heard, Listener
from reflect.triage.extractive.sentences import Paragraph, paragraphs, sentences
from reflect.triage.extractive.sessions import COMPLETED
from reflect.triage.words import terms

REVERTS = "reverts:"
"""Begins the signal that names a commit a finding's commit reverts, by its first digits."""

REVERTED = "reverted-by:"
"""Begins the signal of a finding whose commit was reverted, with the reverting commit."""

UNDONE = "undone-by:"
"""Begins the signal of a finding that only names what a commit took back, with that commit: no lesson by itself."""

_MOST_AROUND = 3
_NAMES_A_TOPIC = 2
"""Topical words below which a subject tells nobody what was taken back."""

_DELIVERY = -1
"""Position of a statement that a commit finishes something: its subject may be a lesson as well, at 0."""

_UNDONE = -2
"""Position of a statement that names what a commit took back."""

_MERGE = re.compile(r"^merge (?:branch|pull request|remote|tag)\b", re.IGNORECASE)
_PULL_REQUEST = re.compile(r"\s*\(#\d+\)\s*$")
_SQUASHED = re.compile(r"^\* +(?=\S)")
_SQUASH_SUBJECT = re.compile(r"\(#\d+\)\s*$")
_CONVENTIONAL = re.compile(r"^(?P<type>[a-z]{2,12})(?:\([^)]{0,40}\))?!?: ", re.IGNORECASE)
_REVERT = re.compile(r"^(?:revert\b|back(?:ed)? out\b)", re.IGNORECASE)
_REVERTED_SUBJECT = re.compile(r"^(?:reverts?|back(?:ed)? out)(?:\([^)]{0,40}\))?:?\s+(?P<what>.+)$", re.IGNORECASE)
_REVERT_BOILERPLATE = re.compile(r"^this reverts commits?\s+[0-9a-f]{7,40}[^.]*\.?\s*", re.IGNORECASE)
_FOR_READERS = re.compile(r"(?:^|/)(?:docs?/|(?:README|CHANGELOG|CONTRIBUTING|LICENSE|NOTICE|AUTHORS))", re.IGNORECASE)
"""Files that tell about the product; other Markdown may be the product (skills, prompts, sites)."""

_DELIVERS = frozenset({"feat", "fix", "perf"})


@dataclass(frozen=True)
class _Item:
    """A commit, or one of the commits that a squash merge folded into it: a subject and what stands below it."""

    subject: str
    type: str
    lines: list[Paragraph] = field(default_factory=list)
    takes_back: bool = False

    @property
    def reverts(self) -> bool:
        """Whether this takes something back: its subject or a line below it says so."""
        said = (line.text for line in self.lines)
        return self.takes_back or self.type == "revert" or any(map(_REVERT_BOILERPLATE.match, said))


@dataclass(frozen=True, slots=True)
class _Heard:
    lesson: Heard
    line: Paragraph
    beside: tuple[str, ...]
    sentence: int = 0


def reflect_on_history(listener: Listener, commits: Sequence[Commit]) -> tuple[Finding, ...]:
    """The findings of `commits`, oldest commit first. Those of a reverted commit carry who reverted it."""
    oldest_first = sorted(commits, key=lambda commit: (commit.at, commit.sha))
    reverted = _reverted(oldest_first)
    here = {commit.sha: commit for commit in commits}
    found: list[Finding] = []
    for commit in oldest_first:
        lessons = [finding for item in _items(commit) for finding in _of_item(listener, commit, item)]
        limit = sorted(lessons, key=lambda lesson: (-lesson.score, lesson.position))
        kept = {lesson.id for lesson in limit[: listener.weights.findings_per_evidence]}
        found.extend(_marked(lesson, reverted) for lesson in lessons if lesson.id in kept)
        if (delivered := _delivers(listener, commit)) is not None:
            found.append(_marked(delivered, reverted))
        if any("revert" in lesson.signals for lesson in lessons):
            found.extend(_undone(commit, here))
    return tuple(found)


def _reverted(oldest_first: Iterable[Commit]) -> dict[CommitSha, CommitSha]:
    """Which commits stand reverted at the end, and by which; a revert of a revert brings the first one back."""
    by: dict[CommitSha, CommitSha] = {}
    undoes: dict[CommitSha, tuple[CommitSha, ...]] = {}
    for commit in oldest_first:
        undoes[commit.sha] = commit.reverts
        for target in commit.reverts:
            by[target] = commit.sha
            for again in undoes.get(target, ()):
                by.pop(again, None)
    return by


def _marked(finding: Finding, reverted: dict[CommitSha, CommitSha]) -> Finding:
    by = reverted.get(CommitSha(finding.evidence_id))
    return finding if by is None else finding.model_copy(update={"signals": (*finding.signals, REVERTED + by[:SHORT])})


def _items(commit: Commit) -> list[_Item]:
    lines = commit.body.split("\n")
    squashed = _SQUASH_SUBJECT.search(commit.subject) is not None and any(map(_SQUASHED.match, lines))
    items = [_new_item(commit.subject)]
    for line in paragraphs(commit.body):
        mark = _SQUASHED.match(lines[line.line]) if squashed else None
        if mark is not None:
            items.append(_new_item(line.text))
        else:
            items[-1].lines.append(line)
    return items


def _new_item(subject: str) -> _Item:
    return _Item(subject, _type(subject), takes_back=_REVERT.match(subject) is not None)


def _type(subject: str) -> str:
    match = _CONVENTIONAL.match(subject)
    return match.group("type").lower() if match else ""


def _of_item(listener: Listener, commit: Commit, item: _Item) -> Iterator[Finding]:
    heard = [hit for line in item.lines for hit in _of_line(listener, commit, item, line)]
    if not heard and (subject := _of_subject(listener, item)) is not None:
        heard = [subject]
    headline = _headline(listener, item, heard) if heard else ""
    for hit in heard:
        yield _finding(commit, item, hit, headline)


def _of_line(listener: Listener, commit: Commit, item: _Item, line: Paragraph) -> Iterator[_Heard]:
    situation = _situation(commit, item, line)
    whole = list(sentences(_REVERT_BOILERPLATE.sub("", line.text)))
    for number, text in enumerate(whole):
        if text.endswith(":"):
            continue
        first = number == 0 and line == item.lines[0]
        lesson = listener.hear(text, "commit", situation, assume=_assumed(listener, situation, text, first=first))
        if lesson is not None:
            near = whole[max(0, number - 1) : number] + whole[number + 1 : number + 3]
            beside = tuple(other for other in near if listener.may_stand_beside(other, "commit"))
            yield _Heard(lesson, line, beside[:_MOST_AROUND], number)


def _assumed(listener: Listener, situation: str, text: str, *, first: bool) -> str | None:
    """What a sentence is where no cue says it: below a revert what went wrong, first below a fix what was broken."""
    if situation == "revert":
        return "pitfalls"
    if situation == "fix" and first and not listener.says_what_was_done(text):
        return "gotchas"
    return None


def _of_subject(listener: Listener, item: _Item) -> _Heard | None:
    """The subject itself where it says why and nothing below it does."""
    if item.reverts:
        return None
    text = bare_subject(item.subject)
    lesson = listener.hear(text, "commit", "fix" if item.type == "fix" else "commit")
    return None if lesson is None else _Heard(lesson, Paragraph(text, -1), ())


def _situation(commit: Commit, item: _Item, line: Paragraph) -> str:
    if item.reverts:
        return "revert"
    if len(commit.parents) > 1 or _MERGE.match(item.subject):
        return "merge"
    if item.type == "docs" or (commit.files and all(map(_FOR_READERS.search, commit.files))):
        return "docs"
    return "fix" if item.type == "fix" and not line.bullet else "commit"


def _finding(commit: Commit, item: _Item, hit: _Heard, headline: str) -> Finding:
    lesson = hit.lesson
    situation = _situation(commit, item, hit.line)
    reverts = tuple(sha for sha in commit.reverts if situation == "revert")
    return Finding(
        quote=lesson.text,
        headline=headline,
        category="pitfalls" if situation == "revert" else lesson.kind,
        kind=ReflectionKind.CORRECTIVE if situation == "revert" else ReflectionKind.EPISODE_LESSON,
        evidence_id=commit.id,
        position=hit.line.line + 1,
        speaker=Speaker.PERSON,
        said_at=commit.at,
        score=lesson.score,
        signals=(situation, *lesson.cues, *(REVERTS + sha[:SHORT] for sha in reverts)),
        origin=Origin.CLEAN if commit.trusted else Origin.UNTRUSTED,
        evidence=EvidenceMode.FULL,
        always_on=is_always_on(lesson.text),
        trigger=situation,
        context=bare_subject(item.subject),
        around=hit.beside,
        identifiers=lesson.names,
        sentence=hit.sentence,
        checkpoints=commit.checkpoints,
    )


def _undone(commit: Commit, here: Mapping[CommitSha, Commit]) -> Iterator[Finding]:
    """What `commit` took back, in the words of its subject: quoted from the commit itself where that was read."""
    own = _reverted_subject(commit.subject)
    for sha in commit.reverts:
        target = here.get(sha)
        subject = bare_subject(target.subject) if target is not None else own
        if len(terms(subject)) >= _NAMES_A_TOPIC:
            yield _named(target or commit, subject, UNDONE + commit.sha[:SHORT])


def _reverted_subject(subject: str) -> str:
    """The subject of the commit that a subject says it takes back, bare; empty where it is no such subject."""
    match = _REVERTED_SUBJECT.match(" ".join(subject.split()))
    return bare_subject(_unquoted(match.group("what"))) if match else ""


def _unquoted(text: str) -> str:
    bare = _PULL_REQUEST.sub("", text)
    return bare[1:-1] if len(bare) > 2 and bare[0] == bare[-1] == '"' else bare


def _named(commit: Commit, subject: str, signal: str) -> Finding:
    """A statement that carries nothing but a commit's subject; it never earns a page."""
    return Finding(
        quote=subject,
        headline=of_subject(commit.subject),
        category="pitfalls" if signal.startswith(UNDONE) else "open-work",
        kind=ReflectionKind.EPISODE_LESSON,
        evidence_id=commit.id,
        position=_UNDONE if signal.startswith(UNDONE) else _DELIVERY,
        speaker=Speaker.PERSON,
        said_at=commit.at,
        score=0.0,
        signals=("commit", signal),
        origin=Origin.CLEAN if commit.trusted else Origin.UNTRUSTED,
        evidence=EvidenceMode.FULL,
        checkpoints=commit.checkpoints,
    )


def _headline(listener: Listener, item: _Item, heard: Sequence[_Heard]) -> str:
    """The subject; below one that names no topic, or another than the only list item heard, the strongest statement."""
    strongest = max(heard, key=lambda hit: (hit.lesson.score, -hit.line.line))
    if (taken_back := _reverted_subject(item.subject)) or item.type == "revert":
        if len(terms(taken_back)) < _NAMES_A_TOPIC or listener.names_no_topic(taken_back):
            return of_sentence(strongest.lesson.text)
        return of_reverted(taken_back)
    if listener.names_no_topic(bare_subject(item.subject)):
        return of_sentence(strongest.lesson.text)
    about = set(terms(item.subject))
    shared = len(about & set(terms(strongest.line.text)))
    if len(heard) == 1 and strongest.line.bullet and shared < max(1, len(about) // 3):
        return of_sentence(strongest.lesson.text)
    return of_subject(item.subject)


def _delivers(listener: Listener, commit: Commit) -> Finding | None:
    """A statement that something is finished, which may close open work."""
    said = [bare_subject(commit.subject), *(line.text for line in paragraphs(commit.body))]
    finished = [text for line in said[1:] for text in sentences(line) if listener.says_finished(text)]
    claims = _type(commit.subject) in _DELIVERS or listener.says_finished(commit.subject) or finished
    if not said[0] or not claims:
        return None
    named = _named(commit, said[0], COMPLETED)
    return named.model_copy(update={"around": tuple(finished[:_MOST_AROUND])})
