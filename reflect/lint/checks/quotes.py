"""Whether every quote stands, word for word, in what it cites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reflect.configuration import Config
from reflect.evidence.checkpoints import read_stored
from reflect.evidence.redaction import Redactor
from reflect.evidence.reread import commit_words, session_words
from reflect.lint.catalogue import LOST_QUOTE
from reflect.lint.evidence import Sources
from reflect.lint.finding import LintFinding
from reflect.lint.verified import Verified, verified_key
from reflect.lint.view import WikiView, body_line
from reflect.model import CommitSha, EvidenceId, Source, SourceKind
from reflect.wiki.markdown import fold
from reflect.wiki.page import Page
from reflect.wiki.passages import CitedQuote, cited_quotes, quote_key

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class _Asked:
    """One quote to look for, in the evidence it cites that can be read."""

    page: Page
    quote: CitedQuote
    checkpoints: frozenset[str]
    commits: frozenset[str]
    key: str


def lost(view: WikiView, sources: Sources, config: Config, verified: Verified) -> Iterator[LintFinding]:
    """Every quote that is in none of the sources it cites.

    A quote with a source that does not exist is that source's finding, not this one's. What was found by an earlier
    lint is not looked for again; evidence is read only for the rest.
    """
    asked = [one for page in view.standing for one in _asked(page, sources)]
    unknown = [one for one in asked if one.key not in verified]
    found = _found(unknown, sources, config) if unknown else set()
    for one in unknown:
        if one.key not in found:
            text = fold(one.quote.text)
            said = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
            cited = ", ".join(map(str, one.quote.sources))
            yield LOST_QUOTE.found(
                one.page.path, f"“{said}” does not stand in {cited}.", body_line(one.page, one.quote.line)
            )
    verified.keep(one.key for one in asked if one.key in verified or one.key in found)


def _asked(page: Page, sources: Sources) -> Iterator[_Asked]:
    for quote in cited_quotes(page.body):
        if not all(map(sources.reachable, quote.sources)):
            continue
        checkpoints = frozenset(one.id for one in quote.sources if one.kind is SourceKind.CHECKPOINT)
        commits = frozenset(filter(None, (_full(one, sources) for one in quote.sources)))
        contents = [_content(checkpoint, sources) for checkpoint in checkpoints]
        yield _Asked(page, quote, checkpoints, commits, verified_key([*contents, *commits], quote.text))


def _full(source: Source, sources: Sources) -> str | None:
    return sources.commit(source.id) if source.kind is SourceKind.COMMIT else None


def _content(checkpoint: str, sources: Sources) -> str:
    contents = sources.inventory.contents
    folders = (EvidenceId(f"{checkpoint}/{number}") for number in range(_folders(checkpoint, sources)))
    return "+".join(contents.get(folder, "") for folder in folders)


def _folders(checkpoint: str, sources: Sources) -> int:
    numbers = [number for number in range(64) if EvidenceId(f"{checkpoint}/{number}") in sources.inventory.contents]
    return max(numbers, default=-1) + 1


def _found(asked: Iterable[_Asked], sources: Sources, config: Config) -> set[str]:
    """The keys of the quotes that stand where they say they do, and of those nobody can look up."""
    by_source: defaultdict[str, list[_Asked]] = defaultdict(list)
    for one in asked:
        for source in one.checkpoints | one.commits:
            by_source[source].append(one)
    found: set[str] = set()
    redactor = Redactor(config.redact, keep=sources.inventory.checkpoints | frozenset(sources.commits))
    for source, words in _words(by_source, sources, redactor):
        said = None if words is None else quote_key(words)
        found |= {one.key for one in by_source[source] if said is None or quote_key(one.quote.text) in said}
    return found


def _words(wanted: Iterable[str], sources: Sources, redactor: Redactor) -> Iterator[tuple[str, str | None]]:
    names = frozenset(wanted)
    commits = sorted(names - sources.inventory.checkpoints)
    yield from commit_words(sources.git, [CommitSha(sha) for sha in commits], redactor).items()
    checkpoints = names & sources.inventory.checkpoints
    if checkpoints:
        with sources.git.objects() as reader:
            stored = read_stored(reader, sources.git, sources.git.refs())
            for folder, words in session_words(sources.git, reader, stored, checkpoints, redactor):
                yield folder.checkpoint, words
