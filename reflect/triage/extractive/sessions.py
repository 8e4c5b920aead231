"""The lessons of one session: where a person stepped in first, what they said second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from reflect.evidence.interventions import interventions
from reflect.model import Channel, EvidenceMode, Finding, Origin, ReflectionKind, Session, Speaker, Summary, Taint, Turn
from reflect.triage.always_on import is_always_on
from reflect.triage.extractive.headlines import of_sentence
from reflect.triage.extractive.hearing import Heard, Listener
from reflect.triage.extractive.sentences import paragraphs, sentences, typed_by_hand
from reflect.triage.extractive.weights import Voice
from reflect.triage.views import visible_turns
from reflect.triage.words import terms

COMPLETED = "completed"
"""Signal of a finding that only says that something is finished: it closes open work and stands on no page."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CONTEXT = 600
_MOST_AROUND = 3
_TELLS_BY_ITSELF = 4
"""Topical words an answer needs where its question may not be seen."""

_SHORT = 60
_LONG = 240
_SUMMARY_POSITION = -1

_SITUATIONS = {
    Channel.QUEUED: "queued",
    Channel.STEER: "steer",
    Channel.DENIAL: "denial",
    Channel.ANSWER: "answer",
    Channel.PLAN_REJECTED: "plan-rejected",
    Channel.PLAN_APPROVED: "plan-approved",
    Channel.COMMAND: "command",
}
_STEPPED_IN = frozenset({"denial", "plan-rejected", "steer", "interruption"})
_REFUSALS = frozenset({"denial", "plan-rejected", "steer"})
_CORRECTIVE = frozenset({"denial", "plan-rejected", "steer", "interruption", "follow-up", "queued"})
_STANDING = frozenset({"preferences", "patterns"})


@dataclass(frozen=True, slots=True)
class _Said:
    """One turn with what its place in the session tells: `situation` weighs its sentences.

    `before` is what the person said last, `trigger` how they stepped in, in the words of a lesson's record.
    """

    turn: Turn
    at: datetime
    situation: str
    voice: Voice
    context: str
    before: str = ""
    trigger: str = ""


@dataclass(frozen=True, slots=True)
class _Hit:
    """A lesson with its turn and where it stands there: sentence `number` of the paragraph `whole`."""

    said: _Said
    lesson: Heard
    whole: Sequence[str] = ()
    number: int = 0
    headline: str | None = None


def reflect_on_session(listener: Listener, session: Session, mode: EvidenceMode) -> tuple[Finding, ...]:
    """The findings of `session`, strongest first within the limit of the weights, in the order they were said."""
    heard = [hit for said in _heard_turns(listener, session, mode) for hit in _of_turn(listener, mode, said)]
    if mode is EvidenceMode.FULL and session.summary is not None:
        heard.extend(_of_summary(listener, session, session.summary))
    lessons = (hit for hit in heard if COMPLETED not in hit.lesson.cues)
    ordered = sorted(lessons, key=lambda hit: (-hit.lesson.score, hit.said.turn.position, hit.lesson.text))
    strongest = {id(hit) for hit in ordered[: listener.weights.findings_per_evidence]}
    kept = (hit for hit in heard if id(hit) in strongest or COMPLETED in hit.lesson.cues)
    findings = {finding.id: finding for finding in (_finding(listener, session, mode, hit) for hit in kept)}
    return tuple(findings.values())


def _heard_turns(listener: Listener, session: Session, mode: EvidenceMode) -> Iterator[_Said]:
    """The turns that carry somebody's words, without those a person took back at once."""
    turns = visible_turns(session, mode)
    withdrawn = _withdrawn(listener, turns)
    stepped_in = {each.position: each for each in interventions(turns)}
    began, stopped, last_tool, before = False, False, "", ""
    at = session.created_at or next((turn.at for turn in turns if turn.at is not None), _EPOCH)
    for number, turn in enumerate(turns):
        at = turn.at or at
        if turn.channel is Channel.TOOL_USE:
            last_tool = turn.tool or last_tool
        elif turn.channel is Channel.INTERRUPTION:
            stopped = True
        elif turn.channel is Channel.REPLY and turn.speaker is Speaker.ASSISTANT:
            yield _Said(turn, at, "reply", "assistant", "", trigger="reply")
        elif turn.speaker is Speaker.PERSON and turn.text.strip() and turn.channel is not Channel.SHELL:
            situation = _SITUATIONS.get(turn.channel) or (
                "interruption" if stopped else "follow-up" if began else "prompt"
            )
            if number not in withdrawn:
                how = stepped_in.get(turn.position)
                context = _context(turn, how.context if how is not None else "", last_tool)
                yield _Said(
                    turn, at, situation, _voice(turn), context, before, how.kind if how is not None else "prompt"
                )
            began, stopped, before = True, False, turn.text


def _withdrawn(listener: Listener, turns: Sequence[Turn]) -> frozenset[int]:
    """The person's turns that their next one calls a joke or a slip."""
    own = [number for number, turn in enumerate(turns) if turn.speaker is Speaker.PERSON and turn.text.strip()]
    return frozenset(earlier for earlier, later in pairwise(own) if listener.takes_back(turns[later].text))


def _voice(turn: Turn) -> Voice:
    return "answer" if turn.channel is Channel.ANSWER else "person"


def _context(turn: Turn, last_reply: str, last_tool: str) -> str:
    """What the agent was doing, in its own words where they may be seen, else the tool it was about to use."""
    said = turn.about or last_reply
    if said:
        return " ".join(said.split())[:_CONTEXT]
    tool = turn.tool or last_tool
    return f"tool: {tool}" if tool else ""


