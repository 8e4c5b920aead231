"""Removes secrets from text before anything is stored, logged, sent or written.

A text is looked through once as bytes: where no run of sixteen token characters stands and no telling word, no rule
runs. What a rule finds goes as `[REDACTED:<rule>]`; what is left has nothing more to find, so that redacting twice
changes nothing. Ids that exist (commits, their abbreviations, checkpoints) are never eaten.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from reflect.evidence.secret_assignments import WORDS, WORDS_ABROAD, assignments
from reflect.evidence.secret_entropy import SHORTEST, is_random, random_tokens
from reflect.evidence.secret_key_blocks import key_blocks
from reflect.evidence.secret_shapes import (
    COMMANDS,
    ENTRA,
    PROVIDERS,
    SCHEMES,
    Hit,
    Shape,
    address_credentials,
)

_TOKEN_BYTES = bytes(
    ord("a") if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "+/_-") else ord(" ")
    for byte in range(256)
)
_RUN = b"a" * 16
_BEFORE_RUN = 12
_PROVIDER_ANCHORS = tuple((shape, frozenset(a.encode() for a in shape.anchors)) for shape in PROVIDERS)
_WORDS = tuple((word, word.encode()) for word in WORDS)
_WORDS_ABROAD = tuple((word, word.encode()) for word in WORDS_ABROAD)
_OTHER_WORDS = ((b"bearer", SCHEMES), (b"basic ", SCHEMES), (b"identified ", SCHEMES), (b" -", COMMANDS))
_AWS_KEY_ID = re.compile(r"(?:AKIA|ASIA)[A-Z0-9]{16}")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
_NEAR = 400
MARKER = re.compile(r"\[REDACTED:[a-z0-9-]+\]")
"""What stands where a secret was."""
_ID = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-f]{7,40}|[0-7][0-9A-HJKMNP-TV-Z]{25})(?![0-9A-Za-z])")
_SHORTEST_SECRET = 8


def _any_of(words: Iterable[str]) -> str:
    """An expression for any of `words`, sharing their beginnings: several times faster than a plain alternation."""
    tails: dict[str, list[str]] = {}
    for word in sorted(set(words)):
        tails.setdefault(word[:1], []).append(word[1:])
    if set(tails) == {""}:
        return ""
    branches = [re.escape(head) + _any_of(rest) for head, rest in tails.items() if head]
    return f"(?:{'|'.join(branches)}){'?' if '' in tails else ''}"


_ANCHORS = re.compile(
    _any_of(anchor for _, anchors in _PROVIDER_ANCHORS for anchor in map(bytes.decode, anchors)).encode()
)


class Redactor:
    """Redacts by the built-in rules and the regular expressions in `custom`.

    A custom expression replaces its group `secret`, else its whole match, as `[REDACTED:custom-<n>]`. `keep` holds
    the ids of commits and checkpoints that exist; they and their abbreviations of seven digits and more survive.
    """

    def __init__(self, custom: Sequence[str] = (), keep: AbstractSet[str] = frozenset()) -> None:
        self._custom = tuple(
            Shape(f"custom-{number}", (), re.compile(pattern)) for number, pattern in enumerate(custom, start=1)
        )
        self._kept = sorted(keep)
        self._count = 0

    @property
    def count(self) -> int:
        """Secrets removed so far."""
        return self._count

    def redact(self, text: str) -> str:
        """`text` with every secret replaced by `[REDACTED:<rule>]`."""
        while hits := self._hits(text):
            self._count += len(hits)
            text = _splice(text, hits)
        return text

    def finds(self, text: str) -> tuple[str, ...]:
        """The names of the rules that find something in `text`, sorted."""
        return tuple(sorted({hit.rule for hit in self._hits(text)}))

    def _hits(self, text: str) -> list[Hit]:
        if len(text) < _SHORTEST_SECRET and not self._custom:
            return []
        found = [hit for hit in _builtin_hits(text) if not self._is_kept(text[hit.start : hit.end])]
        for shape in self._custom:
            found.extend(shape.hits(text))
        if found and self._kept:
            found = [part for hit in found for part in self._around_ids(text, hit)]
        return _merged(_outside_markers(text, found)) if found else found

    def _is_kept(self, value: str) -> bool:
        """Whether `value` is an id that exists, an abbreviation of one, or a session folder of one."""
        value = value.partition("/")[0] if re.fullmatch(r"\w+/\d+", value) else value
        if len(value) < 7 or not self._kept:
            return False
        place = bisect_left(self._kept, value)
        return place < len(self._kept) and self._kept[place].startswith(value)

    def _around_ids(self, text: str, hit: Hit) -> Iterator[Hit]:
        """`hit` without the ids in it that exist."""
        start = hit.start
        for found in _ID.finditer(text, hit.start, hit.end):
            if self._is_kept(found[0]):
                yield Hit(start, found.start(), hit.rule)
                start = found.end()
        yield Hit(start, hit.end, hit.rule)


def _builtin_hits(text: str) -> list[Hit]:
    data = text.encode("utf-8", "surrogatepass")
    hits: list[Hit] = []
    runs, long_runs = _runs(data)
    if runs:
        hits += _provider_hits(text, b" ".join(runs))
    if "~" in text and "Q~" in text:
        hits += ENTRA.hits(text)
    if "-----" in text and "PRIVATE KEY" in text:
        hits += key_blocks(text)
    if "@" in text and "://" in text:
        hits += address_credentials(text)
    hits += _named_hits(text, data.lower())
    if any(is_random(run.decode()) for run in long_runs):
        hits += random_tokens(text)
    return hits


def _named_hits(text: str, data: bytes) -> list[Hit]:
    """Secrets known by a word beside them. `data` is `text` as bytes, in lower case."""
    words = [word for word, as_bytes in _WORDS if as_bytes in data]
    others = [shapes for word, shapes in _OTHER_WORDS if word in data]
    if not data.isascii():
        words += [word for word, as_bytes in _WORDS_ABROAD if as_bytes[:1] in data and as_bytes in data]
    if not (words or others):
        return []
    lowered = data.decode("utf-8", "surrogatepass")
    hits: list[Hit] = []
    hits += assignments(text, lowered, words)
    for shapes in others:
        hits += _hits_of(shapes, text, lowered)
    return hits


def _hits_of(shapes: Sequence[Shape], text: str, lowered: str) -> Iterator[Hit]:
    for shape in shapes:
        yield from shape.hits_at_anchors(text, lowered)


def _runs(data: bytes) -> tuple[list[bytes], list[bytes]]:
    """Runs of sixteen token characters and more, with the twelve characters before each; and those of 24 and more."""
    mapped = data.translate(_TOKEN_BYTES)
    runs: list[bytes] = []
    long_runs: list[bytes] = []
    start = mapped.find(_RUN)
    while start >= 0:
        end = mapped.find(b" ", start)
        end = len(mapped) if end < 0 else end
        runs.append(data[max(0, start - _BEFORE_RUN) : end])
        if end - start >= SHORTEST:
            long_runs.append(data[start:end])
        start = mapped.find(_RUN, end)
    return runs, long_runs


def _provider_hits(text: str, runs: bytes) -> Iterator[Hit]:
    anchors = set(_ANCHORS.findall(runs))
    if not anchors:
        return
    for shape, its_anchors in _PROVIDER_ANCHORS:
        if not anchors.isdisjoint(its_anchors):
            yield from shape.hits_at_anchors(text, text)
    if not anchors.isdisjoint((b"AKIA", b"ASIA")):
        yield from _aws_secrets(text)


def _aws_secrets(text: str) -> Iterator[Hit]:
    """The forty characters that belong to an access key id, wherever they stand near it."""
    for key_id in _AWS_KEY_ID.finditer(text):
        for secret in _AWS_SECRET.finditer(text, max(0, key_id.start() - _NEAR), key_id.end() + _NEAR):
            if not re.fullmatch("[0-9a-f]{40}|[0-9A-F]{40}", secret[0]) and not secret[0].isalpha():
                yield Hit(*secret.span(), "aws")


def _outside_markers(text: str, hits: Iterable[Hit]) -> list[Hit]:
    markers = [marker.span() for marker in MARKER.finditer(text)]
    starts = [start for start, _ in markers]

    def is_inside(hit: Hit) -> bool:
        place = bisect_right(starts, hit.start) - 1
        return place >= 0 and hit.end <= markers[place][1]

    return [hit for hit in hits if hit.start < hit.end and not is_inside(hit)]


def _merged(hits: Sequence[Hit]) -> list[Hit]:
    """`hits` in order of place, overlapping ones made one under the name of the rule that comes first in `hits`."""
    order = {rule: place for place, rule in reversed(list(enumerate(hit.rule for hit in hits)))}
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda h: (h.start, h.end)):
        if merged and hit.start < merged[-1].end:
            last = merged[-1]
            rule = min(last.rule, hit.rule, key=order.__getitem__)
            merged[-1] = Hit(last.start, max(last.end, hit.end), rule)
        else:
            merged.append(hit)
    return merged


def _splice(text: str, hits: Sequence[Hit]) -> str:
    parts: list[str] = []
    end = 0
    for hit in hits:
        parts += (text[end : hit.start], f"[REDACTED:{hit.rule}]")
        end = hit.end
    return "".join((*parts, text[end:]))
