"""What two judges said of the same cards: shares, how far they agree beyond chance, and where they do not."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.usefulness.cards import CONTROL
from reflect.errors import ReflectError

Verdicts = Mapping[tuple[str, str], tuple[bool, str]]
"""(card, item) to whether it is worth keeping, and why not. `item` is `card` or the number of a statement."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges on one kind of item. `both` counts what both keep, `either` what at least one keeps."""

    items: int
    first: int
    second: int
    both: int
    either: int

    @property
    def kappa(self) -> float:
        """Cohen's kappa: 1 where they always agree, 0 where no more than chance would have it."""
        if not self.items:
            return 0.0
        agreed = (self.both + self.items - self.either) / self.items
        one, two = self.first / self.items, self.second / self.items
        chance = one * two + (1 - one) * (1 - two)
        return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)

    def kept(self, count: int) -> float:
        """`count` as a share of all items; 0 where there are none."""
        return count / self.items if self.items else 0.0

    def share(self, count: int) -> str:
        return f"{count} of {self.items} ({self.kept(count):.0%})" if self.items else "none"


def read_verdicts(path: Path) -> Verdicts:
    """Read a judge's CSV; raises `ReflectError` naming the line that is not a verdict."""
    verdicts: dict[tuple[str, str], tuple[bool, str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            if row.get("verdict") not in ("0", "1") or not row.get("card") or not row.get("item"):
                raise ReflectError(f"{path}, line {number}: not `card,item,verdict,why` with a verdict of 0 or 1.")
            verdicts[row["card"], row["item"]] = row["verdict"] == "1", row.get("why") or ""
    return verdicts


def agreement(one: Verdicts, two: Verdicts, origins: Mapping[str, str], *, cards: bool, controls: bool) -> Agreement:
    """How two judges see the cards, or the statements, of pages or of controls. Both must have judged every one."""
    keys = [key for key in one if (key[1] == "card") is cards and (origins[key[0]] == CONTROL) is controls]
    pairs = [(one[key][0], two[key][0]) for key in keys]
    return Agreement(
        items=len(pairs),
        first=sum(a for a, _ in pairs),
        second=sum(b for _, b in pairs),
        both=sum(a and b for a, b in pairs),
        either=sum(a or b for a, b in pairs),
    )


def disagreements(one: Verdicts, two: Verdicts, origins: Mapping[str, str]) -> list[str]:
    """One line for each item the judges see differently, with the reason of the one who would not keep it."""
    return [
        f"card {card} ({origins[card]}), {'the card' if item == 'card' else f'statement {item}'}: "
        f"{one[card, item][1] or two[card, item][1]}"
        for card, item in one
        if one[card, item][0] != two[card, item][0]
    ]


def unjudged(one: Verdicts, two: Verdicts) -> list[tuple[str, str]]:
    """What only one of the two has judged."""
    return sorted(one.keys() ^ two.keys())
