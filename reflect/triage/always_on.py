"""Whether a claim is phrased as something to follow always. The wording stands in `always_on.yaml`, by language.

Source: the scope table's always-on detector. It is made for recall: a false alarm costs one look by an operator, a miss
would let a rule into every future session without one. The phrasing never widens who may see a lesson.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict

_LEAD_IN = re.compile(r"^(?:(?:also|and|please|ok(?:ay)?|so|but|then|no|yes|just|now)[,:\s]+)+")
_FIRST_WORD = re.compile(r"[a-z]+")


class _Wording(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    phrases: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    imperatives: frozenset[str] = frozenset()

    @property
    def patterns(self) -> list[str]:
        words = (re.escape(phrase).replace(r"\ ", r"\s+").replace(r"\*", r"\w*") for phrase in self.phrases)
        return [rf"\b{word}\b" for word in words] + [re.escape(part) for part in self.parts]


def languages() -> tuple[str, ...]:
    """The codes of the languages whose wording is known."""
    return tuple(sorted(_wording()))


def is_always_on(claim: str, spoken: Iterable[str] | None = None) -> bool:
    """Whether `claim` is worded as a standing rule in one of the `spoken` languages (default: all known).

    An opening imperative counts too, in languages that list them. Unknown language codes count for nothing.
    """
    pattern, imperatives = _compiled(tuple(languages() if spoken is None else spoken))
    folded = claim.replace("’", "'").replace("‘", "'").casefold()
    if pattern.search(folded):
        return True
    word = _FIRST_WORD.match(_LEAD_IN.sub("", folded.strip()))
    return word is not None and word.group() in imperatives


@lru_cache(maxsize=1)
def _wording() -> dict[str, _Wording]:
    text = resources.files("reflect.triage").joinpath("always_on.yaml").read_text(encoding="utf-8")
    return {code: _Wording.model_validate(wording) for code, wording in yaml.safe_load(text).items()}


@lru_cache(maxsize=16)
def _compiled(spoken: tuple[str, ...]) -> tuple[re.Pattern[str], frozenset[str]]:
    known = [_wording()[code] for code in spoken if code in _wording()]
    patterns = [pattern for wording in known for pattern in wording.patterns]
    return re.compile("|".join(patterns) or r"(?!)"), frozenset().union(*(wording.imperatives for wording in known))
