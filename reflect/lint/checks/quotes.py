"""Whether every quote stands, word for word, in what it cites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from reflect.evidence.redaction import Redactor
from reflect.evidence.reread import words_of
from reflect.lint.catalogue import LOST_QUOTE
from reflect.lint.evidence import Sources
from reflect.lint.finding import LintFinding
from reflect.lint.verified import Verified, verified_key
from reflect.lint.view import WikiView, body_line
from reflect.model import SourceKind
from reflect.wiki.markdown import fold
from reflect.wiki.page import Page
from reflect.wiki.passages import CitedQuote, quote_key, read_citation

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class _Cited:
    """What one citation names, where all of it exists; `contents` are the hashes of what is stored there."""

    checkpoints: frozenset[str]
    commits: frozenset[str]
    contents: tuple[str, ...]

    @classmethod
    def of(cls, citation: str, sources: Sources) -> _Cited | None:
        named = read_citation(citation)
        if not all(map(sources.reachable, named)):
            return None
        checkpoints = frozenset(one.id for one in named if one.kind is SourceKind.CHECKPOINT)
        commits = frozenset(filter(None, (sources.commit(one.id) for one in named if one.kind is SourceKind.COMMIT)))
        stored = [content for one in checkpoints for content in sources.stored(one)]
        return cls(checkpoints, commits, tuple(sorted((*stored, *commits))))


@dataclass(frozen=True, slots=True)
class _Asked:
    """One quote to look for, in the evidence it cites."""

    page: Page
    quote: CitedQuote
    cited: _Cited
    key: str


def lost(view: WikiView, sources: Sources, redactor: Redactor, verified: Verified) -> Iterator[LintFinding]:
    """Every quote that is in none of the sources it cites.

    A quote with a source that does not exist is that source's finding, not this one's. What was found by an earlier
    lint is not looked for again; evidence is read only for the rest.
    """
    cited = cache(lambda citation: _Cited.of(citation, sources))
    asked = [
        _Asked(page, quote, evidence, verified_key(evidence.contents, quote.written))
        for page in view.standing
        for quote in view.contents[page.path].quotes
        if (evidence := cited(quote.citation)) is not None
    ]
    unknown = [one for one in asked if one.key not in verified]
    found = _found(unknown, sources, redactor) if unknown else set()
    for one in unknown:
        if one.key not in found:
            text = fold(one.quote.text)
            said = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
            named = ", ".join(map(str, one.quote.sources))
            yield LOST_QUOTE.found(
                one.page.path, f"“{said}” does not stand in {named}.", body_line(one.page, one.quote.line)
            )
    verified.keep(one.key for one in asked if one.key in verified or one.key in found)


def _found(asked: Iterable[_Asked], sources: Sources, redactor: Redactor) -> set[str]:
    """The keys of the quotes that stand where they say they do, and of those nobody can look up."""
    by_source: defaultdict[str, list[_Asked]] = defaultdict(list)
    for one in {one.key: one for one in asked}.values():
        for source in one.cited.checkpoints | one.cited.commits:
            by_source[source].append(one)
    found: set[str] = set()
    checkpoints = by_source.keys() & sources.inventory.checkpoints
    for evidence, words in words_of(sources.git, checkpoints, by_source.keys() - checkpoints, redactor):
        source = evidence.split("/")[0]
        said = None if words is None else quote_key(words)
        found |= {one.key for one in by_source[source] if said is None or quote_key(one.quote.written) in said}
    return found
