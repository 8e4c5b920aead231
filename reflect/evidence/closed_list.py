"""Closed lists of names, written as words."""

from __future__ import annotations


def closed_list(words: str) -> frozenset[str]:
    """The names in `words`, which stand apart by white space."""
    return frozenset(words.split())
