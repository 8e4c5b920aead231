"""The weights file holds what it says it holds."""

from __future__ import annotations

import pytest

from reflect.errors import ConfigurationError
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.extractive.weights import Cue, Weights, load_weights, words_of
from reflect.triage.words import straight

WEIGHTS = load_weights()


@pytest.mark.parametrize("cue", WEIGHTS.cues, ids=lambda cue: cue.name)
def test_every_cue_hears_its_own_example(cue: Cue) -> None:
    lowered = straight(cue.like).lower()
    assert cue in WEIGHTS.cues_set_off(lowered, words_of(lowered))
    assert cue.pattern.search(cue.like if cue.cased else lowered)


@pytest.mark.parametrize("cue", WEIGHTS.cues, ids=lambda cue: cue.name)
def test_no_rule_discards_the_example_of_a_cue(cue: Cue) -> None:
    lowered = straight(cue.like).lower()
    discarded = [
        rule.name
        for rule in WEIGHTS.discards
        if rule.matches(lowered, words_of(lowered))
        and (rule.voices is None or cue.voices is None or rule.voices & cue.voices)
    ]
    assert discarded == []


def test_names_are_unique_and_kinds_have_a_weight_for_every_voice() -> None:
    names = [cue.name for cue in WEIGHTS.cues]
    assert len(names) == len(set(names))
    kinds = {cue.kind for cue in WEIGHTS.cues}
    assert all(kinds <= trust.keys() for trust in WEIGHTS.voices.values())


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("publish", lambda weights: weights.publish),
        ("voices.person.gotchas", lambda weights: weights.voices["person"]["gotchas"]),
        ("situations.denial", lambda weights: weights.situations["denial"]),
        ("cues.silently", lambda weights: next(c.weight for c in weights.cues if c.name == "silently")),
    ],
)
def test_a_repository_may_set_its_own_numbers(key: str, read: object) -> None:
    assert callable(read)
    assert read(load_weights({key: 9.5})) == 9.5
    assert read(WEIGHTS) != 9.5


@pytest.mark.parametrize("key", ["publsh", "voices.nobody.gotchas", "cues.none", "cues", "voices.person", "a.b.c"])
def test_a_weight_that_does_not_exist_is_an_error_that_names_it(key: str) -> None:
    with pytest.raises(ConfigurationError, match=f"`weights.{key}`"):
        load_weights({key: 1.0})


def test_the_version_of_the_engine_follows_the_weights() -> None:
    assert ExtractiveEngine().version == ExtractiveEngine().version
    assert ExtractiveEngine({"publish": 9.5}).version != ExtractiveEngine().version


def test_weights_are_one_frozen_value() -> None:
    assert isinstance(WEIGHTS, Weights)
    assert load_weights() is WEIGHTS


RULES = [*WEIGHTS.cues, *WEIGHTS.discards, *WEIGHTS.penalties, *WEIGHTS.completions]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_that_is_tried_at_the_beginning_alone_can_stand_nowhere_else(rule: Cue) -> None:
    texts = [straight(cue.like).lower() for cue in WEIGHTS.cues]
    texts += [f"we know that {text}" for text in texts]
    for text in texts:
        assert (rule.find(text) is None) == (rule.pattern.search(text) is None)


def test_what_is_worth_trying_is_all_that_can_match() -> None:
    index = WEIGHTS.discards_heard("person")
    for text in (straight(cue.like).lower() for cue in WEIGHTS.cues):
        words = words_of(text)
        tried = index.worth_trying(text, frozenset(words))
        assert [rule for rule in tried if rule.find(text)] == [
            rule for rule in WEIGHTS.discards if rule.heard_in("person") and rule.matches(text, words)
        ]
