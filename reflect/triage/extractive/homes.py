"""The existing page that a topic belongs on, where there is one."""

from __future__ import annotations

from collections.abc import Iterable

from reflect.model import PageSummary
from reflect.triage.extractive.history import REVERTS
from reflect.triage.extractive.topics import Topic, title_of
from reflect.triage.extractive.weights import Weights
from reflect.triage.routing import Hit, PageIndex
from reflect.triage.words import folded

_SHARED_WORDS = 2
_QUOTES_ASKED = 3
_WHOLE_TITLE = 4
_NEARLY_ALL = 0.85
_LINKED = 0.5


class Homes:
    """The live `pages` that may be added to."""

    def __init__(self, weights: Weights, pages: Iterable[PageSummary]) -> None:
        self._weights = weights
        self.pages = tuple(sorted(pages, key=lambda page: page.path))
        self._index = PageIndex(self.pages)
        self._by_title = {folded(page.title): page for page in reversed(self.pages)}
        self._by_source = {source.id: page for page in reversed(self.pages) for source in page.sources}

    def of(self, topic: Topic) -> PageSummary | None:
        """The page that rests on a commit `topic` reverts, its title's twin, or the first that fits; else `None`."""
        for signal in (signal for finding in topic.findings for signal in finding.signals):
            if signal.startswith(REVERTS) and (page := self._by_source.get(signal.removeprefix(REVERTS))) is not None:
                return page
        title = title_of(topic.findings)
        if (twin := self._by_title.get(folded(title))) is not None:
            return twin
        said = " ".join(dict.fromkeys([title, *(finding.quote for finding in topic.findings[:_QUOTES_ASKED])]))
        named = topic.checkpoints_named
        return next(
            (hit.page for hit in self._index.search(said) if self._fits(hit, linked=_rests_on(hit.page, named))), None
        )

    def _fits(self, hit: Hit, *, linked: bool) -> bool:
        """Whether a page is about the same thing: most of what is asked stands there, or its title is named.

        A whole title of several words is enough even beside much else; a page that rests on a checkpoint the topic's
        commits name needs half of all.
        """
        if len(hit.shared) < _SHARED_WORDS:
            return False
        part = _LINKED if linked else 1.0
        fit, title = self._weights.fit_high * part, self._weights.title_high * part
        if len(hit.shared) >= _WHOLE_TITLE and hit.title_share >= _NEARLY_ALL and hit.fit >= fit / 3:
            return True
        named = hit.title_share >= title and hit.fit >= fit / 2
        return named or (hit.fit >= fit and hit.title_share >= title / 2)


def _rests_on(page: PageSummary, checkpoints: frozenset[str]) -> bool:
    return any(source.id in checkpoints for source in page.sources)
