"""Statements on a page: how one is written with what it rests on, and read back.

A quoted passage is one line: `> text (checkpoint 4ecb34b81a12, commit 993631c0abcd)`. One line keeps it greppable,
and a change of one passage a change of one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from reflect.model import Passage, Source, SourceKind
from reflect.wiki.markdown import as_said, as_text, fold, plain_lines, split_lines

_CHECKPOINT_ID = r"(?:[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})"
_COMMIT_ID = r"[0-9a-f]{6,40}"
_FIRST = rf"(?:checkpoint {_CHECKPOINT_ID}|commit {_COMMIT_ID})"
_CITED = rf"{_FIRST}(?:, (?:{_FIRST}|{_CHECKPOINT_ID}|{_COMMIT_ID}))*"
CITATION = re.compile(rf"\((?:{_CITED})\)")
_ONE = re.compile(r"(?:(checkpoint|commit) )?([0-9A-Za-z]+)")
_QUOTED = re.compile(r" {0,3}>[ \t]?")
_CITED_AT_END = re.compile(rf"\(({_CITED})\)[ \t]*$")


@dataclass(frozen=True, slots=True)
class CitedQuote:
    """A quoted passage as it is `written` on a page, with its citation. `line` is zero-based within the body."""

    written: str
    citation: str
    line: int

    @property
    def text(self) -> str:
        """Its words as they were said."""
        return as_said(self.written)

    @property
    def sources(self) -> tuple[Source, ...]:
        return read_citation(self.citation)


def sources_of(passage: Passage) -> tuple[Source, ...]:
    """What a passage cites, each once, in its own order."""
    return tuple(dict.fromkeys(Source.of(evidence) for evidence in passage.evidence_ids))


def citation(sources: Iterable[Source]) -> str:
    return f"({', '.join(str(source) for source in sources)})"


def render_passage(passage: Passage) -> str:
    """One line without its end: a quote with its citation, or the engine's own sentence with its citation."""
    line = f"{as_text(passage.text)} {citation(sources_of(passage))}"
    return f"> {line}" if passage.quoted else line


def quote_key(text: str) -> str:
    """What two writings of the same words share: white space folded, without the backslashes that keep text text."""
    return fold(text).replace("\\", "")


def cited_quotes(body: str) -> tuple[CitedQuote, ...]:
    """Every quoted passage of `body` that carries a citation."""
    return quotes_in(plain_lines(split_lines(body)))


def quotes_in(lines: Iterable[tuple[int, str]]) -> tuple[CitedQuote, ...]:
    """As `cited_quotes`, of the lines that `plain_lines` gives."""
    return tuple(_cited_quotes(lines))


def _cited_quotes(lines: Iterable[tuple[int, str]]) -> Iterator[CitedQuote]:
    for number, line in lines:
        if (opening := _QUOTED.match(line)) and (cited := _CITED_AT_END.match(line, line.rfind("("))):
            yield CitedQuote(line[opening.end() : cited.start()].strip(" \t"), cited[1], number)


def cited_sources(text: str) -> tuple[Source, ...]:
    """Everything that `text` cites inline, each once, in order of appearance."""
    citations = dict.fromkeys(CITATION.findall(text))
    return tuple(dict.fromkeys(source for citation in citations for source in read_citation(citation)))


@lru_cache(maxsize=4096)
def read_citation(text: str) -> tuple[Source, ...]:
    """`(checkpoint a, b, commit c)` as sources; an id without a word before it is of the kind of the one before."""
    kind = SourceKind.CHECKPOINT
    sources: list[Source] = []
    for match in _ONE.finditer(text.strip("()")):
        kind = SourceKind(match[1]) if match[1] else kind
        sources.append(Source(kind=kind, id=match[2]))
    return tuple(sources)


class Standing:
    """What a page says already, statement by statement."""

    def __init__(self, body: str) -> None:
        self._text = "\n".join(quote_key(block) for block in _blocks(body))

    def has(self, text: str) -> bool:
        """Whether `text` stands there as a statement of its own, however it is wrapped.

        Words inside a longer sentence do not count: `use tabs` is not what `never use tabs` says.
        """
        key = quote_key(text)
        at = self._text.find(key)
        while at >= 0:
            if _ENDS.search(self._text[:at][-2:]) and self._stops(at + len(key), key):
                return True
            at = self._text.find(key, at + 1)
        return False

    def add(self, text: str) -> None:
        self._text += "\n" + quote_key(text)

    def _stops(self, end: int, key: str) -> bool:
        return key.endswith(_SENTENCE_ENDS) or _BEGINS.match(self._text, end) is not None


_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
_ENDS = re.compile(r"(?:\A|\n|[.!?…)\]\"”»。！？] ?|[“\"«(] ?)\Z")
_BEGINS = re.compile(r"\Z|\n| ?[.!?…(\"”»。！？]")
_MARKER = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*(?:([-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?(#{1,6}[ \t]+)?")


def _blocks(body: str) -> Iterator[str]:
    """The statements of `body`: paragraphs, list items and headings without their marks, line breaks folded.

    The title states nothing: it has no source, so what it names still has to be said below it.
    """
    block: list[str] = []
    for raw in split_lines(body):
        marker = _MARKER.match(raw)
        is_title = marker is not None and marker[2] is not None and marker[2].strip() == "#"
        line = raw[marker.end() :].strip() if marker else raw.strip()
        if not line or (marker and (marker[1] or marker[2])):
            yield " ".join(block)
            block = []
        if line and not is_title:
            block.append(line)
    yield " ".join(block)
