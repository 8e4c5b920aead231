"""Links between pages, followed when a page moves. Quotes and code are never touched."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from urllib.parse import unquote

from reflect.wiki.markdown import code_spans, plain_lines, split_lines

_INLINE = re.compile(r"(\]\()(<[^<>]*>|[^\s()<>]+)(?=[\s)])")
_DEFINITION = re.compile(r"^( {0,3}\[[^\]]+\]:[ \t]*)(<[^<>]*>|\S+)")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Moves:
    """Pages that change place: `places` maps old paths to new ones, `pages` are all that exist before the move."""

    places: Mapping[str, str]
    pages: Set[str]

    def follow(self, body: str, path: str) -> str:
        """`body` of the page that was at `path`, its links pointing where their targets will be.

        Links are relative to the page or, as some tools write them, to the wiki; each keeps its kind.
        """
        lines = split_lines(body)
        for number, line in plain_lines(lines):
            if ("](" not in line and "]:" not in line) or line.lstrip().startswith(">"):
                continue
            end = lines[number][len(line) :]
            lines[number] = _in_line(line, lambda target: self._followed(target, path)) + end
        return "".join(lines)

    def _followed(self, target: str, path: str) -> str:
        if _ELSEWHERE.match(target):
            return target
        written, mark, anchor = target.partition("#")
        from_page = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(written)))
        from_wiki = posixpath.normpath(unquote(written))
        if from_page not in self.pages and from_wiki in self.pages:
            if from_wiki not in self.places:
                return target
            place = self.places[from_wiki]
        elif from_page in self.places or path in self.places:
            place = _relative(self.places.get(from_page, from_page), self.places.get(path, path))
        else:
            return target
        return _like(place, written) + mark + anchor


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a page's text to something near it. `line` is zero-based within the body; `target` as it is written."""

    line: int
    target: str

    def places(self, page: str) -> tuple[str, str]:
        """What it may mean, relative to the wiki: as seen from `page`, and from the wiki's top; empty for `page`."""
        written = unquote(self.target.partition("#")[0])
        if not written:
            return page, page
        from_page = posixpath.normpath(posixpath.join(posixpath.dirname(page), written))
        return from_page, posixpath.normpath(written)

    @property
    def anchor(self) -> str:
        """The heading it leads to, as written, empty where it leads to none."""
        return unquote(self.target.partition("#")[2])


def links_in(lines: Iterable[tuple[int, str]]) -> Iterator[Link]:
    """Every link to a file or a heading in `lines`, numbered as `plain_lines` gives them, in order.

    Quotes, code and addresses elsewhere are none.
    """
    for number, line in lines:
        if "]" not in line or ("](" not in line and "]:" not in line) or line.lstrip().startswith(">"):
            continue
        spans = code_spans(line)
        for match in (_INLINE if "](" in line else _DEFINITION).finditer(line):
            target = match[2].strip("<>")
            near = target.startswith("#") or not _ELSEWHERE.match(target)
            if near and not any(start < match.start() < end for start, end in spans):
                yield Link(number, target)


def _relative(place: str, page: str) -> str:
    """`place` as seen from the folder of `page`; both are relative to the wiki and may lie above it."""
    root = "/wiki" * 64
    folder = posixpath.join(root, posixpath.dirname(page))
    return posixpath.relpath(posixpath.normpath(posixpath.join(root, place)), folder)


def _like(place: str, written: str) -> str:
    """`place` with its spaces written as they were before."""
    return place.replace(" ", "%20") if "%20" in written else place


def _in_line(line: str, follow: Callable[[str], str]) -> str:
    spans = code_spans(line)

    def changed(match: re.Match[str]) -> str:
        if any(start < match.start() < end for start, end in spans):
            return match.group()
        target = match[2]
        if target.startswith("<"):
            return f"{match[1]}<{follow(target[1:-1])}>"
        return match[1] + follow(target)

    return _INLINE.sub(changed, line) if "](" in line else _DEFINITION.sub(changed, line)
