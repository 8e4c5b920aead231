"""The weights file, parsed once: what the engine listens for and how much it believes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from reflect.errors import ConfigurationError
from reflect.triage.extractive.triggers import Triggers

Voice = Literal["person", "answer", "commit", "assistant", "summary"]
Role = Literal["decision", "reason", "problem", "rule", "open", "structure", "behaviour"]

_MARKS = b'!"#$%&()*+,./:;<=>?@[\\]^`{|}~\t\n\r'
_BETWEEN_WORDS = bytes.maketrans(_MARKS, b" " * len(_MARKS))


class _Listed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pattern: re.Pattern[str]
    words: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()
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

    @cached_property
    def find(self) -> Callable[[str], re.Match[str] | None]:
        """Looks for the wording: at the beginning alone where it can stand nowhere else."""
        return self.pattern.match if _only_at_the_beginning(self.pattern.pattern) else self.pattern.search

    def matches(self, lowered: str, said: Collection[str]) -> bool:
        """Whether a lower-case sentence of the words `said` holds the wording."""
        if self.words or self.parts:
            near = not self.words.isdisjoint(said) or any(part in lowered for part in self.parts)
            return near and self.find(lowered) is not None
        return self.find(lowered) is not None


class Cue(_Listed):
    """One wording that speaks for one kind of knowledge. See `weights.yaml` for what the fields mean."""

    kind: str
    role: Role
    weight: float
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
    def all_cues(self) -> Triggers[Cue]:
        return Triggers(self.cues)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that may set off a cue or say that something is finished."""
        return self.all_cues.words.union(*(rule.words for rule in self.completions))

    def may_matter(self, lowered: str) -> bool:
        """Whether any sentence of a lower-case text can set off anything."""
        return not self.words.isdisjoint(words_of(lowered)) or self.all_cues.any_part_in(lowered)

    def cues_set_off(self, lowered: str, said: Collection[str]) -> list[Cue]:
        """The cues worth trying on a lower-case sentence of the words `said`, in the order of the file."""
        return self.all_cues.worth_trying(lowered, frozenset(said))

    def cues_heard(self, voice: Voice, situation: str) -> Triggers[Cue]:
        """The cues that count when `voice` speaks in `situation`."""
        return Triggers(
            [
                cue
                for cue in self.cues
                if cue.heard_in(voice) and (cue.situations is None or situation in cue.situations)
            ]
        )

    def discards_heard(self, voice: Voice) -> Triggers[Discard]:
        """The rules that can rule out what `voice` says."""
        return Triggers([rule for rule in self.discards if rule.heard_in(voice)])


def words_of(lowered: str) -> list[str]:
    """The words of a lower-case text, punctuation aside."""
    return lowered.encode("utf-8", "replace").translate(_BETWEEN_WORDS).decode().split()


def _only_at_the_beginning(pattern: str) -> bool:
    """Whether every alternative of `pattern` begins with `^`: then there is no need to search further on."""
    depth, in_class, escaped, alternative = 0, False, False, True
    for at, char in enumerate(pattern):
        if alternative and not pattern.startswith("^", at):
            return False
        alternative = False
        if escaped or char == "\\":
            escaped = not escaped
        elif in_class or char == "[":
            in_class = char != "]"
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            alternative = True
    return not alternative


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
