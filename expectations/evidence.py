"""What the collected evidence says, for looking up quotes in it."""

from __future__ import annotations

from collections.abc import Mapping

from reflect.wiki.markdown import fold

_SHOWN = 60


class EvidenceWords:
    """The texts of the evidence by id, white space folded on first use: most are never asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._folded: dict[str, str] = {}

    def __contains__(self, evidence: str) -> bool:
        return evidence in self._texts

    def say(self, evidence: str, quote: str) -> bool:
        """Whether `quote` stands in the evidence word for word."""
        if evidence not in self._texts:
            return False
        if evidence not in self._folded:
            self._folded[evidence] = fold(self._texts[evidence])
        return fold(quote) in self._folded[evidence]


def shown(text: str) -> str:
    """The beginning of `text` on one line, in quotes."""
    line = fold(text)
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"
