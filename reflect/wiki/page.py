"""A page as it is read: its frontmatter normalised at the edge, its bytes kept.

Other tools and people write these files too. What they write is read as meant (`sources: [checkpoint 4ecb34b81a12]`,
`related` without `.md`, tags as one string, a title of `null`), and nothing is rewritten only because it was read.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from reflect.errors import PageError
from reflect.model import PageSummary, Source, SourceKind, Status, is_checkpoint_id
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

_FLAGS = {"true": True, "false": False}

_NOTHING = frozenset({"", "null", "~"})
_DECIMAL = re.compile(r"[0-9](?:\.[0-9]{1,17})?")
_DATE = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])")
_DIGEST = re.compile(r"digest(?:-\d+)?")
_TITLE = re.compile(r"^ {0,3}# ", re.MULTILINE)
_CODE_OR_COMMENT = re.compile(r"^ {0,3}(?:```|~~~|<)", re.MULTILINE)
_SOURCE = re.compile(r"(checkpoint|commit)\s*:?\s*([0-9A-Za-z]{4,40})", re.IGNORECASE)
_BARE_COMMIT = re.compile(r"[0-9a-f]{6,40}")
_LIST_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_BEHIND_TEXT = re.compile(rf"\s*{CITATION.pattern}")
_KEY_LINE = re.compile(r"[A-Za-z_][\w-]*:(?:\s|$)")
_MARKDOWN_LINK = re.compile(r"\[\[?([^\]]*)\]?\](?:\(([^)]*)\))?")


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `path` is relative to the wiki; `text` is the file decoded, byte order mark and line ends kept.

    `data` is the frontmatter with every scalar as written. `related` holds paths relative to the wiki, ending in
    `.md`, whether they exist or not. `notes` say what is odd, in words.
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
            project_id=_text(self.data.get("project_id")) or None,
            digest=_DIGEST.fullmatch(slug) is not None,
            scope_keys={key: _scope_value(key, self.data[key]) for key in SCOPE_KEYS if key in self.data},
        )


def parse_page(content: bytes, path: str) -> Page:
    """Read a page. Raises PageError, with path and line, for one whose text or frontmatter cannot be read."""
    text = decode(content, path)
    parts = split(text, path)
    data = parts.data or {}
    second, start = _second_block(parts)
    title = _said(data.get("title")) or _heading_title(parts.body[start:]) or _slug_title(path)
    sources, strange = _sources(data.get("sources"))
    notes = [f"{path} has a second frontmatter block; it is read as text of the page."] if second else []
    notes += [f"{path} lists the source {entry!r}, which names neither a checkpoint nor a commit." for entry in strange]
    return Page(
        path=path,
        text=text,
        parts=parts,
        title=title,
        lead=_lead(parts.body[start:]),
        status=_said(_first(data.get("status"))).lower() or Status.ACTIVE,
        created=page_date(data.get("created")),
        updated=page_date(data.get("updated")),
        sources=sources,
        tags=_tags(data.get("tags")),
        related=_related(data.get("related"), path),
        notes=tuple(notes),
    )


def _scope_value(key: str, value: Any) -> Any:
    """A flag or the confidence as YAML means it, an id as its text; what reads as neither stays for scope to refuse."""
    if key in ("always_on", "learnable"):
        return _FLAGS.get(str(value).lower(), value)
    if key == "scope_confidence" and _DECIMAL.fullmatch(str(value)):
        return float(value)
    return value


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


def page_date(value: object) -> date | None:
    """The day that a frontmatter value names: `2026-04-07`, `2026-4-7`, with or without a time; None for none."""
    match = _DATE.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def same_source(one: Source, other: Source) -> bool:
    """Whether both name the same thing: commits may be written with more or fewer of their digits."""
    if one.kind is not other.kind:
        return False
    if one.kind is SourceKind.CHECKPOINT:
        return one.id == other.id
    return one.id.startswith(other.id) or other.id.startswith(one.id)


def read_source(entry: object) -> Source | None:
    """One entry of a `sources` list as a source; None for one that names neither a checkpoint nor a commit."""
    text = _text(entry)
    if match := _SOURCE.fullmatch(text):
        return Source(kind=SourceKind(match[1].lower()), id=match[2])
    if is_checkpoint_id(text):
        return Source(kind=SourceKind.CHECKPOINT, id=text)
    return Source(kind=SourceKind.COMMIT, id=text) if _BARE_COMMIT.fullmatch(text) else None


def _sources(value: object) -> tuple[tuple[Source, ...], list[str]]:
    found: dict[Source, None] = {}
    strange: list[str] = []
    for entry in _source_entries(value):
        source = read_source(entry)
        if source is None:
            strange.append(entry)
        else:
            found[source] = None
    return tuple(found), strange


def _source_entries(value: object) -> Iterator[str]:
    """`kind id` for every source, in whichever of its shapes the list is written."""
    if isinstance(value, Mapping):
        for kind, ids in value.items():
            for one in ids if isinstance(ids, list) else [ids]:
                yield f"{kind} {_text(one)}".strip()
    elif isinstance(value, list):
        for entry in value:
            yield from _source_entries(entry)
    elif isinstance(value, str):
        yield from (part.strip() for part in value.split(",") if part.strip().lower() not in _NOTHING)


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        entries: Sequence[object] = value.split(",")
        if len(entries) == 1 and not _text(entries[0]):
            return ()
    else:
        entries = value if isinstance(value, list) else ()
    texts = (fold(entry) if isinstance(entry, str) else _text(entry) for entry in entries)
    return tuple(dict.fromkeys(tag for tag in texts if tag))


def _related(value: object, path: str) -> tuple[str, ...]:
    entries: Iterable[object] = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(link for entry in entries if (link := related_path(_text(entry), path))))


def related_path(entry: str, path: str) -> str:
    """What an entry of the `related` list of `path` points to, relative to the wiki; empty where it says nothing."""
    if link := _MARKDOWN_LINK.fullmatch(entry):
        entry = (link[2] or link[1]).strip()
    entry = entry.split("#")[0].strip()
    if not entry:
        return ""
    if entry.startswith(("./", "../")):
        entry = posixpath.join(posixpath.dirname(path), entry)
    entry = posixpath.normpath(entry).lstrip("/").removeprefix(".reflect/").removeprefix("wiki/")
    return entry if entry.endswith(".md") else f"{entry}.md"


def _text(value: object) -> str:
    """A scalar, or a mapping of one key (`c: d` where text was meant), as one line; empty for anything else."""
    if isinstance(value, str):
        folded = fold(value)
        return "" if folded.lower() in _NOTHING else folded
    if isinstance(value, Mapping) and len(value) == 1:
        ((key, inner),) = value.items()
        return f"{key}: {_text(inner)}" if isinstance(inner, str) else ""
    return ""


def _said(value: object) -> str:
    """Like `_text`, for values where `None` is a slip of another program and no name."""
    text = _text(value)
    return "" if text.lower() == "none" else text


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
    line = body[first.start() :].split("\n", 1)[0]
    return headings([line])[0].text


def _slug_title(path: str) -> str:
    return posixpath.basename(path).removesuffix(".md").replace("-", " ").replace("_", " ").strip() or path


def _lead(body: str) -> str:
    """The first paragraph below the title, without citations; empty for a page without one."""
    paragraph: list[str] = []
    for _, line in plain_lines(_first_lines(body)):
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
    """Lines enough to hold a lead: no page is read to its end for one."""
    return split_lines(body[:20_000])