def _of_turn(listener: Listener, mode: EvidenceMode, said: _Said) -> Iterator[_Hit]:
    if said.turn.channel is Channel.ANSWER and mode is EvidenceMode.FULL and said.turn.about:
        yield from _of_answer(listener, said)
        return
    if said.turn.channel is Channel.ANSWER and len(terms(said.turn.text)) < _TELLS_BY_ITSELF:
        return
    found = list(_of_lines(listener, said))
    if found and not (said.voice != "assistant" and listener.spoils(said.turn.text)):
        yield from found


def _of_lines(listener: Listener, said: _Said) -> Iterator[_Hit]:
    by_hand = said.voice != "assistant"
    assume = "preferences" if said.situation in _REFUSALS else None
    for line in typed_by_hand(said.turn.text) if by_hand else paragraphs(said.turn.text):
        if assume is None and not listener.may_matter(line.text):
            continue
        whole = list(sentences(line.text))
        for number, text in enumerate(whole):
            lesson = listener.hear(text, said.voice, said.situation, assume=assume)
            if lesson is not None:
                yield _Hit(said, lesson, whole, number)
            elif by_hand and listener.says_finished(text) and not text.endswith("?"):
                yield _Hit(said, Heard(text, "open-work", "open", 0.0, (COMPLETED,), ()))


def _beside(listener: Listener, whole: Sequence[str], number: int, voice: Voice) -> tuple[str, ...]:
    """The sentences next to the one at `number` that may stand beside it on a page."""
    near = (*whole[max(0, number - 1) : number], *whole[number + 1 : number + 3])
    return tuple(text for text in near if listener.may_stand_beside(text, voice))[:_MOST_AROUND]


def _just_before(listener: Listener, text: str, said: _Said) -> tuple[str, ...]:
    """What the person said one turn earlier, where a short statement takes a word of it up and says no topic itself."""
    if len(text) > _SHORT or not said.before or listener.spoils(said.before):
        return ()
    own = set(terms(text))
    earlier = [each for line in typed_by_hand(said.before) for each in sentences(line.text)]
    return tuple(
        each
        for each in earlier
        if not listener.unquotable(each)
        and len(each) <= _LONG
        and own & set(terms(each))
        and len(set(terms(each))) >= 3
    )[:_MOST_AROUND]


def _of_answer(listener: Listener, said: _Said) -> Iterator[_Hit]:
    """A question that was put to the person and what they chose: a decision, unless it was about how to go on."""
    question, answer = " ".join(said.turn.about.split()), " ".join(said.turn.text.split())
    if listener.is_about_going_on(question, answer) or len(terms(question)) < 3:
        return
    if listener.unquotable(question) or listener.unquotable(answer):
        return
    lesson = Heard(answer, "decisions", "decision", 3.2, ("answered-question",), ())
    yield _Hit(said, lesson, headline=f"{question} {answer}")


def _of_summary(listener: Listener, session: Session, summary: Summary) -> Iterator[_Hit]:
    """What a model wrote about the session: heard like anyone, believed by nobody (its origin is derived)."""
    kinds = ((summary.learnings, "gotchas"), (summary.friction, "gotchas"), (summary.open_items, "open-work"))
    at = session.created_at or _EPOCH
    said = _Said(
        Turn(Speaker.ASSISTANT, Channel.REPLY, "", _SUMMARY_POSITION, at, Taint.CLEAN),
        at,
        "summary",
        "summary",
        "",
        trigger="summary",
    )
    for items, kind in kinds:
        for item in items:
            for text in sentences(" ".join(item.split())):
                lesson = listener.hear(text, "summary", "summary", assume=kind)
                if lesson is not None:
                    yield _Hit(said, lesson)


def _finding(listener: Listener, session: Session, mode: EvidenceMode, hit: _Hit) -> Finding:
    said, lesson, turn = hit.said, hit.lesson, hit.said.turn
    beside: tuple[str, ...] = ()
    if hit.whole:
        near = _beside(listener, hit.whole, hit.number, said.voice)
        beside = near or _just_before(listener, lesson.text, said)
    return Finding(
        quote=lesson.text,
        headline=of_sentence(hit.headline or lesson.text),
        category=lesson.kind,
        kind=_kind(said, lesson),
        evidence_id=session.id,
        position=turn.position,
        sentence=hit.number,
        speaker=turn.speaker,
        said_at=said.at,
        score=lesson.score,
        signals=(said.situation, *lesson.cues),
        origin=_origin(session, turn),
        evidence=mode,
        session_tainted=session.taint is not Taint.CLEAN,
        always_on=is_always_on(lesson.text),
        trigger=said.trigger,
        context=said.context,
        around=beside,
        identifiers=lesson.names,
        workspace=turn.cwd or session.workspace,
        started_in=session.workspace,
        ran_in=session.workspaces,
    )


def _origin(session: Session, turn: Turn) -> Origin:
    """A person's words are their own whatever else was in the session; what no person said alone is derived."""
    if session.automated or turn.speaker is not Speaker.PERSON:
        return Origin.DERIVED
    return Origin.CLEAN


def _kind(said: _Said, lesson: Heard) -> ReflectionKind:
    if said.situation in _STEPPED_IN or (said.situation in _CORRECTIVE and lesson.role == "rule"):
        return ReflectionKind.CORRECTIVE
    return ReflectionKind.PROCEDURAL if lesson.kind in _STANDING else ReflectionKind.EPISODE_LESSON
