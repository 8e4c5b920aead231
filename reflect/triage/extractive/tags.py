"""A page's tags: the names its findings mention most, else the topical words of its title."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reflect.configuration import slugify
from reflect.model import Finding
from reflect.triage.words import STOP_WORDS

_MOST = 4
_LONGEST = 30


def tags_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """One to four tags, the most mentioned first, ties in the order of mention."""
    mentioned: Counter[str] = Counter()
    for finding in findings:
        mentioned.update(tag for name in finding.identifiers if (tag := _tag(name)))
    tags = [tag for tag, _ in mentioned.most_common(_MOST)]
    for word in findings[0].headline.split():
        if len(tags) >= 2:
            break
        plain = word.strip(".,:;!?()'\"`").casefold()
        if len(plain) > 3 and plain not in STOP_WORDS and (tag := _tag(plain)) and tag not in tags:
            tags.append(tag)
    return tuple(tags or [findings[0].category])


def _tag(name: str) -> str:
    """`lib/init.py` gives `init`, `--system-prompt` gives `system-prompt`; a whole command gives nothing."""
    if " " in name:
        return ""
    last = name.rstrip("/").rsplit("/", 1)[-1].removesuffix("()")
    stem = last.rsplit(".", 1)[0] if "." in last.strip(".") else last
    tag = slugify(stem.strip(".-_*"), _LONGEST) if any(letter.isalnum() for letter in stem) else ""
    return tag if 2 <= len(tag) <= _LONGEST else ""
