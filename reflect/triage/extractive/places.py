"""Paths for new pages: stable, readable, and never the twin of one that exists."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reflect.configuration import slugify
from reflect.model import digest

DIGEST = "digest"

_RESERVED = frozenset({"index", "log", "readme", DIGEST})
_SEPARATORS = re.compile(r"[-_\s.]+")
_SHORT = 60
_DANGLING = re.compile(
    r"(?:\s+(?:a|an|the|to|of|for|and|or|in|on|with|that|is|are|as|by|from|so|be|it|this|if|when|not|no|only|because|we|per"
    r"|which|who|where|but))+$",
    re.IGNORECASE,
)
"""Words that a file name must not end with: what they lead up to is cut off."""


class Places:
    """Hands out slugs. Two paths that differ only in case or separators count as one."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {_key(path) for path in taken}

    def new(self, category: str, title: str, identity: str) -> str:
        """A free slug for `title` in `category`; where the plain one is taken, digits made of `identity` follow it."""
        plain = slugify(_short(title))
        slug, tries = plain, 0
        while slug in _RESERVED or not self._take(category, slug):
            slug = f"{plain}-{digest(title, identity, tries)[:6]}"
            tries += 1
        return slug

    def is_taken(self, category: str, slug: str) -> bool:
        return _key(f"{category}/{slug}.md") in self._taken

    def _take(self, category: str, slug: str) -> bool:
        if self.is_taken(category, slug):
            return False
        self._taken.add(_key(f"{category}/{slug}.md"))
        return True


def _short(title: str) -> str:
    """As many whole words of `title` as make a readable file name."""
    words = title.split()
    if len(slugify(title, 10 * _SHORT)) <= _SHORT:
        return title
    while len(words) > 1 and len(slugify(" ".join(words), 10 * _SHORT)) > _SHORT:
        words.pop()
    return _DANGLING.sub("", " ".join(words)) or title


def _key(path: str) -> str:
    return _SEPARATORS.sub("", path.removesuffix(".md").casefold())
