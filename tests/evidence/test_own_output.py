"""What this product wrote itself is not evidence; what a person says about it is."""

from __future__ import annotations

import pytest

from reflect.evidence.own_output import PROMPT_MARKER, is_own_session, without_own_output
from reflect.model import Channel, Speaker, Turn

INDEX = """\
# Knowledge Base Index

> 3 active pages across 2 categories

## Decisions
- [Retry policy](decisions/retry-policy.md): at most three
- [Queue names](decisions/queue-names.md): one per tenant

## Gotchas
- [Time zones](gotchas/time-zones.md): the scheduler speaks UTC
"""
PAGE = """\
---
created: '2026-04-07'
updated: '2026-04-09'
sources:
- checkpoint: 4ecb34b81a12
tags: []
status: active
related: []
---
# Retry policy

Never more than three (checkpoint 4ecb34b81a12).
"""
SCOPED = "project_id: payments\nscope_confidence: 0.9\nscope_source: workspace\n"
PAGES = frozenset({"decisions/retry-policy.md", "decisions/queue-names.md", "gotchas/time-zones.md"})


def person(text: str, channel: Channel = Channel.PROMPT) -> Turn:
    return Turn(Speaker.PERSON, channel, text, 1)


def reply(text: str, position: int = 2) -> Turn:
    return Turn(Speaker.ASSISTANT, Channel.REPLY, text, position)


@pytest.mark.parametrize(
    "text",
    [
        INDEX,
        f"Here is what the wiki holds:\n\n{INDEX}",
        "     1\t# Knowledge Base Index\n     2\t\n     3\t> 3 active pages",
        "     1→# Knowledge Base Index",
        PAGE,
        SCOPED,
        "Pages: decisions/retry-policy.md, decisions/queue-names.md and gotchas/time-zones.md.",
        f"{PROMPT_MARKER}\nReflect on the session below.",
        "You are a triage agent for a project wiki. Answer with JSON.",
    ],
    ids=[
        "index",
        "index-in-reply",
        "index-numbered",
        "index-arrow",
        "page",
        "scope-keys",
        "list",
        "prompt",
        "old-prompt",
    ],
)
@pytest.mark.parametrize("speaker", [Speaker.PERSON, Speaker.ASSISTANT, Speaker.TOOL])
def test_hazard_74_what_the_wiki_says_is_left_out(text: str, speaker: Speaker) -> None:
    said = Turn(speaker, Channel.PROMPT, text, 1)
    kept = person("Use tabs here.")
    assert without_own_output((said, kept), PAGES, None) == (kept,)


@pytest.mark.parametrize(
    "text",
    [
        "The Knowledge Base Index lists resolved pages as active; count the active ones alone.",
        "Fix the page decisions/retry-policy.md, it says three and we want five.",
        "status: done. I created the queue, sources are in src/.",
        "You are a great help. Never commit to main.",
        "See (checkpoint 4ecb34b81a12): we decided against it.",
        "The frontmatter key `scope_source:` must stay.",
    ],
)
def test_what_a_person_says_about_the_wiki_is_kept(text: str) -> None:
    turns = (person(text),)
    assert without_own_output(turns, PAGES, 0) == turns


def test_hazard_74_an_agent_that_read_the_wiki_restates_it() -> None:
    before = reply("As decided (checkpoint 4ecb34b81a12), three retries.", position=3)
    after = reply("As decided (checkpoint 4ecb34b81a12), three retries.", position=9)
    own_words = reply("I will cap the retries now.", position=10)
    asked = person("As decided (checkpoint 4ecb34b81a12), three retries.")
    assert without_own_output((asked, before, after, own_words), frozenset(), 5) == (asked, before, own_words)


def test_what_was_asked_about_counts_as_well() -> None:
    approved = Turn(Speaker.PERSON, Channel.PLAN_APPROVED, "", 3, about=PAGE)
    assert without_own_output((approved,), frozenset(), None) == ()


class TestOwnSessions:
    def test_hazard_75_the_first_prompt_is_our_own(self) -> None:
        assert is_own_session((reply("Hello"), person(f"{PROMPT_MARKER} plan"), person("Use tabs.")))

    def test_a_prompt_quoted_later_is_not(self) -> None:
        assert not is_own_session((person("Why does this fail?"), person(f"{PROMPT_MARKER} plan")))
        assert not is_own_session((person(f"Our prompts begin with {PROMPT_MARKER}"),))

    def test_nobody_spoke(self) -> None:
        assert not is_own_session((reply("Hello"),))
        assert not is_own_session(())


def tool(position: int) -> Turn:
    return Turn(Speaker.ASSISTANT, Channel.TOOL_USE, "", position, tool="Read")


def test_hazard_74_what_an_agent_says_right_after_looking_into_the_wiki_is_the_wikis() -> None:
    looked, other = tool(2), tool(4)
    told, found, asked = (
        reply("Retries are capped, says the wiki.", 3),
        reply("The cap is 4 in the code.", 5),
        person("ok"),
    )
    turns = (person("what do we know?"), looked, told, other, found, asked, reply("I will change it.", 7))
    kept = without_own_output(turns, frozenset(), 2, frozenset({2}))
    assert told not in kept
    assert [turn for turn in turns if turn is not told] == list(kept)
