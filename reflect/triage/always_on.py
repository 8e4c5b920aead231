"""Whether a claim is phrased as something to follow always. The wording stands in `always_on.yaml`, by language.

Source: the scope table's always-on detector. It is made for recall: a false alarm costs one look by an operator, a miss
would let a rule into every future session without one. The phrasing never widens who may see a lesson.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict

from reflect.triage.words import straight

_LEAD_IN = re.compile(r"^(?:(?:also|and|please|ok(?:ay)?|so|but|then|no|yes|just|now)[,:\s]+)+")
_WORD = re.compile(r"\w+(?:'\w+)?")
_FIRST_WORD = re.compile(r"[a-z]+")


class _Wording(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    phrases: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    imperatives: frozenset[str] = frozenset()

    def matches(self, folded: str, words: frozenset[str]) -> bool:
        """Whether a case-folded claim of these words holds a phrase, or opens with an imperative."""
        if any(part in folded for part in self.parts) or not words.isdisjoint(self._single_words):
            return True
        if any(pattern.search(folded) for first, pattern in self._longer if not first or first in words):
            return True
        opening = _FIRST_WORD.match(_LEAD_IN.sub("", folded.strip()))
        return opening is not None and opening.group() in self.imperatives

    @cached_property
    def _single_words(self) -> frozenset[str]:
        return frozenset(phrase for phrase in self.phrases if " " not in phrase and "*" not in phrase)

    @cached_property
    def _longer(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        """Phrases of several words or an open end, each with the word that must be there (none for an open end)."""
        longer = [phrase for phrase in self.phrases if phrase not in self._single_words]
        return tuple((phrase.split()[0] if "*" not in phrase else "", _compiled(phrase)) for phrase in longer)


def languages() -> tuple[str, ...]:
    """The codes of the languages whose wording is known."""
    return tuple(sorted(_wording()))


def is_always_on(claim: str, spoken: Iterable[str] | None = None) -> bool:
    """Whether `claim` is worded as a standing rule in one of the `spoken` languages (default: all known).

    An opening imperative counts too, in languages that list them. Unknown language codes count for nothing.
    """
    folded = straight(claim).casefold()
    wording = _together(tuple(languages() if spoken is None else spoken))
    return wording.matches(folded, frozenset(_WORD.findall(folded)))


@lru_cache(maxsize=16)
def _together(spoken: tuple[str, ...]) -> _Wording:
    """The wording of several languages as one."""
    known = [_wording()[code] for code in spoken if code in _wording()]
    return _Wording(
        phrases=tuple(phrase for wording in known for phrase in wording.phrases),
        parts=tuple(part for wording in known for part in wording.parts),
        imperatives=frozenset().union(*(wording.imperatives for wording in known)),
    )


@lru_cache(maxsize=1)
def _wording() -> dict[str, _Wording]:
    text = resources.files("reflect.triage").joinpath("always_on.yaml").read_text(encoding="utf-8")
    return {code: _Wording.model_validate(wording) for code, wording in yaml.safe_load(text).items()}


def _compiled(phrase: str) -> re.Pattern[str]:
    words = re.escape(phrase).replace(r"\ ", r"\s+").replace(r"\*", r"\w*")
    return re.compile(rf"\b{words}\b")
