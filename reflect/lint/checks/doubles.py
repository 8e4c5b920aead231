"""Pages that are one page twice: by name, or by what they say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

from reflect.lint.catalogue import DUPLICATE, TWIN
from reflect.lint.finding import LintFinding
from reflect.lint.view import Contents, WikiView
from reflect.triage.words import terms
from reflect.wiki.page import BANNER, MIXED_BANNER
from reflect.wiki.passages import quote_key
from reflect.wiki.paths import canonical_key

_LONG_ENOUGH = 30
"""Characters from which a line states something that two pages share by more than chance."""

_MOSTLY = 0.6
_FEWEST_SHARED = 2
_COMMON = 12
"""A line on more pages than this is a formula of the house, not a doubled statement."""

_FEWEST_WORDS = 3


def twins(view: WikiView) -> Iterator[LintFinding]:
    """Pages whose names differ only by case, separator or Unicode form."""
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(view.state.paths):
        by_key[canonical_key(path)].append(path)
    for first, *others in by_key.values():
        for other in others:
            yield TWIN.found(other, f"`{first}` has the same name to some systems.")


def duplicates(view: WikiView) -> Iterator[LintFinding]:
    """Pairs of active pages of which most of the smaller one stands on the other, or that have one title."""
    said = {path: _statements(view.contents[path]) for path in view.active}
    alike = (
        (one, other, shared)
        for (one, other), shared in _shared(said).items()
        if shared >= max(_FEWEST_SHARED, _MOSTLY * min(len(said[one]), len(said[other])))
    )
    for one, other, shared in sorted(alike):
        yield DUPLICATE.found(other, f"{shared} of its {len(said[other])} statements stand on `{one}` too.")
    titles: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for path in view.active:
        words = frozenset(terms(view.pages[path].title))
        if len(words) >= _FEWEST_WORDS and not view.contents[path].summary.digest:
            titles[words].append(path)
    for first, *others in titles.values():
        for other in others:
            yield DUPLICATE.found(other, f"`{first}` has the same title in other words' order.")


def _statements(contents: Contents) -> frozenset[str]:
    long = (line for _, line in contents.lines if len(line) >= _LONG_ENOUGH and not line.startswith("#"))
    keys = (quote_key(line) for line in long)
    return frozenset(key for key in keys if len(key) >= _LONG_ENOUGH and key not in (BANNER, MIXED_BANNER))


def _shared(said: dict[str, frozenset[str]]) -> Counter[tuple[str, str]]:
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(said):
        for statement in said[path]:
            holders[statement].append(path)
    pairs: Counter[tuple[str, str]] = Counter()
    for paths in holders.values():
        if 1 < len(paths) <= _COMMON:
            pairs.update(combinations(paths, 2))
    return pairs
