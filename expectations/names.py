"""Which names a plan may give to categories and pages, on every system that may clone the repository.

What is safe to write is the wiki's own rule (`reflect.wiki.paths`); here is what a plan may propose on top of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet

from reflect.wiki.paths import canonical_key, why_no_page

_KEPT_BY_THE_WIKI = frozenset({"index", "log"})
_NOT_SEARCHED = frozenset({"build", "dist", "vendor", "node-modules"})
"""Folders that qmd leaves out and cannot be told to index, as `canonical_key` folds them."""

_JOINERS = "\u200c\u200d"
_MADE_BY_SLUGIFY = re.compile(r"x-[0-9a-f]{8}")
_NOTATION = re.compile(r"(?:[\W\d_]|(?:\b|(?<=\d))(?:x|t|z|am|pm|utc|gmt)(?:\b|(?=\d)))*", re.IGNORECASE)


def page_fault(category: str, slug: str) -> str | None:
    """Why `<category>/<slug>.md` cannot be a new page; None where it can."""
    for kind, name in (("category", category), ("slug", slug)):
        if fault := _name_fault(name):
            return f"the {kind} {name!r} {fault}"
    if reason := why_no_page(f"{category}/{slug}.md"):
        return f"{category}/{slug}.md cannot be a page: {reason}"
    return None


def category_fault(category: str, known: AbstractSet[str]) -> str | None:
    """Why `category` cannot be the folder of a new page; `known` are those that exist or that the format seeds."""
    if canonical_key(category) in _NOT_SEARCHED:
        return f"the category {category!r} would never be searched: qmd leaves folders of that name out"
    if category in known or _MADE_BY_SLUGIFY.fullmatch(category):
        return None
    if _NOTATION.fullmatch(category):
        return f"the category {category!r} is a time, a check mark or a number, and names no subject"
    return None


def category_twin(category: str, known: AbstractSet[str]) -> str | None:
    """The known category that `category` is another spelling of."""
    if category in known:
        return None
    key = canonical_key(category)
    return next((other for other in sorted(known) if canonical_key(other) == key), None)


def _name_fault(name: str) -> str | None:
    if not name.strip():
        return "is empty"
    if canonical_key(name) in _KEPT_BY_THE_WIKI or name.startswith(("_", ".")):
        return "is kept for the wiki itself"
    if name.startswith("-"):
        return "begins with a hyphen, which commands read as an option"
    if name != unicodedata.normalize("NFC", name):
        return "is not in Unicode's composed form (NFC), so that two files could share its name"
    strange = next((char for char in name if not _is_allowed(char)), None)
    if strange is not None:
        return f"holds {strange!r}; letters, digits, `-`, `_` and `.` make a name"
    return None


def _is_allowed(char: str) -> bool:
    return (
        char in "-_."
        or char in _JOINERS
        or unicodedata.category(char)[0] in "LMN"
        or unicodedata.category(char) == "So"
    )
