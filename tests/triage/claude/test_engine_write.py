"""Writing: what a model may put on a page, and what becomes of a page it gets wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reflect.configuration import Format
from reflect.model import Operation
from reflect.triage.claude.faults import CapReached, ProviderFault, Refused, Unreadable
from reflect.triage.engine import NoChanges, Unusable
from tests.triage.builders import page as wiki_page
from tests.triage.claude.provider import SAID, Provider, action, bullet, engine, finding, format_with, page

SAYS = "The embed output was piped through tail, so nothing was seen."
EMBED = finding(SAYS, around=("It looked like a hang.",))
LATER = finding("Use the log file instead of tail.", position=4, said_at=SAID + timedelta(days=1))
GOOD = page(bullet("The embed output went through tail, so nothing was seen.", "piped through tail"))


def test_each_statement_stands_with_the_words_it_rests_on() -> None:
    content = engine(Provider({"write": [GOOD]})).write(action(EMBED), None)
    (section,) = content.sections
    own, quote = section.passages
    assert not own.quoted and own.text.startswith("The embed output went")
    assert quote.quoted and quote.text == SAYS and quote.evidence_ids == (EMBED.evidence_id,)
    assert content.title == "A page"


def test_a_statement_that_is_the_words_themselves_is_a_quote() -> None:
    content = engine(Provider({"write": [page(bullet(SAYS, SAYS))]})).write(action(EMBED), None)
    assert [(passage.quoted, passage.text) for passage in content.sections[0].passages] == [(True, SAYS)]


WRONG = [
    (page(bullet("The output was piped through tail.", "piped through head")), "does not stand"),
    (page(bullet("The output was piped through tail.", "")), "does not stand"),
    (page(bullet("The output was piped through tail.", "piped through tail", ["f9"])), "no finding"),
    (page(bullet("The output was piped through tail.", "piped through tail", [])), "no finding"),
    (page(bullet("The output was piped through tail in 40 seconds.", "piped through tail")), "invented value"),
    (page(bullet("The output was piped through `less`.", "piped through tail")), "invented value"),
    (page(), "omitted decision"),
    (page(*[bullet(SAYS, SAYS)] * 4), "more than 3 bullets"),
    (page(*[bullet(SAYS, SAYS, heading=f"Part {number}") for number in range(7)]), "sections"),
    (page(bullet(SAYS, SAYS), title=""), "title"),
    (page(bullet(SAYS, SAYS), title="All 12 rules"), "title"),
    (page(bullet(SAYS, SAYS, heading="AKIAIOSFODNN7EXAMPLQ")), "secret"),
    (page(bullet("See [this](gotchas/x.md) of the embed output.", "piped through tail")), "link"),
    (page(outcome="no_changes", reason="It says so."), "no page yet"),
]


@pytest.mark.parametrize(("wrong", "reason"), WRONG)
def test_a_wrong_page_is_asked_for_again_with_the_reason_and_then_not_written(wrong: Any, reason: str) -> None:
    provider = Provider({"write": [wrong, wrong]})
    with pytest.raises(Unusable, match="did not stand twice"):
        engine(provider, format=format_with(max_bullets=3)).write(action(EMBED), None)
    assert len(provider.asked) == 2 and reason in provider.asked[1].content
    assert engine(Provider({"write": [wrong, GOOD]}), format=format_with(max_bullets=3)).write(action(EMBED), None)


def test_a_page_longer_than_the_format_allows_is_not_written() -> None:
    wrong = page(*[bullet(SAYS, SAYS, heading=f"Part {number % 5}") for number in range(6)])
    with pytest.raises(Unusable, match="length"):
        engine(Provider({"write": [wrong, wrong]}), format=Format(max_lines=20)).write(action(EMBED), None)


def test_three_outcomes_that_are_no_page() -> None:
    current = wiki_page("gotchas/a-page.md", "A page", SAYS)
    update = action(EMBED, operation=Operation.UPDATE)
    with pytest.raises(NoChanges, match="It says so"):
        engine(Provider({"write": [page(outcome="no_changes", reason="It says so.")]})).write(update, current)
    with pytest.raises(Unusable):
        engine(Provider({"write": [Unreadable("cut."), Unreadable("cut.")]})).write(update, current)
    refused = engine(Provider({"write": [Refused("no.")]})).write(action(EMBED), None)
    assert next(each.text for section in refused.sections for each in section.passages if each.quoted) == SAYS


@pytest.mark.parametrize("error", [ProviderFault("529."), CapReached("cap.")])
def test_no_answer_is_no_page(error: Exception) -> None:
    with pytest.raises(type(error)):
        engine(Provider({"write": [error]})).write(action(EMBED), None)


def test_an_update_uses_the_pages_headings_and_puts_what_replaces_first() -> None:
    body = "# A page\n\n## Cause\n\n> Use tail for the output. (checkpoint aaaaaaaaaaaa)\n"
    current = wiki_page("gotchas/a-page.md", "A page", "Use tail for the output.", body)
    new = page(
        bullet(SAYS, SAYS, heading="cause"),
        bullet(LATER.quote, LATER.quote, ["f2"], replaces="Use tail for the output."),
    )
    provider = Provider({"write": [new]})
    content = engine(provider).write(action(EMBED, LATER, operation=Operation.UPDATE), current)
    assert [(section.heading, section.first) for section in content.sections] == [("Cause", False), ("Now", True)]
    assert "Use tail for the output." in provider.asked[0].content


def test_an_update_may_not_replace_what_the_page_does_not_say() -> None:
    current = wiki_page("gotchas/a-page.md", "A page", "Something else.")
    wrong = page(bullet(SAYS, SAYS, replaces="Never said this"))
    with pytest.raises(Unusable, match="does not say"):
        engine(Provider({"write": [wrong, wrong]})).write(action(EMBED, operation=Operation.UPDATE), current)


def test_a_write_call_carries_only_what_its_page_cites() -> None:
    provider = Provider()
    engine(provider).write(action(EMBED), None)
    (ask,) = provider.asked
    assert SAYS in ask.content and "It looked like a hang." in ask.content and LATER.quote not in ask.content
