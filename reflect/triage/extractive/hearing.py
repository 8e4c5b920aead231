"""What one sentence says to somebody who listens for lessons: which cues it holds, and what rules it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflect.triage.extractive.names import names_in
from reflect.triage.extractive.weights import Cue, Role, Voice, Weights
from reflect.triage.words import STOP_WORDS, straight

_REDACTED = "REDACTED"
"""Begins what the redactor puts in place of a secret, here and in the tools that stored the session."""

_ASSUMED_ROLES: dict[str, Role] = {
    "gotchas": "problem",
    "pitfalls": "problem",
    "preferences": "rule",
    "open-work": "open",
}
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
    """Scores sentences by `weights`. Holds no state between sentences."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def hear(self, sentence: str, voice: Voice, situation: str, *, assume: str | None = None) -> Heard | None:
        """What `sentence` is worth when `voice` says it in `situation`; `None` for what is no lesson.

        `assume` names the kind that the situation alone speaks for where no cue does.
        """
        if not _SHORTEST <= len(sentence) <= _LONGEST:
            return None
        lowered = straight(sentence).lower()
        cues = self._cues(sentence, lowered, voice, situation)
        if not (cues or assume) or self.unquotable(sentence) or self.ruled_out(lowered, voice) is not None:
            return None
        if _topical_words(lowered) < _FEWEST_TOPICAL_WORDS:
            return None
        names = names_in(sentence)
        kind, role, strength = self._strongest(cues, voice, assume)
        score = strength + self.weights.situations.get(situation, 0.0) * self.weights.voices[voice].get(kind, 1.0)
        score += min(self.weights.identifiers_at_most, self.weights.identifier * len(names))
        score -= sum(
            penalty.weight
            for penalty in self.weights.penalties
            if penalty.heard_in(voice) and penalty.pattern.search(lowered)
        )
        return Heard(sentence, kind, role, round(score, 3), tuple(cue.name for cue in cues), names)

    def ruled_out(self, lowered: str, voice: Voice) -> str | None:
        """The first rule of the weights file that says that a lower-case sentence is no lesson."""
        for rule in self.weights.discards:
            if rule.heard_in(voice) and rule.pattern.search(lowered):
                return rule.name
        return None

    def spoils(self, lowered: str) -> bool:
        """Whether a lower-case text holds a mark after which none of it is to be believed."""
        return any(rule.spoils_all and rule.pattern.search(lowered) for rule in self.weights.discards)

    def may_stand_beside(self, sentence: str, voice: Voice) -> bool:
        """Whether `sentence` may be quoted next to a lesson: whole, safe, and not itself ruled out."""
        if not _SHORTEST <= len(sentence) <= _LONGEST or self.unquotable(sentence):
            return False
        return self.ruled_out(straight(sentence).lower(), voice) is None

    def unquotable(self, sentence: str) -> bool:
        """Whether something was taken out of `sentence`, so that it says no longer what it said."""
        return _REDACTED in sentence

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
        lowered = straight(sentence).lower()
        if _topical_words(lowered) < _FEWEST_TOPICAL_WORDS:
            return False
        return any(rule.pattern.search(lowered) for rule in self.weights.completions)

    def _cues(self, sentence: str, lowered: str, voice: Voice, situation: str) -> list[Cue]:
        return [
            cue
            for cue in self.weights.cues_set_off(lowered)
            if cue.heard_in(voice)
            and (cue.situations is None or situation in cue.situations)
            and cue.pattern.search(sentence if cue.cased else lowered)
        ]

    def _strongest(self, cues: Sequence[Cue], voice: Voice, assume: str | None) -> tuple[str, Role, float]:
        """The kind with the most to say for it, its role on a page, and how strongly.

        A reason supports whatever it is given for; it settles the kind only where nothing else is said.
        """
        trust = self.weights.voices[voice]
        best: tuple[str, Role, float] = ("decisions", "decision", 0.0)
        if assume is not None:
            best = (assume, _ASSUMED_ROLES.get(assume, "decision"), self.weights.assumed * trust.get(assume, 1.0))
        claims = [cue for cue in cues if cue.role != "reason"]
        for kind in dict.fromkeys(cue.kind for cue in claims or cues):
            own = sorted((cue for cue in claims or cues if cue.kind == kind), key=lambda cue: -cue.weight)
            beside = [cue for cue in cues if cue is not own[0]]
            more = sum(cue.weight * (1.0 if cue in own or cue.role == "reason" else 0.5) for cue in beside)
            strength = (own[0].weight + self.weights.second_cue * more) * trust.get(kind, 1.0)
            if strength > best[2]:
                best = (kind, own[0].role, strength)
        return best


def _topical_words(lowered: str) -> int:
    return sum(1 for word in lowered.split() if word.strip(".,;:!()'\"") not in STOP_WORDS and len(word) > 1)
