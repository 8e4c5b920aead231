"""Recognises this product's own words in a session: its prompts, its index and pages, and repeats of them.

A wiki that takes its own pages for evidence restates itself until nothing else is left. Wording is only used here to
leave something out, never to let something in: a person who writes about the wiki in their own words is heard.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from reflect.model import Channel, Speaker, Turn

PROMPT_MARKER = "<reflect:task>"
"""Opens every prompt this product sends to a model; a session whose first prompt carries it is one of its own."""

_PROMPT = re.compile(
    r"\s*(?:<reflect:[a-z_-]+>|You are (?:a|an|the) (?:reflect |wiki |knowledge[- ]base )?"
    r"(?:triage|write|ingest|wiki) (?:sub)?agent\b)",
    re.IGNORECASE,
)
_INDEX = re.compile(r"^\s{0,8}(?:\d+[→|:\t ]\s*)?#\s+Knowledge Base Index\s*$", re.MULTILINE)
_OWN_KEYS = re.compile(
    r"^\s{0,8}(?:\d+[→|:\t ]\s*)?(scope_confidence|scope_source|reflection_kind|workspace_root|memory_type"
    r"|sources|related|created|updated|status):",
    re.MULTILINE,
)
_SCOPE_KEYS = frozenset({"scope_confidence", "scope_source", "reflection_kind", "memory_type"})
_PAGE_KEYS = frozenset({"sources", "created", "updated", "status"})
_CITATION = re.compile(r"\((?:checkpoint [0-9a-f]{12}|checkpoint [0-7][0-9A-HJKMNP-TV-Z]{25}|commit [0-9a-f]{12})\b")
_PAGE_LINK = re.compile(r"[\w.-]+/[\w.-]+\.md\b")

_PAGES_OF_AN_INDEX = 3


def is_own_session(turns: tuple[Turn, ...]) -> bool:
    """Whether the session is one in which this product talked to a model: its first prompt is the product's."""
    for turn in turns:
        if turn.speaker is Speaker.PERSON and turn.text:
            return _PROMPT.match(turn.text) is not None
    return False


def without_own_output(
    turns: tuple[Turn, ...],
    known_pages: AbstractSet[str],
    wiki_read_at: int | None,
    wiki_calls: AbstractSet[int] = frozenset(),
) -> tuple[Turn, ...]:
    """`turns` without those that repeat this product's pages, index or prompts.

    `known_pages` are the paths of the wiki's pages, relative to it: a text that lists several of them is its index.
    `wiki_read_at` is the position in the transcript at which the agent first opened the wiki, if it did;
    `wiki_calls` are the positions of all calls that look into it. What an agent says behind such a call, before it
    looked at anything else and before the person spoke, it has from there, in whatever words.
    """
    kept: list[Turn] = []
    tells_of_wiki = False
    for turn in turns:
        if turn.channel is Channel.TOOL_USE:
            tells_of_wiki = turn.position in wiki_calls
        elif turn.speaker is Speaker.PERSON:
            tells_of_wiki = False
        has_read_wiki = wiki_read_at is not None and turn.position >= wiki_read_at
        texts = [text for text in (turn.text, turn.about) if text]
        if tells_of_wiki and turn.channel is Channel.REPLY:
            continue
        if not any(_repeats_wiki(text, turn.speaker, known_pages, has_read_wiki) for text in texts):
            kept.append(turn)
    return tuple(kept)


def _repeats_wiki(text: str, speaker: Speaker, known_pages: AbstractSet[str], has_read_wiki: bool) -> bool:
    if _PROMPT.match(text) or ("Knowledge Base Index" in text and _INDEX.search(text)) or _holds_frontmatter(text):
        return True
    if known_pages and ".md" in text:
        named = set(_PAGE_LINK.findall(text))
        if len(named & known_pages) >= _PAGES_OF_AN_INDEX:
            return True
    # An agent that has read the wiki restates it with the citations it found there; a person does not write those.
    return has_read_wiki and speaker is Speaker.ASSISTANT and _CITATION.search(text) is not None


def _holds_frontmatter(text: str) -> bool:
    if "sources:" not in text and "scope_" not in text and "_kind:" not in text:
        return False
    keys = set(_OWN_KEYS.findall(text))
    return len(keys & _SCOPE_KEYS) > 1 or keys >= _PAGE_KEYS
