"""Which of many rules are worth trying on a sentence: those of whose words it holds one, found without trying any."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Generic, Protocol, TypeVar


class _Rule(Protocol):
    @property
    def words(self) -> frozenset[str]: ...

    @property
    def parts(self) -> tuple[str, ...]: ...


RuleT = TypeVar("RuleT", bound=_Rule)


class Triggers(Generic[RuleT]):
    """An index over `rules`: by word, by piece of a word, and those that name neither and are always worth trying."""

    def __init__(self, rules: Sequence[RuleT]) -> None:
        self._rules = tuple(rules)
        self._always = tuple(number for number, rule in enumerate(rules) if not rule.words and not rule.parts)
        self._parts = tuple((part, number) for number, rule in enumerate(rules) for part in rule.parts)
        by_word: dict[str, list[int]] = {}
        for number, rule in enumerate(rules):
            for word in rule.words:
                by_word.setdefault(word, []).append(number)
        self._by_word = {word: tuple(numbers) for word, numbers in by_word.items()}
        self.words = frozenset(self._by_word)

    def worth_trying(self, lowered: str, said: Set[str]) -> list[RuleT]:
        """The rules that a lower-case text of the words `said` may set off, in their order."""
        numbers = set(self._always)
        for word in said & self.words:
            numbers.update(self._by_word[word])
        for part, number in self._parts:
            if part in lowered:
                numbers.add(number)
        return [self._rules[number] for number in sorted(numbers)] if numbers else []

    def any_part_in(self, lowered: str) -> bool:
        return any(part in lowered for part, _ in self._parts)
