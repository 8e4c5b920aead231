"""A model that does as it is told: it answers the three questions out of their own content, the same way every time.

It stands in for a real one where no provider can be reached: tests, demonstrations, counting what would be sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ITEM = re.compile(r"^\[(?P<id>e\d+(?:\.\d+)?) \| (?P<head>[^\]]*)\] (?P<text>.*)$")
_FINDING = re.compile(r"^\[(?P<id>f\d+) \| (?P<head>[^\]]*)\] (?P<text>.*)$")
_PAGE = re.compile(r"^(?P<path>\S+\.md) \| (?P<status>\w+) \| (?P<title>[^|]*) \|")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_CUES = (
    ("decisions", re.compile(r"\b(?:because|instead of|decided|rather than)\b", re.IGNORECASE)),
    ("gotchas", re.compile(r"\b(?:root cause|turns out|silently|fails|buffer)", re.IGNORECASE)),
    ("preferences", re.compile(r"\b(?:never|always|please use|do not|don't)\b", re.IGNORECASE)),
    ("open-work", re.compile(r"\b(?:todo|still open|next step)\b", re.IGNORECASE)),
)
_FEWEST_WORDS = 4
_MOST = 6


@dataclass(frozen=True, slots=True)
class _Said:
    id: str
    head: str
    text: str


def answer(schema: Mapping[str, Any], content: str) -> dict[str, Any]:
    """The answer to one question, told by the schema it has to fit."""
    asked = schema["properties"]
    if "bullets" in asked:
        return _write(content)
    if "actions" in asked:
        return _plan(content)
    return _reflect(content)


def _reflect(content: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for item in _between(content, "evidence", _ITEM):
        for sentence in (match.group().strip() for match in _SENTENCE.finditer(item.text)):
            category = next((name for name, cue in _CUES if cue.search(sentence)), None)
            if category is not None and len(sentence.split()) >= _FEWEST_WORDS and len(found) < _MOST:
                found.append(
                    {
                        "category": category,
                        "kind": "episode_lesson",
                        "headline": " ".join(sentence.rstrip(".!?").split()[:12]),
                        "item": item.id,
                        "quote": sentence,
                        "confidence": "high",
                    }
                )
    return {"findings": found}


def _plan(content: str) -> dict[str, Any]:
    pages = [match for line in content.split("\n") if (match := _PAGE.match(line))]
    actions: list[dict[str, Any]] = []
    for finding in _between(content, "findings", _FINDING):
        headline = finding.text.split(" — ")[0]
        category = finding.head.split(" | ")[2]
        target = next((page["path"] for page in pages if _alike(page["title"], headline)), "")
        joined = next((each for each in actions if _alike(each["title"], headline)), None)
        if joined is not None and len(joined["findings"]) < _MOST:
            joined["findings"].append(finding.id)
            continue
        actions.append(
            {
                "op": "update" if target else "create",
                "category": category,
                "title": " ".join(headline.split()[:10]),
                "target": target,
                "findings": [finding.id],
                "reason": "It says why something is as it is.",
                "tags": [],
            }
        )
    return {"actions": actions, "skipped": []}


def _write(content: str) -> dict[str, Any]:
    bullets = [
        {
            "heading": "Earlier" if "takes this back" in finding.head else "What is known",
            "text": finding.text,
            "findings": [finding.id],
            "quote": finding.text,
            "replaces": "",
        }
        for finding in _between(content, "findings", _FINDING)
    ]
    title = content.split("\n", 1)[0].partition(": ")[2]
    return {"outcome": "written", "reason": "", "title": title, "bullets": bullets}


def _between(content: str, marker: str, shape: re.Pattern[str]) -> Iterator[_Said]:
    """The numbered blocks between two markers, each with the lines that are set in below its first."""
    _, _, inside = content.partition(f"<{marker}>\n")
    current: _Said | None = None
    for line in inside.partition(f"\n</{marker}>")[0].split("\n"):
        match = shape.match(line)
        if match is not None:
            if current is not None:
                yield current
            current = _Said(match["id"], match["head"], match["text"])
        elif current is not None and line.startswith("  ") and marker == "evidence":
            current = _Said(current.id, current.head, f"{current.text}\n{line[2:]}")
    if current is not None:
        yield current


def _alike(one: str, other: str) -> bool:
    words, others = set(one.casefold().split()), set(other.casefold().split())
    return bool(words and others) and len(words & others) >= 0.6 * min(len(words), len(others))
