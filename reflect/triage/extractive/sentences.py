"""Prose out of what people, agents and commit messages wrote: paragraphs first, then whole sentences.

Quotes are made here, so nothing is rewritten: a sentence is the source's own characters with white space folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PASTED = 600
"""A turn with more characters of prose than this was not typed by hand."""

_TYPED_AT_ONCE = 80
"""A single line shorter than this is no paste, however it begins."""

_OWN_WORDS = 300
_ANNOUNCED = 200

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^\s*(?:[-*+•‣]|\(?\d{1,2}[.)]|\[[ xX]\])\s+")
_CHECKED = re.compile(r"^\s*(?:[-*+]\s+)?\[[xX]\]\s")
_NOT_PROSE = re.compile(
    r"""\s*(?:
        [|><]|\$\ |\#{1,6}\ |\+\+\+|---+|@@|={3,}|\*{3,}|_{3,}|[│├└┌╭╰─━═]  # tables, quotes, prompts, headings, diffs
        |diff\ --git|index\ [0-9a-f]{7}|Traceback|\^+\s*$|\s+at\ \S+\ ?\(|File\ "
        |\[?\d{4}-\d\d-\d\d[T\ ]\d|\[?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\]
        |(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b|E\ {2,}|error(?:\[E\d+\])?:\ |npm\ (?:ERR|error|warn)
        |(?:\w+\.)*\w*(?:Error|Exception|Warning):\ |Caused\ by:
        |(?:FAILED|PASSED|(?:not\ )?ok\ \d)\b|[\w./-]+:\d+:\d+|https?://\S+\s*$|[\w.-]+@[\w.-]+\s*$
        |[+-](?:\ {2,}|\t|\w+\(|import\ |def\ |class\ |const\ |let\ |return\b)
        |[{}\[\]();]+\s*$|"[^"]*"\s*:
    )""",
    re.VERBOSE,
)
_PASTE_BEGINS = re.compile(
    r"""\s*(?:[-*•]\s*)?(?:
        (?:\*\*|\[|\()?(?:P[0-3]|high|medium|low|critical|major|minor|nit|blocker|severity|suggestion|finding)\b
            (?:\*\*|\]|\))?\s*[:\])(-]
        |\#{1,4}\ |\d+\ (?:comments?|findings?|issues?)\b|LGTM|Reviewed[- ]by|Review\ comment|Code\ review
        |Verdict:|Summary:|Traceback|\[?\d{4}-\d\d-\d\d[T\ ]\d|diff\ --git|---\s*$
        |From:\ |Subject:\ |On\ .{6,60}\ wrote:|(?:created|updated|sources|status):\s
        |\S.{0,40}\s(?:\s\[?\d{1,2}:\d\d|\[?\d{1,2}:\d\d\s?[AP]M)(?:\s?[AP]M)?\]?:?\s*$
        |@?[\w.-]+\ (?:commented|replied|requested\ changes)(?:\ (?:on|\d|an?|last|yesterday)\b.{0,40})?:?\s*$
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_RECORD_LINE = re.compile(
    r"\s*(?:[-*•]\s*)?(?:\*\*)?(?:title|state|status|author|assignees?|reporter|reviewers?|labels?|milestone|projects?"
    r"|number|url|link|opened(?: by)?|created(?: at| by)?|updated(?: at)?|date|from|to|cc|subject|priority|comments"
    r"|additions|deletions|type|component|issue|ticket|pull request|pr|branch|body|description)(?:\*\*)?:(?:\s|$)",
    re.IGNORECASE,
)
"""A line of a record's head, as trackers, forges and mail programs print them; two in a row are one."""
_PASTE_ANNOUNCED = re.compile(
    r"\b(?:review(?:er)?s?|codex|copilot|coderabbit|gemini|chatgpt|gpt|bot|comments?|feedback|logs?|output|docs?|article"
    r"|blog|says?|said|wrote|message|e-?mail|slack|issue|ticket|errors?|trace|transcript|pasted?|quote|response|reply"
    r"|this from|from the|here(?:'s| is| are)|flows?|example|snippet|spec|readme|wiki|page|notes?)\b[^.?!]*:\s*$",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our|us|let'?s|i'm|i'd|we're|me)\b", re.IGNORECASE)

_LEADS_ON = re.compile(
    r"(?:,|-|\b(?:a|an|the|of|to|for|and|or|but|in|on|at|by|with|from|that|because|so|if|when|than|into|is|are|be|not))$",
    re.IGNORECASE,
)
_CARRIES_ON = re.compile(r"(?:because|which|than|rather than|instead of|so that|of|nor|or)\b")
_NARROWEST = 55
_RAGGED = 22
_END = re.compile(r"(?:[.!?]+[\"')\]”’*]*(?=\s)|[。！？]+[」』”]?)")
_INNER_END = re.compile(r"[.!?。！？][\"')\]”’*]*\s*\S")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|ca|no|fig|sec|dept|mr|ms|dr|st|al|[A-Z])|\.\.)\.$", re.I
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph or list item. `line` is its zero-based line in the text it was read from."""

    text: str
    line: int
    bullet: bool = False
    to_do: bool = False


def paragraphs(text: str, *, typed: bool = False) -> list[Paragraph]:
    """The prose of `text`: fences, tables, quoted lines, headings, diffs and log lines are left out.

    A line that was wrapped by hand is joined with the one before it. In a `typed` text a new line begins a new
    statement, unless it plainly goes on or the lines around it are all wrapped at one width.
    """
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(lambda fence: "\n" * fence.group().count("\n"), text)
    found: list[Paragraph] = []
    continued = False
    lines = text.split("\n")
    wrapped = _wrapped(lines) if typed else None
    for number, line in enumerate(lines):
        if not line.strip() or _NOT_PROSE.match(line) or _CHECKED.match(line):
            continued = False
            continue
        marker = _MARKER.match(line)
        body = line[marker.end() :].strip() if marker else line.strip()
        if continued and marker is None and body and _is_rest(found[-1].text, body, number, wrapped):
            found[-1] = Paragraph(f"{found[-1].text} {body}", found[-1].line, found[-1].bullet, found[-1].to_do)
        elif body:
            found.append(Paragraph(body, number, marker is not None, marker is not None and "[ ]" in marker.group()))
        continued = bool(found)
    return found


def typed_by_hand(text: str) -> list[Paragraph]:
    """The paragraphs of a person's turn that are their own words.

    What follows a line that announces a paste, or begins like a review, a mail or a page, is somebody else's. Of a turn
    too long to have been typed only short paragraphs in the first person, at its beginning or its end, are kept.
    """
    own: list[Paragraph] = []
    for line in paragraphs(_before_paste(text), typed=True):
        if _PASTE_ANNOUNCED.search(line.text[-_ANNOUNCED:]):
            break
        own.append(line)
    if sum(len(line.text) for line in own) <= PASTED:
        return own
    return [line for line in {own[0], own[-1]} if len(line.text) <= _OWN_WORDS and _FIRST_PERSON.search(line.text)]


def sentences(text: str) -> Iterator[str]:
    """The sentences of one paragraph, white space folded, each whole."""
    if _INNER_END.search(text) is None:
        yield " ".join(text.split())
        return
    start = 0
    for end in _END.finditer(text):
        if _ABBREVIATION.search(text[max(start, end.start() - 8) : end.start() + 1]):
            continue
        rest = text[end.end() :].lstrip()
        if rest and not _ends_here(text[start : end.start()], end.group(), rest):
            continue
        if sentence := " ".join(text[start : end.end()].split()):
            yield sentence
        start = end.end()
    if sentence := " ".join(text[start:].split()):
        yield sentence


def _continues(before: str, line: str) -> bool:
    return len(before) >= 50 and before[-1] not in ".:!?;" and line[0].islower()


def _is_rest(before: str, line: str, number: int, wrapped: frozenset[int] | None) -> bool:
    """Whether a line is the rest of the one before it; `wrapped` holds those that are in a typed text."""
    if wrapped is None or number in wrapped:
        return _continues(before, line)
    return before[-1] not in ".:!?;" and line[0].islower() and _goes_on(before, line)


def _goes_on(before: str, line: str) -> bool:
    """Whether a typed line is plainly the rest of the one before it."""
    return _LEADS_ON.search(before) is not None or _CARRIES_ON.match(line) is not None


def _wrapped(lines: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines that continue a block of three or more wrapped at one width by an editor."""
    found: set[int] = set()
    start = 0
    for number in range(len(lines) + 1):
        if number < len(lines) and lines[number].strip():
            continue
        full = [len(line) for line in lines[start : number - 1]]
        if len(full) >= 2 and min(full) >= _NARROWEST and max(full) - min(full) <= _RAGGED:
            found.update(range(start + 1, number))
        start = number + 1
    return frozenset(found)


def _ends_here(before: str, mark: str, rest: str) -> bool:
    """Whether a sentence ends at `mark`: people who chat begin the next one in lower case too.

    Not after a space (a dot somebody put on its own), and not at an ellipsis that the sentence goes on from.
    """
    if before[-1:].isspace() or (mark.startswith("..") and rest[0].islower()):
        return False
    return rest[0].isalnum() or rest[0] in "\"'`“‘(*[_@#/<-—–"


def _before_paste(text: str) -> str:
    lines = text.split("\n")
    if len(lines) == 1 and len(text) < _TYPED_AT_ONCE:
        return text
    for number, line in enumerate(lines):
        head = [other for other in lines[number : number + 2] if _RECORD_LINE.match(other)]
        if _PASTE_BEGINS.match(line) or len(head) == 2:
            return "\n".join(lines[:number])
    return text
