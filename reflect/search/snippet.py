"""The part of a text that answers a question, with what matched marked."""

from __future__ import annotations

import re
import unicodedata

from reflect.search.words import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "**"
WIDTH = 220
_STEM = 4
_LONGEST_TEXT = 60_000
_SPACES = re.compile(r"\s+")


def snippet(text: str, terms: Sequence[Sequence[str]], width: int = WIDTH) -> str:
    """At most about `width` characters of `text` on one line, around the place where most of `terms` stand close.

    Each match stands between two `**`. The beginning of the text where none is found in it.
    """
    line = _SPACES.sub(" ", text[:_LONGEST_TEXT]).strip()
    spans = _matches(line, terms)
    if not spans:
        return _cut(line, 0, width, [])
    start = _best_start(spans, width)
    return _cut(line, start, width, spans)


def _matches(line: str, terms: Sequence[Sequence[str]]) -> list[tuple[int, int, int]]:
    """Where terms stand: start, end, and which term, in order of place and without overlap."""
    folded, places = _folded_with_places(line)
    spans: list[tuple[int, int, int]] = []
    for number, term in enumerate(terms):
        for match in _pattern(term).finditer(folded):
            spans.append((places[match.start()], places[match.end() - 1] + 1, number))
    kept: list[tuple[int, int, int]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _pattern(term: Sequence[str]) -> re.Pattern[str]:
    """The term as it may stand in a text: parts joined by signs or by nothing, and an English word with its endings."""
    if len(term) == 1 and len(term[0]) > _STEM and term[0].isascii() and term[0].isalpha():
        stem = re.sub(r"(?:ies|ied|ing|ed|es|s|e|y)$", "", term[0])
        return re.compile(rf"(?<![^\W_]){'_?'.join(stem)}[a-z]{{0,4}}(?![^\W_])")
    written = r"[\W_]{0,3}".join(re.escape(word) for word in term)
    return re.compile(rf"(?<![^\W_]){written}s?(?![^\W_])" if written.isascii() and term[-1].isalnum() else written)


def _folded_with_places(line: str) -> tuple[str, Sequence[int]]:
    if line.isascii():
        return line.lower(), range(len(line))
    parts: list[str] = []
    places: list[int] = []
    for place, char in enumerate(line):
        folded = char.lower() if char.isascii() else fold(char)
        if unicodedata.combining(char) and not folded:
            continue
        parts.append(folded)
        places += [place] * len(folded)
    return "".join(parts), places


def _best_start(spans: Sequence[tuple[int, int, int]], width: int) -> int:
    def different(at: int) -> int:
        begin = spans[at][0]
        return len({number for start, end, number in spans[at : at + 40] if end <= begin + width - 40})

    best = max(range(min(len(spans), 400)), key=lambda at: (different(at), -at))
    return max(0, spans[best][0] - 40)


def _cut(line: str, start: int, width: int, spans: Sequence[tuple[int, int, int]]) -> str:
    end = min(len(line), start + width)
    if start and (space := line.find(" ", start, start + 30)) >= 0:
        start = space + 1
    if end < len(line) and (space := line.rfind(" ", max(start, end - 30), end)) > start:
        end = space
    parts: list[str] = []
    at = start
    for begin, stop, _ in spans:
        if begin < start or stop > end:
            continue
        parts += (line[at:begin], MARK, line[begin:stop], MARK)
        at = stop
    parts.append(line[at:end])
    return ("…" if start else "") + "".join(parts) + ("…" if end < len(line) else "")
