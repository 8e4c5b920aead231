"""The weights file, parsed once: what the engine listens for and how much it believes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from reflect.errors import ConfigurationError

Voice = Literal["person", "answer", "commit", "assistant", "summary"]
Role = Literal["decision", "reason", "problem", "rule", "open", "structure", "behaviour"]

_MARKS = b'!"#$%&()*+,./:;<=>?@[\\]^`{|}~\t\n\r'
_BETWEEN_WORDS = bytes.maketrans(_MARKS, b" " * len(_MARKS))


class _Listed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pattern: re.Pattern[str]
    words: frozenset[str] = frozenset()
    voices: frozenset[Voice] | None = None

    @field_validator("words", mode="before")
    @classmethod
    def _split(cls, value: str) -> frozenset[str]:
        return frozenset(value.split())

    @field_validator("pattern", mode="before")
    @classmethod
    def _compiled(cls, value: Any) -> re.Pattern[str]:
        return re.compile(value)

    def heard_in(self, voice: Voice) -> bool:
        return self.voices is None or voice in self.voices

    def matches(self, lowered: str, said: Collection[str]) -> bool:
        """Whether a lower-case sentence of the words `said` holds the wording."""
        return (not self.words or not self.words.isdisjoint(said)) and self.pattern.search(lowered) is not None


class Cue(_Listed):
    """One wording that speaks for one kind of knowledge. See `weights.yaml` for what the fields mean."""

    kind: str
    role: Role
    weight: float
    parts: tuple[str, ...] = ()
    situations: frozenset[str] | None = None
    cased: bool = False
    like: str


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
    reported: float
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
    empty_subject: re.Pattern[str]
    process_question: re.Pattern[str]
    empty_answer: re.Pattern[str]

    @cached_property
    def cues_by_word(self) -> dict[str, tuple[int, ...]]:
        """The numbers of the cues that each word may set off."""
        by_word: dict[str, list[int]] = {}
        for number, cue in enumerate(self.cues):
            for word in cue.words:
                by_word.setdefault(word, []).append(number)
        return {word: tuple(numbers) for word, numbers in by_word.items()}

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that may set off a cue or say that something is finished."""
        return frozenset(self.cues_by_word).union(*(rule.words for rule in self.completions))

    @cached_property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Pieces of words that set off a cue, with its number."""
        return tuple((part, number) for number, cue in enumerate(self.cues) for part in cue.parts)

    def may_matter(self, lowered: str) -> bool:
        """Whether any sentence of a lower-case text can set off anything."""
        return not self.words.isdisjoint(words_of(lowered)) or any(part in lowered for part, _ in self.parts)

    def cues_set_off(self, lowered: str, said: Collection[str]) -> list[Cue]:
        """The cues worth trying on a lower-case sentence of the words `said`, in the order of the file."""
        numbers = {number for word in said if word in self.cues_by_word for number in self.cues_by_word[word]}
        numbers.update(number for part, number in self.parts if part in lowered)
        return [self.cues[number] for number in sorted(numbers)]


def words_of(lowered: str) -> list[str]:
    """The words of a lower-case text, punctuation aside."""
    return lowered.encode("utf-8", "replace").translate(_BETWEEN_WORDS).decode().split()


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
