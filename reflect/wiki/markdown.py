"""The little of CommonMark that pages need: where headings are, and text that stays text whatever it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from reflect.folding import fold as fold

_OPENERS = "`~<"
"""What a line has to begin with to open a block that lasts longer than the line."""

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r"[ \t]*$| {0,3}(?:#{1,6}(?:[ \t]|$)|>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|<)")
_INDENTED = re.compile(r" {4}|\t")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_HTML = re.compile(r" {0,3}<(?:(!--)|(?:(script|pre|style|textarea)(?:[\s>]|$)))", re.IGNORECASE)

_ESCAPE_OR_TICKS = re.compile(r"\\[!-/:-@\[-`{-~]|(`+)")
_TICKS = re.compile(r"`+")
_TAG_START = re.compile(r"(?<!\\)((?:\\\\)*)(?=<[A-Za-z/!?])")
_IMAGE_START = re.compile(r"(?<!\\)((?:\\\\)*)!(?=\[)")
_STARTS_BLOCK = re.compile(
    r"(?:#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|~{3}|=+\s*$|-+\s*$|`{3,}(?=[^`]*$)|\[(?=.*\]:)|\[!)|(\d{1,9})(?=[.)](?:\s|$))"
)
_START_ESCAPE = re.compile(r"^(\d{1,9}(?=\\[.)]))?\\")
_TEXT_ESCAPE = re.compile(r"\\(?=<[A-Za-z/!?]|!\[)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PUNCTUATION_BEHIND = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\\$")
_SPECIAL = re.compile(r"([`\[\]<])")
_CLOSING_MARKS = re.compile(r"(?<!\S)(#+)$")


@dataclass(frozen=True, slots=True)
class Heading:
    """`text` is unescaped; `line` and `end` are the first line and the one behind the last, zero-based."""

    level: int
    text: str
    line: int
    end: int


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their ends; only what Markdown calls a line end is one."""
    return list(StringIO(text, newline=""))


def plain_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Number and text of every line outside code fences, comments and preformatted HTML."""
    until: re.Pattern[str] | None = None
    for number, raw in enumerate(lines):
        line = raw.rstrip("\r\n")
        if until is not None:
            if until.search(line):
                until = None
            continue
        start = line.lstrip(" ")
        if start and start[0] in _OPENERS:
            until = _opened_by(line)
        if until is None:
            yield number, line


def left_open(lines: Sequence[str]) -> bool:
    """Whether a code fence or comment in `lines` is never closed, so that what follows it would not be read."""
    return not any(number == len(lines) for number, _ in plain_lines([*lines, "x"]))


def headings(lines: Sequence[str]) -> tuple[Heading, ...]:
    """Every heading of `lines`, in order, those underlined with `===` or `---` too."""
    found: list[Heading] = []
    paragraph: tuple[int, str] | None = None
    for number, line in plain_lines(lines):
        if match := _HEADING.match(line):
            found.append(Heading(len(match[1]), unescape((match[2] or "").strip()), number, number + 1))
            paragraph = None
        elif paragraph and paragraph[0] == number - 1 and (match := _UNDERLINE.match(line)):
            level = 1 if match[1].startswith("=") else 2
            found.append(Heading(level, unescape(paragraph[1].strip()), paragraph[0], number + 1))
            paragraph = None
        else:
            goes_on = paragraph is not None and paragraph[0] == number - 1 and _INDENTED.match(line) is not None
            ends = is_rule(line) or _NO_PARAGRAPH.match(line) or (_INDENTED.match(line) and not goes_on)
            paragraph = None if ends else (number, line)
    return tuple(found)


def is_rule(line: str) -> bool:
    return _RULE.match(line.rstrip("\r\n")) is not None


def is_underline(line: str) -> bool:
    """Whether `line`, below a paragraph, would make a heading of it."""
    return _UNDERLINE.match(line.rstrip("\r\n")) is not None


def as_text(text: str) -> str:
    """`text` on one line, such that it is a paragraph and nothing else wherever a block may begin.

    Only a backslash is ever added: before what would open a heading, list, quote, fence, definition, tag, comment or
    image. Everything else stands as it was.
    """
    line = fold(text)
    line = _around(line, code_spans(line), _harmless)
    opens = _STARTS_BLOCK.match(line)
    if opens is None:
        return line
    at = opens.end(1) if opens[1] else 0
    return f"{line[:at]}\\{line[at:]}"


def as_said(line: str) -> str:
    """The text that `as_text` made `line` from; `line` itself where it was not made by it."""
    for start in (_START_ESCAPE.sub(r"\1", line), line):
        said = _around(start, code_spans(start), lambda part: _TEXT_ESCAPE.sub("", part))
        if as_text(said) == line:
            return said
    return line


def as_heading(text: str) -> str:
    """`text` as the text of a heading or of a link: reading it back gives `fold(text)`. Code spans stay code."""
    line = fold(text)
    spans = [] if "\\" in line else code_spans(line)
    written = _around(line, spans, lambda part: _SPECIAL.sub(r"\\\1", _PUNCTUATION_BEHIND.sub(r"\\\\", part)))
    return _CLOSING_MARKS.sub(r"\\\1", written)


def unescape(text: str) -> str:
    """`text` as a reader sees it: without the backslashes before punctuation, code spans left alone."""
    if "\\" not in text:
        return text
    return _around(text, code_spans(text), lambda part: _ESCAPED.sub(r"\1", part))


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where the code spans of one line begin and end, backticks included."""
    if "`" not in text:
        return []
    found: list[tuple[int, int]] = []
    at = 0
    while opening := _ESCAPE_OR_TICKS.search(text, at):
        at = opening.end()
        if not opening[1]:
            continue
        for closing in _TICKS.finditer(text, at):
            if len(closing.group()) == len(opening[1]):
                at = closing.end()
                found.append((opening.start(), at))
                break
    return found


def _around(text: str, spans: Sequence[tuple[int, int]], change: Callable[[str], str]) -> str:
    """`text` with `change` made to what lies outside `spans`."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += [change(text[at:start]), text[start:end]]
        at = end
    return "".join([*pieces, change(text[at:])])


def _harmless(text: str) -> str:
    return _IMAGE_START.sub(r"\1\\!", _TAG_START.sub(r"\1\\", text))


def _opened_by(line: str) -> re.Pattern[str] | None:
    """What ends the block that `line` opens; None where it opens none that lasts longer than the line."""
    if fence := _FENCE.match(line):
        mark = fence[1]
        return re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    if html := _HTML.match(line):
        end = re.compile("-->") if html[1] else re.compile(rf"</{html[2]}>", re.IGNORECASE)
        return None if end.search(line, html.end()) else end
    return None
