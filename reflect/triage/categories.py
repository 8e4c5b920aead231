"""Which folder a finding goes to.

Categories come from three places and no other: the sections of `format.yaml`, the folders that hold pages already, and
the closed list of kinds of knowledge an engine tells apart. Text of the evidence never becomes the name of a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reflect.configuration import Format, FormatSection
from reflect.triage.words import stem, terms

KINDS = ("decisions", "gotchas", "pitfalls", "open-work", "preferences", "patterns", "architecture")
"""What an engine tells apart; each is the folder of that kind unless the format names another."""

_MEANINGS: Mapping[str, re.Pattern[str]] = {
    "pitfalls": re.compile(r"\b(?:mistake|revert|failed|pitfall|don't rule|abandon)"),
    "open-work": re.compile(r"\b(?:unfinished|to-?do|open (?:item|work|question)|pick up|next step|backlog)"),
    "gotchas": re.compile(r"\b(?:burned time|surpris|gotcha|friction|trap|quirk|troubleshoot)"),
    "decisions": re.compile(r"\b(?:why things|decision|rationale|chose|trade-?off)"),
    "preferences": re.compile(r"\b(?:preference|taste|likes|style choices?)"),
    "patterns": re.compile(r"\b(?:pattern|convention|house rule)"),
    "architecture": re.compile(r"\b(?:architecture|structure of|components)"),
}


_GENERIC = frozenset(stem(word) for word in ("notes", "knowledge", "guides", "guidelines", "rules", "general"))
"""Words in a section's name that say nothing about its topic."""


@dataclass(frozen=True)
class Categories:
    """The folders of one wiki.

    `folder_of` maps each kind to its folder; `topics` pairs the format's other sections with the words that name them.
    """

    known: frozenset[str]
    folder_of: Mapping[str, str]
    topics: tuple[tuple[str, frozenset[str]], ...]

    @classmethod
    def of(cls, format: Format, existing: Iterable[str]) -> Categories:
        """From the sections of `format` and the folders that exist. No two sections ever share a folder."""
        seeds = format.categories
        folder_of = {kind: kind for kind in KINDS}
        taken: set[str] = set()
        topics: list[tuple[str, frozenset[str]]] = []
        for folder, section in seeds.items():
            kind = _kind_meant(folder, section)
            if kind is not None and kind not in taken and (folder == kind or kind not in seeds):
                folder_of[kind] = folder
                taken.add(kind)
            else:
                topics.append((folder, frozenset(terms(section.name))))
        return cls(frozenset({*seeds, *existing}), folder_of, tuple(topics))

    def place(self, kind: str, text: str) -> str:
        """The folder for a finding of `kind`: a section whose own name the text speaks of, else the kind's folder."""
        said = set(terms(text))
        for folder, name in self.topics:
            if name and name <= said | _GENERIC:
                return folder
        return self.folder_of.get(kind, kind)


def _kind_meant(folder: str, section: FormatSection) -> str | None:
    if folder in KINDS:
        return folder
    described = f"{section.name} {section.purpose}".casefold()
    return next((kind for kind, meaning in _MEANINGS.items() if meaning.search(described)), None)
