"""The weights file, parsed once: what the engine listens for and how much it believes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from reflect.errors import ConfigurationError

Voice = Literal["person", "answer", "commit", "assistant", "summary"]
Role = Literal["decision", "reason", "problem", "rule", "open", "structure", "behaviour"]

_BETWEEN_WORDS = {ord(mark): " " for mark in '!"#$%&()*+,./:;<=>?@[\\]^`{|}~\t\n\r'} | {ord("—"): " ", ord("–"): " "}


class _Listed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pattern: re.Pattern[str]
    voices: frozenset[Voice] | None = None

    @field_validator("pattern", mode="before")
    @classmethod
    def _compiled(cls, value: Any) -> re.Pattern[str]:
        return re.compile(value)

    def heard_in(self, voice: Voice) -> bool:
        return self.voices is None or voice in self.voices


class Cue(_Listed):
    """One wording that speaks for one kind of knowledge. See `weights.yaml` for what the fields mean."""

    kind: str
    role: Role
    weight: float
    words: frozenset[str]
    any_word_ending: tuple[str, ...] = ()
    situations: frozenset[str] | None = None
    cased: bool = False
    like: str

    @field_validator("words", mode="before")
    @classmethod
    def _split(cls, value: str) -> frozenset[str]:
        return frozenset(value.split())


class Discard(_Listed):
    """A wording that rules a sentence out; with `spoils_all` it rules out everything said in the same breath."""

    spoils_all: bool = False


class Penalty(_Listed):
    weight: float


class Weights(BaseModel):
    """Everything tunable of the extractive engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    floor: float
    publish: float
    update: float
    review: float
    independent: float
    each_more: float
    second_cue: float
    assumed: float
    identifier: float
    identifiers_at_most: float
    review_per_evidence: int = Field(ge=0)
    digest_entries: int = Field(ge=1)
    digest_entries_per_run: int = Field(ge=0)
    findings_per_evidence: int = Field(ge=1)
    fit_high: float
    title_high: float
    same_topic: float
    voices: dict[Voice, dict[str, float]]
    situations: dict[str, float]
    cues: tuple[Cue, ...]
    discards: tuple[Discard, ...]
    penalties: tuple[Penalty, ...]
    completions: tuple[_Listed, ...]
    taken_back: re.Pattern[str]
    change_note: re.Pattern[str]
    process_question: re.Pattern[str]
    empty_answer: re.Pattern[str]

    @cached_property
    def cues_by_word(self) -> dict[str, tuple[Cue, ...]]:
        """The cues that each word may set off."""
        by_word: dict[str, list[Cue]] = {}
        for cue in self.cues:
            for word in cue.words:
                by_word.setdefault(word, []).append(cue)
        return {word: tuple(cues) for word, cues in by_word.items()}

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.cues_by_word)

    def cues_set_off(self, lowered: str) -> list[Cue]:
        """The cues worth trying on a lower-case sentence, in the order of the file."""
        said = lowered.translate(_BETWEEN_WORDS).split()
        found = self.words.intersection(said)
        cues = {cue.name: cue for word in found for cue in self.cues_by_word[word]}
        for cue in self._by_ending:
            if any(word.endswith(cue.any_word_ending) for word in said):
                cues[cue.name] = cue
        return [cue for cue in self.cues if cue.name in cues] if cues else []

    @cached_property
    def _by_ending(self) -> tuple[Cue, ...]:
        return tuple(cue for cue in self.cues if cue.any_word_ending)


def load_weights(overrides: Mapping[str, float] | None = None) -> Weights:
    """The weights of the product with a repository's own numbers over them.

    A key is a number at the top of the file (`publish`), `voices.<voice>.<kind>`, `situations.<name>` or `cues.<name>`.

    Raises:
        ConfigurationError: a key names nothing, or its value cannot be used.
    """
    return _weights(tuple(sorted((overrides or {}).items())))


def weights_text() -> str:
    """The weights file as it was shipped."""
    return resources.files("reflect.triage.extractive").joinpath("weights.yaml").read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def _weights(overrides: tuple[tuple[str, float], ...]) -> Weights:
    tree = yaml.safe_load(weights_text())
    for key, value in overrides:
        _set(tree, key, value)
    try:
        return Weights.model_validate(tree)
    except ValidationError as error:
        raise ConfigurationError(f"`weights` in config.yaml cannot be used: {error}; nothing was changed.") from error


def _set(tree: dict[str, Any], key: str, value: float) -> None:
    *folders, last = key.split(".")
    place: Any = tree
    if folders == ["cues"]:
        place, last = next((cue for cue in tree["cues"] if cue["name"] == last), None), "weight"
    else:
        for folder in folders:
            place = place.get(folder) if isinstance(place, dict) else None
    if not isinstance(place, dict) or not isinstance(place.get(last), int | float):
        raise ConfigurationError(f"`weights.{key}` in config.yaml names no weight; nothing was changed.")
    place[last] = value
