"""New passages under the headings of a page, every line that stood there kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reflect.model import Passage, Section
from reflect.wiki.markdown import as_heading, fold, headings, plain_lines, split_lines
from reflect.wiki.page import BANNER, MIXED_BANNER
from reflect.wiki.passages import Standing, render_passage

_BANNERS = frozenset({BANNER, MIXED_BANNER})


def merge_sections(body: str, sections: Sequence[Section], newline: str) -> tuple[str, tuple[Passage, ...]]:
    """`body` with what it does not say yet, and the passages that were added.

    Passages go to the end of the section with their heading; a heading that is not there is added at the end of the
    page. A section that comes first is opened above everything but the title, and grows at its top, so that the newest
    passage of it is what a reader meets first. Lines are only ever added.
    """
    standing = Standing(body)
    lines = split_lines(body)
    added: list[Passage] = []
    for section in sections:
        new = list(_not_standing(section.passages, standing))
        if new:
            place = _on_top if section.first else _with_passages
            lines = place(lines, section.heading, new, newline)
            added += new
    return "".join(lines), tuple(added)


def readable_end(lines: Sequence[str]) -> int:
    """The line behind the last one that is read as text: before a fence or comment that is never closed."""
    last = -1
    for number, _ in plain_lines([*lines, "x"]):
        if number == len(lines):
            return number
        last = number
    return last + 1


def _not_standing(passages: Iterable[Passage], standing: Standing) -> Iterable[Passage]:
    for passage in passages:
        if fold(passage.text) and not standing.has(passage.text):
            standing.add(passage.text)
            yield passage


def _with_passages(lines: list[str], heading: str, passages: Sequence[Passage], newline: str) -> list[str]:
    rendered = [render_passage(passage) for passage in passages]
    end = readable_end(lines)
    found = _section(lines, heading, end)
    if found is None:
        return _insert(lines, end, [f"## {as_heading(heading)}", *rendered], newline)
    return _insert(lines, found, rendered, newline)


def _on_top(lines: list[str], heading: str, passages: Sequence[Passage], newline: str) -> list[str]:
    rendered = [render_passage(passage) for passage in passages]
    end = readable_end(lines)
    standing = _place(lines, heading, end)
    if standing is None:
        return _insert(lines, _front(lines, end), [f"## {as_heading(heading)}", *rendered], newline)
    return _insert(lines, standing[0], rendered, newline)


def _front(lines: Sequence[str], end: int) -> int:
    """The line before which the first text of the page stands: behind its title and the banner below it."""
    title = next((found for found in headings(lines) if found.level == 1), None)
    opens = title is not None and not any(line.strip() for line in lines[: title.line])
    position = title.end if title is not None and opens else 0
    behind = position
    while position < end and (not lines[position].strip() or lines[position].strip() in _BANNERS):
        position += 1
        behind = position if lines[position - 1].strip() else behind
    return min(behind, end)


def _section(lines: Sequence[str], heading: str, end: int) -> int | None:
    """The line before which a passage under `heading` goes; None where no such heading is."""
    found = _place(lines, heading, end)
    return None if found is None else found[1]


def _place(lines: Sequence[str], heading: str, end: int) -> tuple[int, int] | None:
    """The lines between which the section under `heading` stands; None where no such heading is."""
    wanted = fold(heading).casefold()
    all_headings = headings(lines)
    for number, found in enumerate(all_headings):
        if found.level > 1 and found.end <= end and fold(found.text).casefold() == wanted:
            following = all_headings[number + 1].line if number + 1 < len(all_headings) else len(lines)
            return found.end, max(found.end, min(following, end))
    return None


def _insert(lines: list[str], position: int, blocks: Sequence[str], newline: str) -> list[str]:
    """`blocks` as paragraphs behind the last line with text before `position`."""
    while position > 0 and not lines[position - 1].strip():
        position -= 1
    head, rest = lines[:position], lines[position:]
    if head and not head[-1].endswith(("\n", "\r")):
        head[-1] += newline
    added: list[str] = []
    for block in blocks:
        added += [newline, block + newline] if head or added else [block + newline]
    if rest and rest[0].strip():
        added.append(newline)
    return [*head, *added, *rest]
