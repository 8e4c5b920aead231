"""What one sentence says to somebody who listens for lessons: which cues it holds, and what rules it out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from reflect.triage.extractive.names import names_in
from reflect.triage.extractive.triggers import Triggers
from reflect.triage.extractive.weights import Cue, Discard, Role, Voice, Weights, words_of
from reflect.triage.words import STOP_WORDS, straight

_REDACTED = "REDACTED"
"""Begins what the redactor puts in place of a secret, here and in the tools that stored the session."""

_ASSUMED_ROLES: dict[str, Role] = {
    "gotchas": "problem",
    "pitfalls": "problem",
    "preferences": "rule",
    "open-work": "open",
}
_TROUBLE = frozenset({"problem", "behaviour"})
_QUOTED_SPAN = re.compile(r"""(?<!\w)(["'])(?=\S)[^"']{12,}?\1(?!\w)""")
"""What a person quotes inside a sentence is not what they say."""

_TELLS_HOW = re.compile(
    r"^(?:(?:no|nope|wait|please|ok(?:ay)?|then|and|but|good|fine|right|yes|so|also|actually|just)[,.! ]+)*"
    r"(?:use|keep|put|name|call|leave|prefer|write|return|raise|log|reuse|follow|store|place|treat|split|pin|wrap|set|sort"
    r"|round|cap|limit|pass|group|read|take|send|count|make|let|mark|validate|prefix|never|always|don'?t|do not|stop)\b"
)
_CLAUSE_ENDS = re.compile(r"[,;:]\s|\s-+\s|\s(?:because|since|otherwise|so)\s")
_SHORTEST = 12
_LONGEST = 600
_FEWEST_TOPICAL_WORDS = 2


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence that may be a lesson. `role` says which part of a page it is; `cues` names why it was heard."""

    text: str
    kind: str
    role: Role
    score: float
    cues: tuple[str, ...]
    names: tuple[str, ...]


class Listener:
    """Scores sentences by `weights`. What it says of a sentence depends on no other."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._heard: dict[tuple[Voice, str], Triggers[Cue]] = {}
        self._discards: dict[Voice, Triggers[Discard]] = {}
        self._spoilers = Triggers([rule for rule in weights.discards if rule.spoils_all])

    def hear(self, sentence: str, voice: Voice, situation: str, *, assume: str | None = None) -> Heard | None:
        """What `sentence` is worth when `voice` says it in `situation`; `None` for what is no lesson.

        `assume` names the kind that the situation alone speaks for where no cue does.
        """
        if not _SHORTEST <= len(sentence) <= _LONGEST:
            return None
        lowered, said, words = _read(sentence)
        tried = self._cues_heard(voice, situation).worth_trying(lowered, words)
        if not (tried or assume):
            return None
        turn = len(lowered) if voice == "commit" and assume else _turning_point(lowered, voice)
        cues = _heard_of(tried, sentence, lowered, voice, turn)
        if not (cues or assume):
            return None
        kind, role, strength = self._strongest(cues, voice, assume)
        score = strength + self.weights.situations.get(situation, 0.0) * self.weights.voices[voice].get(kind, 1.0)
        if situation == "prompt" and role in _TROUBLE and not any(cue.role == "reason" for cue in cues):
            score -= self.weights.reported
        if score + self.weights.identifiers_at_most < self.weights.floor or self.unquotable(sentence):
            return None
        if _topical(said) < _FEWEST_TOPICAL_WORDS or self.ruled_out(lowered, words, voice) is not None:
            return None
        names = names_in(sentence)
        score += min(self.weights.identifiers_at_most, self.weights.identifier * len(names))
        score -= sum(
            penalty.weight
            for penalty in self.weights.penalties
            if penalty.heard_in(voice) and penalty.matches(lowered, said)
        )
        return Heard(sentence, kind, role, round(score, 3), tuple(cue.name for cue in cues), names)

    def may_matter(self, text: str) -> bool:
        """Whether it is worth taking `text` apart: quick, and never wrong about a text without a cue."""
        return self.weights.may_matter(straight(text).lower())

    def ruled_out(self, lowered: str, said: Set[str], voice: Voice) -> str | None:
        """The first rule of the weights file that says that a lower-case sentence is no lesson."""
        if voice not in self._discards:
            self._discards[voice] = self.weights.discards_heard(voice)
        tried = self._discards[voice].worth_trying(lowered, said)
        return next((rule.name for rule in tried if rule.find(lowered) is not None), None)

    def spoils(self, text: str) -> bool:
        """Whether `text` holds a mark after which none of it is to be believed."""
        lowered = straight(text).lower()
        tried = self._spoilers.worth_trying(lowered, frozenset(words_of(lowered)))
        return any(rule.find(lowered) is not None for rule in tried)

    def may_stand_beside(self, sentence: str, voice: Voice) -> bool:
        """Whether `sentence` may be quoted next to a lesson: whole, safe, and not itself ruled out."""
        if not _SHORTEST <= len(sentence) <= _LONGEST or self.unquotable(sentence):
            return False
        lowered, _, words = _read(sentence)
        return self.ruled_out(lowered, words, voice) is None

    def unquotable(self, sentence: str) -> bool:
        """Whether something was taken out of `sentence`, so that it says no longer what it said."""
        return _REDACTED in sentence

    def names_no_topic(self, subject: str) -> bool:
        """Whether a commit's bare subject is too general to be a title."""
        return self.weights.empty_subject.match(straight(subject).lower().strip()) is not None

    def says_what_was_done(self, sentence: str) -> bool:
        """Whether `sentence` opens with a verb of doing, as change notes do: it tells what, not why."""
        return self.weights.change_note.match(straight(sentence).lower()) is not None

    def takes_back(self, text: str) -> bool:
        """Whether a person's turn calls their one before it a joke or a slip."""
        return self.weights.taken_back.match(straight(text).lower().strip()) is not None

    def is_about_going_on(self, question: str, answer: str) -> bool:
        """Whether the agent only asked how to go on, or the answer chose nothing."""
        asked, chosen = straight(question).lower().strip(), straight(answer).lower().strip()
        return bool(self.weights.process_question.match(asked) or self.weights.empty_answer.match(chosen))

    def says_finished(self, sentence: str) -> bool:
        """Whether `sentence` says that something was completed."""
        if len(sentence) > _LONGEST:
            return False
        lowered, said, words = _read(sentence)
        if not any(rule.matches(lowered, words) for rule in self.weights.completions):
            return False
        return _topical(said) >= _FEWEST_TOPICAL_WORDS

    def _cues_heard(self, voice: Voice, situation: str) -> Triggers[Cue]:
        if (voice, situation) not in self._heard:
            self._heard[voice, situation] = self.weights.cues_heard(voice, situation)
        return self._heard[voice, situation]

    def _strongest(self, cues: Sequence[Cue], voice: Voice, assume: str | None) -> tuple[str, Role, float]:
        """The kind with the most to say for it, its role on a page, and how strongly.

        A reason supports whatever it is given for; it settles the kind only where nothing else is said.
        """
        trust = self.weights.voices[voice]
        claims = [cue for cue in cues if cue.role != "reason"]
        reasons = sum(cue.weight for cue in cues if cue.role == "reason")
        least = 0.0
        best: tuple[str, Role, float] = ("decisions", "decision", 0.0)
        if assume is not None:
            least = (self.weights.assumed + self.weights.second_cue * reasons) * trust.get(assume, 1.0)
            best = (assume, _ASSUMED_ROLES.get(assume, "decision"), least if not claims else 0.0)
        for kind in dict.fromkeys(cue.kind for cue in claims or (cues if assume is None else ())):
            own = sorted((cue for cue in claims or cues if cue.kind == kind), key=lambda cue: -cue.weight)
            beside = [cue for cue in cues if cue is not own[0]]
            more = sum(cue.weight * (1.0 if cue in own or cue.role == "reason" else 0.5) for cue in beside)
            strength = (own[0].weight + self.weights.second_cue * more) * trust.get(kind, 1.0)
            if strength > best[2]:
                best = (kind, own[0].role, strength)
        return best[0], best[1], max(best[2], least)


@lru_cache(maxsize=4096)
def _read(sentence: str) -> tuple[str, Sequence[str], frozenset[str]]:
    """A sentence in lower case, its words in order, and each of them once."""
    lowered = straight(sentence).lower()
    said = words_of(lowered)
    return lowered, said, frozenset(said)


def _heard_of(tried: Sequence[Cue], sentence: str, lowered: str, voice: Voice, turn: int) -> list[Cue]:
    """Which of the cues `tried` a sentence holds; trouble that is named behind `turn` counts as a reason."""
    own = _QUOTED_SPAN.sub(_blank, lowered) if voice == "person" else lowered
    cues: list[Cue] = []
    for cue in tried:
        match = cue.find(sentence if cue.cased else own)
        if match is not None:
            cues.append(_as_reason(cue) if match.start() > turn and cue.role in _TROUBLE else cue)
    return cues


def _turning_point(lowered: str, voice: Voice) -> int:
    """Where a sentence turns from what it says to why: trouble that is named behind it is the reason, not the topic."""
    because = lowered.find(" because ")
    if voice == "commit" and because >= _SHORTEST:
        return because
    if voice in ("person", "answer") and _TELLS_HOW.match(lowered):
        clause = _CLAUSE_ENDS.search(lowered)
        return clause.start() if clause is not None else len(lowered)
    return len(lowered)


def _blank(quoted: re.Match[str]) -> str:
    return " " * len(quoted.group())


def _as_reason(cue: Cue) -> Cue:
    return cue.model_copy(update={"role": "reason", "kind": "decisions"})


def _topical(said: Collection[str]) -> int:
    return sum(1 for word in said if len(word) > 1 and word not in STOP_WORDS)
