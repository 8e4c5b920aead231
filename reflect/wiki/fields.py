"""What the values of a page's frontmatter mean, in whichever shape people and other tools write them.

A value is text, a list or a mapping of texts, as `frontmatter` reads it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from reflect.model import Source, SourceKind, is_checkpoint_id
from reflect.wiki.markdown import fold

_FLAGS = {"true": True, "false": False}
_NOTHING = frozenset({"", "null", "~"})
_DECIMAL = re.compile(r"[0-9](?:\.[0-9]{1,17})?")
_DATE = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])")
_SOURCE = re.compile(r"(checkpoint|commit)\s*:?\s*([0-9A-Za-z]{4,40})", re.IGNORECASE)
_BARE_COMMIT = re.compile(r"[0-9a-f]{6,40}")
_MARKDOWN_LINK = re.compile(r"\[\[?([^\]]*)\]?\](?:\(([^)]*)\))?")


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
    return _source_named(text_of(entry))


@lru_cache(maxsize=4096)
def _source_named(text: str) -> Source | None:
    if match := _SOURCE.fullmatch(text):
        return Source(kind=SourceKind(match[1].lower()), id=match[2])
    if is_checkpoint_id(text):
        return Source(kind=SourceKind.CHECKPOINT, id=text)
    return Source(kind=SourceKind.COMMIT, id=text) if _BARE_COMMIT.fullmatch(text) else None


def read_sources(value: object) -> tuple[tuple[Source, ...], list[str]]:
    """The sources that a value lists, each once, and the entries that name none."""
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
                yield f"{kind} {text_of(one)}".strip()
    elif isinstance(value, list):
        for entry in value:
            yield from _source_entries(entry)
    elif isinstance(value, str):
        yield from (part.strip() for part in value.split(",") if part.strip().lower() not in _NOTHING)


def read_tags(value: object) -> tuple[str, ...]:
    """The tags that a value lists, each once."""
    if isinstance(value, str):
        entries: Sequence[object] = value.split(",")
        if len(entries) == 1 and not text_of(entries[0]):
            return ()
    else:
        entries = value if isinstance(value, list) else ()
    texts = (fold(entry) if isinstance(entry, str) else text_of(entry) for entry in entries)
    return tuple(dict.fromkeys(tag for tag in texts if tag))


def read_related(value: object, path: str) -> tuple[str, ...]:
    """What the `related` value of the page at `path` points to, relative to the wiki, each once."""
    entries: Iterable[object] = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(link for entry in entries if (link := related_path(text_of(entry), path))))


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


def text_of(value: object) -> str:
    """A scalar, or a mapping of one key (`c: d` where text was meant), as one line; empty for anything else."""
    if isinstance(value, str):
        folded = fold(value)
        return "" if folded.lower() in _NOTHING else folded
    if isinstance(value, Mapping) and len(value) == 1:
        ((key, inner),) = value.items()
        return f"{key}: {text_of(inner)}" if isinstance(inner, str) else ""
    return ""


def said_in(value: object) -> str:
    """Like `text_of`, for values where `None` is a slip of another program and no name."""
    text = text_of(value)
    return "" if text.lower() == "none" else text


def scope_value(key: str, value: Any) -> Any:
    """A flag or the confidence as YAML means it, an id as its text; what reads as neither stays for scope to refuse."""
    if key in ("always_on", "learnable"):
        return _FLAGS.get(str(value).lower(), value)
    if key == "scope_confidence" and _DECIMAL.fullmatch(str(value)):
        return float(value)
    return value
