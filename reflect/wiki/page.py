"""A page as it is read: its frontmatter normalised at the edge, its bytes kept.

Other tools and people write these files too. What they write is read as meant (`sources: [checkpoint 4ecb34b81a12]`,
`related` without `.md`, tags as one string, a title of `null`), and nothing is rewritten only because it was read.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from io import StringIO
from typing import Any

from reflect.errors import PageError
from reflect.model import PageSummary, Source, Status
from reflect.wiki.fields import page_date, read_related, read_sources, read_tags, said_in, scope_value, text_of
from reflect.wiki.frontmatter import Parts, split
from reflect.wiki.markdown import fold, headings, is_rule, is_underline, plain_lines, split_lines, unescape
from reflect.wiki.passages import CITATION

BANNER = "_Extracted: quotes from sessions and commits, not a summary._"
"""The line on a page that holds nothing but quotes."""

MIXED_BANNER = "_Lines that begin with `>` are quotes, word for word; the rest is a summary of what it cites._"
"""The line on a page that an engine's own sentences were added to. Neither is ever taken for a page's lead."""

SPEC_KEYS = ("created", "updated", "sources", "tags", "status", "related")
SCOPE_KEYS = (
    "memory_type",
    "reflection_kind",
    "scope",
    "project_id",
    "workspace_root",
    "scope_confidence",
    "scope_source",
    "origin",
    "evidence",
    "always_on",
    "learnable",
    "proposal_id",
)

_LONGEST_LEAD = 20_000
_DIGEST = re.compile(r"digest(?:-\d+)?")
_TITLE = re.compile(r"^ {0,3}# ", re.MULTILINE)
_CODE_OR_COMMENT = re.compile(r"^ {0,3}(?:```|~~~|<)", re.MULTILINE)
_LIST_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_BEHIND_TEXT = re.compile(rf"\s*{CITATION.pattern}")
_KEY_LINE = re.compile(r"[A-Za-z_][\w-]*:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `path` is relative to the wiki; `text` is the file decoded, byte order mark and line ends kept.

    `data` is the frontmatter with every scalar as written. `related` holds paths relative to the wiki, ending in
    `.md`, whether they exist or not. `strange` are the entries of `sources` that name none.
    `notes` say what is odd, in words.
    """

    path: str
    text: str
    parts: Parts
    title: str
    lead: str
    status: str
    created: date | None
    updated: date | None
    sources: tuple[Source, ...]
    tags: tuple[str, ...]
    related: tuple[str, ...]
    strange: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def data(self) -> Mapping[str, Any]:
        return self.parts.data or {}

    @property
    def body(self) -> str:
        return self.parts.body

    @property
    def is_active(self) -> bool:
        return self.status in (Status.ACTIVE, Status.OPEN)

    @property
    def newline(self) -> str:
        """The line end that the page uses."""
        first = re.search(r"\r\n|\n|\r", self.text)
        return first.group() if first else "\n"

    def summary(self) -> PageSummary:
        category, slug = posixpath.split(self.path)
        slug = slug.removesuffix(".md")
        return PageSummary(
            path=self.path,
            category=category,
            slug=slug,
            title=self.title,
            lead=self.lead,
            body=self.body,
            status=self.status,
            updated=self.updated,
            sources=self.sources,
            tags=self.tags,
            project_id=text_of(self.data.get("project_id")) or None,
            digest=_DIGEST.fullmatch(slug) is not None,
            scope_keys={key: scope_value(key, self.data[key]) for key in SCOPE_KEYS if key in self.data},
        )


def parse_page(content: bytes, path: str) -> Page:
    """Read a page. Raises PageError, with path and line, for one whose text or frontmatter cannot be read."""
    text = decode(content, path)
    parts = split(text, path)
    data = parts.data or {}
    second, start = _second_block(parts)
    title = said_in(data.get("title")) or _heading_title(parts.body[start:]) or _slug_title(path)
    sources, strange = read_sources(data.get("sources"))
    notes = [f"{path} has a second frontmatter block; it is read as text of the page."] if second else []
    notes += [f"{path} lists the source {entry!r}, which names neither a checkpoint nor a commit." for entry in strange]
    return Page(
        path=path,
        text=text,
        parts=parts,
        title=title,
        lead=_lead(parts.body[start:]),
        status=said_in(_first(data.get("status"))).lower() or Status.ACTIVE,
        created=page_date(data.get("created")),
        updated=page_date(data.get("updated")),
        sources=sources,
        tags=read_tags(data.get("tags")),
        related=read_related(data.get("related"), path),
        strange=tuple(strange),
        notes=tuple(notes),
    )


def decode(content: bytes, path: str) -> str:
    """The text of a file. Raises PageError for bytes that are not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PageError(
            f"{path}:{line}: byte 0x{content[error.start]:02x} is not UTF-8; the page was left as it is."
        ) from error


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _second_block(parts: Parts) -> tuple[bool, int]:
    """Whether the body begins with another frontmatter block, closed or not, and where what follows it begins."""
    opening = re.match(r"\s*---[ \t]*(?:\r\n|\n|\r)", parts.body)
    if opening is None or parts.data is None or not _KEY_LINE.match(parts.body, opening.end()):
        return False, 0
    at = opening.end()
    for line in split_lines(parts.body[at:]):
        if not line.strip() or line.startswith("#"):
            break
        at += len(line)
        if is_rule(line):
            break
    return True, at


def _heading_title(body: str) -> str:
    first = _TITLE.search(body)
    if first is None or _CODE_OR_COMMENT.search(body, 0, first.start()):
        found = headings(split_lines(body))
        return next((heading.text for heading in found if heading.level == 1), "")
    return headings(_first_lines(body[first.start() :])[:1])[0].text


def _slug_title(path: str) -> str:
    return posixpath.basename(path).removesuffix(".md").replace("-", " ").replace("_", " ").strip() or path


def _lead(body: str) -> str:
    """The first paragraph below the title, without citations; empty for a page without one."""
    paragraph: list[str] = []
    for _, line in plain_lines(StringIO(body[:_LONGEST_LEAD], newline="")):
        text = line.strip().removeprefix(">").strip()
        if is_underline(text):
            paragraph.clear()  # what stood above was a heading, or nothing
            continue
        ends = not text or text.startswith("#") or is_rule(line) or text in (BANNER, MIXED_BANNER)
        if ends and paragraph:
            break
        if not ends:
            paragraph.append(text)
    joined = " ".join(paragraph)
    item = _LIST_ITEM.match(joined)
    return fold(unescape(_BEHIND_TEXT.sub("", joined[item.end() if item else 0 :])))


def _first_lines(body: str) -> list[str]:
    """Lines enough to hold a title: no page is read to its end for one."""
    return split_lines(body[:_LONGEST_LEAD])
