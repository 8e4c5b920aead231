"""Quotes that were found once. Git never changes what it stores, so what was found there stays found."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from reflect.wiki.passages import quote_key

_DIGITS = 24


class Verified:
    """A file of keys, one a line. A file that is lost or damaged costs time and nothing else."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._known = frozenset(file.read_text("ascii").split())
        except (OSError, UnicodeDecodeError):
            self._known = frozenset()

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def keep(self, keys: Iterable[str]) -> None:
        """Remember exactly `keys`: what no page quotes any more is forgotten. Nothing is written for nothing new."""
        kept = frozenset(keys)
        if kept == self._known:
            return
        half = self._file.with_name(f"{self._file.name}.{os.getpid()}.new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            half.write_text("".join(f"{key}\n" for key in sorted(kept)), "ascii")
            half.replace(self._file)
        except OSError:
            half.unlink(missing_ok=True)


def verified_key(contents: Iterable[str], quote: str) -> str:
    """What stands for `quote` in evidence with the given content hashes, sorted."""
    said = "\x1f".join((*contents, quote_key(quote)))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
