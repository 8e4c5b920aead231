"""What already stands on a page, so that nothing is written twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from reflect.model import PageSummary
from reflect.triage.words import folded

_FEWEST_WORDS = 4


def already_on(quotes: Iterable[str], pages: Sequence[PageSummary]) -> dict[str, str]:
    """Each of `quotes` that stands word for word on one of `pages`, with that page's path.

    Markdown, case and punctuation are looked through. Only pages that hold a quote's longest word are compared.
    """
    wanted = {quote: folded(quote) for quote in quotes}
    by_anchor: dict[str, list[str]] = defaultdict(list)
    for quote, words in sorted(wanted.items()):
        if len(words.split()) >= _FEWEST_WORDS:
            by_anchor[max(words.split(), key=lambda word: (len(word), word))].append(quote)
    found: dict[str, str] = {}
    for page in sorted(pages, key=lambda page: page.path):
        if not by_anchor:
            break
        text = f" {folded(page.body)} "
        for anchor in sorted(by_anchor.keys() & set(text.split())):
            for quote in by_anchor[anchor]:
                if quote not in found and f" {wanted[quote]} " in text:
                    found[quote] = page.path
    return found
