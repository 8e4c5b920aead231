"""Drafts: what code writes around the words, and what a merge leaves alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reflect.errors import PageError, WikiError
from reflect.model import Operation, PageContent, Passage, Section, Source, SourceKind
from reflect.wiki.draft import draft_page, without_missing_links
from reflect.wiki.markdown import fold, split_lines
from reflect.wiki.page import BANNER, MIXED_BANNER, parse_page
from reflect.wiki.passages import cited_quotes, cited_sources
from reflect.wiki.related import Neighbours
from reflect.wiki.store import WikiState
from tests.wiki.builders import (
    COMMIT,
    DAY,
    KEYS,
    OTHER_SESSION,
    PAGES,
    SESSION,
    action,
    content,
    drafted,
    for_any,
    page_text,
    passage,
    stored,
)

READABLE = sorted(file.name for file in PAGES.glob("*.md") if "unreadable" not in file.name)
UPDATE = action(operation=Operation.UPDATE)
RESOLVE = action(operation=Operation.RESOLVE)

NEW_PAGE = """\
---
created: 2026-05-01
updated: 2026-05-01
sources:
  - checkpoint: "4ecb34b81a12"
  - commit: "993631c0abcd"
tags: ["a, b", retries]
status: active
memory_type: fact
scope: project
project_id: "0123"
always_on: false
---

# Retry policy

_Extracted: quotes from sessions and commits, not a summary._

## What was said

> cap at three (checkpoint 4ecb34b81a12, commit 993631c0abcd)

> the gateway drops the fourth (checkpoint 4ecb34b81a12)
"""


def test_a_new_page_to_the_byte() -> None:
    said = content(
        passage("cap at\n three", SESSION, COMMIT),
        passage("the gateway drops the fourth"),
        tags=("a, b", "retries"),
    )
    draft = drafted(said)
    assert draft.text == NEW_PAGE
    assert draft.base_sha256 is None and draft.changed
    assert [str(source) for source in draft.sources] == ["checkpoint 4ecb34b81a12", "commit 993631c0abcd"]
    assert draft.quotes == said.sections[0].passages


def test_hazard_88_a_page_without_a_source_is_never_written() -> None:
    with pytest.raises(PageError, match="no passage to write"):
        drafted(PageContent(title="T", sections=()))
    with pytest.raises(PageError, match="no passage to write"):
        drafted(content(passage(" \n\x00 ")))
    with pytest.raises(PageError, match="names no evidence"):
        drafted(content(Passage(text="x", evidence_ids=(), said_at=DAY)))


def test_hazard_89_nothing_stands_on_a_new_page_that_was_not_given() -> None:
    body = parse_page(drafted(content(passage("cap at three"))).content, "a/b.md").body
    assert [line for line in body.splitlines() if line] == [
        "# Retry policy",
        BANNER,
        "## What was said",
        "> cap at three (checkpoint 4ecb34b81a12)",
    ]


def test_prose_of_an_engine_is_no_quote_and_gets_no_banner() -> None:
    draft = drafted(content(passage("Attempts stop at three.", quoted=False)))
    assert "Attempts stop at three. (checkpoint 4ecb34b81a12)\n" in draft.text
    assert "> " not in draft.text
    assert BANNER not in draft.text


def test_a_page_of_quotes_and_prose_says_which_is_which() -> None:
    mixed = drafted(content(passage("cap at three"), passage("Attempts stop at three.", quoted=False)))
    assert f"\n\n{MIXED_BANNER}\n\n" in mixed.text
    quotes = drafted(content(passage("cap at three")))
    grown = drafted(content(passage("Attempts stop at three.", COMMIT, quoted=False)), quotes.content)
    assert MIXED_BANNER in grown.text and BANNER not in grown.text
    assert parse_page(grown.content, "a/b.md").lead == "cap at three"


def test_the_day_is_the_newest_evidence_in_utc() -> None:
    late = datetime(2026, 5, 2, 1, 0, tzinfo=timezone(timedelta(hours=5)))
    draft = drafted(content(passage("a", at=late), passage("b", at=datetime(2026, 4, 1, tzinfo=UTC))))
    assert "created: 2026-05-01\nupdated: 2026-05-01\n" in draft.text


@pytest.mark.parametrize("name", READABLE)
def test_hazard_87_a_merge_keeps_every_line_and_adds_what_is_new(name: str) -> None:
    before = stored(name)
    draft = drafted(content(passage("cap at three", COMMIT)), before)
    after = parse_page(draft.content, "a/b.md")
    assert "> cap at three (commit 993631c0abcd)" in split_lines(after.body.replace("\r\n", "\n"))[-1]
    kept = iter(split_lines(after.body))
    for line in split_lines(parse_page(before, "a/b.md").body):
        assert any(line.rstrip("\r\n") == other.rstrip("\r\n") for other in kept), line
    assert set(parse_page(before, "a/b.md").sources) < set(after.sources)


@pytest.mark.parametrize("name", READABLE)
def test_hazard_93_the_same_evidence_twice_changes_nothing(name: str) -> None:
    said = content(passage("cap at three", OTHER_SESSION), passage("# <!-- odd", COMMIT), tags=("x", "y"))
    once = drafted(said, stored(name))
    twice = drafted(said, once.content)
    assert once.changed
    assert (twice.content, twice.changed, twice.quotes) == (once.content, False, ())


@pytest.mark.parametrize("name", READABLE)
def test_hazard_20_others_read_the_frontmatter_too(name: str) -> None:
    draft = drafted(content(passage("cap at three", COMMIT)), stored(name))
    block = draft.text.removeprefix("\ufeff").split("---", 2)[1]
    data = yaml.safe_load(block)
    assert {"commit": "993631c0abcd"} in data["sources"]
    assert str(data["updated"]).startswith("2026-05-01")


@pytest.mark.parametrize("name", sorted(file.name for file in PAGES.glob("unreadable-*")))
def test_hazard_11_and_12_a_page_that_does_not_parse_is_never_drafted_over(name: str) -> None:
    with pytest.raises(PageError, match="left as it is"):
        drafted(content(passage("cap at three")), stored(name))


def test_hazard_14_the_byte_order_mark_stays_first_and_alone() -> None:
    for name in ("bom.md", "bom-without-frontmatter.md"):
        text = drafted(content(passage("cap at three", OTHER_SESSION)), stored(name)).text
        assert text.startswith("\ufeff---\n")
        assert text.count("\ufeff") == 1


def test_hazard_37_line_ends_stay_and_new_lines_get_the_same() -> None:
    draft = drafted(content(passage("cap at three", OTHER_SESSION), tags=("x",)), stored("crlf.md"))
    assert draft.text.count("\n") == draft.text.count("\r\n")
    assert not drafted(content(passage("Keep them.", SESSION)), stored("crlf.md")).changed


@pytest.mark.parametrize(
    ("name", "stands"),
    [("hand-edited.md", "Text between two rules."), ("crlf.md", "Keep them."), ("bom.md", "Text.")],
)
def test_hazard_37_a_page_that_says_it_already_stays_to_the_byte(name: str, stands: str) -> None:
    draft = drafted(content(passage(stands, SESSION)), stored(name))
    assert (draft.content, draft.changed) == (stored(name), False)


HAND_EDITED_AFTER = """\
---
# kept by the team
owner: "Ada"  # asks for it
created: 2026-04-07
updated: 2026-05-01   # bumped by hand
sources:
- checkpoint: 4ecb34b81a12   # the long session
# and the fix
- commit: 53c09c4
- checkpoint: "b2a5adf63dd2"
tags: ["a, b", "c: d", new]
title: x # y
status: active
reviewed: yes
memory_type: fact
scope: project
project_id: "0123"
always_on: false
---

# Retry policy

Cap at three attempts.

---

Text between two rules.

---

## Why

- The gateway drops the fourth. (checkpoint 4ecb34b81a12)

```yaml
---
## not a heading
---
```

> it answers 429 (checkpoint b2a5adf63dd2)

## Open questions

None.
"""


def test_what_a_person_wrote_into_a_page_survives_to_the_byte() -> None:
    said = content(passage("it answers 429", OTHER_SESSION), heading="why", tags=("new",))
    assert drafted(said, stored("hand-edited.md")).text == HAND_EDITED_AFTER


def test_hazard_18_a_tag_with_a_comma_is_one_tag_after_an_update() -> None:
    draft = drafted(content(passage("x", OTHER_SESSION), tags=("d, e",)), stored("hand-edited.md"))
    assert parse_page(draft.content, "a/b.md").tags == ("a, b", "c: d", "d, e")


def test_dates_move_forward_only() -> None:
    before = page_text(created="2026-01-01", updated="2026-07-01").encode()
    text = drafted(content(passage("older news")), before).text
    assert "created: 2026-01-01\nupdated: 2026-07-01\n" in text


def test_the_same_words_from_a_new_source_add_the_source_alone() -> None:
    once = drafted(content(passage("cap at three", SESSION)))
    more = drafted(content(passage("cap at three", OTHER_SESSION)), once.content)
    assert more.quotes == ()
    assert [source.id for source in more.sources] == ["4ecb34b81a12", "b2a5adf63dd2"]
    assert more.text.count("cap at three") == 1


def test_a_commit_listed_by_fewer_digits_is_not_listed_again() -> None:
    before = page_text(body="cap at three", sources=f"[commit {COMMIT[:7]}]").encode()
    assert not drafted(content(passage("cap at three", COMMIT)), before).changed


@pytest.mark.parametrize("stands", ["> never use tabs", "- We never use tabs here", "Please do not use tabs."])
def test_a_statement_inside_a_longer_one_does_not_stand_there(stands: str) -> None:
    draft = drafted(content(passage("use tabs", OTHER_SESSION)), page_text(body=stands).encode())
    assert [quote.text for quote in draft.quotes] == ["use tabs"]


@pytest.mark.parametrize(
    "stands",
    [
        "> use tabs (commit 53c09c4)",
        "- use tabs",
        "It was said. use tabs. And so on.",
        "> use\n> tabs",
        "## use tabs",
        'He said "use tabs" twice.',
    ],
)
def test_a_statement_of_its_own_stands_however_it_is_wrapped(stands: str) -> None:
    draft = drafted(content(passage("use tabs", OTHER_SESSION)), page_text(body=stands).encode())
    assert draft.quotes == ()


def test_resolving_sets_the_status_and_adds_the_words_that_say_so() -> None:
    draft = drafted(content(passage("fixed in the last commit", COMMIT)), stored("reference-tool.md"), of=RESOLVE)
    page = parse_page(draft.content, "a/b.md")
    assert page.status == "resolved"
    assert cited_quotes(page.body)[-1].text == "fixed in the last commit"
    assert not drafted(content(passage("fixed in the last commit", COMMIT)), draft.content, of=RESOLVE).changed


def test_what_does_not_exist_cannot_be_updated() -> None:
    for wanted in (UPDATE, RESOLVE):
        with pytest.raises(WikiError, match="does not exist"):
            drafted(content(passage("x")), None, of=wanted)


def test_creating_a_page_that_exists_merges_into_it() -> None:
    draft = drafted(content(passage("x", OTHER_SESSION)), stored("hand-edited.md"), of=action())
    assert "Cap at three attempts.\n" in draft.text


@pytest.mark.parametrize("path", ["decisions/Retry_Policy.md", "decisions/retry policy.md"])
def test_hazard_22_a_twin_of_an_existing_page_is_not_created(path: str) -> None:
    state = WikiState(pages=(parse_page(page_text().encode(), "decisions/retry-policy.md").summary(),))
    with pytest.raises(WikiError, match=r"another spelling of the page decisions/retry-policy\.md"):
        drafted(content(passage("x")), of=action(path), state=state)


@pytest.mark.parametrize("path", ["../../.github/x.md", "_archive/x.md", "a/b/../c.md"])
def test_hazard_27_no_draft_outside_the_wiki(path: str) -> None:
    with pytest.raises(WikiError, match="cannot be the path of a page"):
        drafted(content(passage("x")), of=action(path))


def test_a_page_over_its_length_is_said() -> None:
    long = content(*(passage(f"statement {number}") for number in range(100)))
    draft = draft_page(action(), long, None, keys=KEYS, neighbours=Neighbours.of(WikiState()), max_lines=150)
    assert draft.notes == ("decisions/retry-policy.md has 217 lines, more than the 150 that format.yaml allows.",)


def test_what_looks_like_a_secret_is_not_written() -> None:
    def finds(text: str) -> tuple[str, ...]:
        return ("aws-key",) if "AKIA" in text else ()

    for said in (
        content(passage("use AKIA…")),
        content(passage("x"), heading="AKIA"),
        content(passage("x"), tags=("AKIA",)),
    ):
        with pytest.raises(PageError, match="looks like a secret"):
            draft_page(action(), said, None, keys=KEYS, neighbours=Neighbours.of(WikiState()), finds=finds)


def test_text_behind_a_fence_that_is_never_closed_goes_before_it() -> None:
    before = page_text(body="Text.\n\n```\nnever closed").encode()
    page = parse_page(drafted(content(passage("seen", OTHER_SESSION)), before).content, "a/b.md")
    assert [quote.text for quote in cited_quotes(page.body)] == ["seen"]


def test_keys_of_the_scope_are_replaced_where_they_changed_and_kept_where_not() -> None:
    before = page_text(scope="project  # ours", origin="untrusted", project_id="other").encode()
    text = drafted(content(passage("x")), before).text
    assert 'scope: project  # ours\norigin: untrusted\nproject_id: "0123"\n' in text


def test_nested_frontmatter_too_deep_to_change_is_refused() -> None:
    before = page_text(odd="[" * 900 + "]" * 900).encode()
    with pytest.raises(PageError, match="left as it is"):
        drafted(content(passage("x")), before)


def with_related(written: str) -> bytes:
    return page_text(related=written, sources='[{checkpoint: "4ecb34b81a12"}]').encode()


def wiki_of(*paths: str) -> WikiState:
    text = page_text(sources="[checkpoint 4ecb34b81a12, checkpoint b2a5adf63dd2]").encode()
    return WikiState(pages=tuple(parse_page(text, path).summary() for path in paths))


def test_broken_links_are_left_alone_until_the_page_changes() -> None:
    before = with_related("[decisions/gone, a/there]")
    state = wiki_of("a/there.md")
    assert drafted(content(passage("Text.", SESSION)), before, state=state).content == before
    draft = drafted(content(passage("new")), before, state=state)
    assert "related:\n  - a/there.md\n" in draft.text
    assert draft.notes == (
        "decisions/retry-policy.md listed decisions/gone.md as related, which does not exist; it was dropped.",
    )


def test_a_page_with_only_broken_links_loses_the_key() -> None:
    draft = drafted(content(passage("new", COMMIT)), with_related("[decisions/gone]"))
    assert "related" not in draft.text


def test_links_to_pages_that_were_not_written_after_all_are_dropped() -> None:
    state = wiki_of("a/one.md", "a/two.md")
    draft = drafted(content(passage("x"), passage("y", OTHER_SESSION)), state=state)
    assert "related:\n  - a/one.md\n  - a/two.md\n" in draft.text
    assert "related:\n  - a/two.md\n" in without_missing_links(draft, {"a/two.md"}).text
    assert "related" not in without_missing_links(draft, set()).text
    assert without_missing_links(draft, {"a/one.md", "a/two.md"}) is draft


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(lambda t: fold(t))
evidence = st.sampled_from([SESSION, OTHER_SESSION, COMMIT, "01ARZ3NDEKTSV4RRFFQ69G5FAV/3", "0192117e0000" + "0" * 28])
passages = st.builds(passage, words, evidence, quoted=st.just(True))
sections = st.lists(
    st.builds(Section, heading=words, passages=st.lists(passages, min_size=1, max_size=3).map(tuple)),
    min_size=1,
    max_size=3,
).map(tuple)
tags = st.lists(words | st.sampled_from(["null", "None", "~", "no", "a, b"]), max_size=5).map(tuple)
contents = st.builds(PageContent, title=words, sections=sections, tags=tags)


@for_any
@given(contents)
def test_any_content_is_written_and_read_back(said: PageContent) -> None:
    draft = drafted(said)
    page = parse_page(draft.content, "a/b.md")
    assert page.title == fold(said.title)
    assert page.tags == tuple(dict.fromkeys(fold(tag) for tag in said.tags))[:4]
    assert (
        set(page.sources)
        == set(draft.sources)
        == set(cited_sources(page.body)) | {Source.of(one) for one in all_evidence(said)}
    )
    written = {fold(quote.text).replace("\\", "") for quote in cited_quotes(page.body)}
    assert {fold(quote.text).replace("\\", "") for quote in draft.quotes} == written
    assert not drafted(said, draft.content).changed


@for_any
@given(contents, contents)
def test_any_two_contents_merge_without_losing_a_line(one: PageContent, two: PageContent) -> None:
    first = drafted(one)
    second = drafted(two, first.content)
    rest = iter(split_lines(second.text))
    body = parse_page(first.content, "a/b.md").body
    assert all(any(line == other for other in rest) for line in split_lines(body))
    assert not drafted(one, second.content).changed


def all_evidence(said: PageContent) -> Iterator[str]:
    for section in said.sections:
        for one in section.passages:
            yield from one.evidence_ids


def test_every_citation_is_in_the_frontmatter_and_every_quote_in_its_own_line() -> None:
    draft = drafted(content(passage("a", SESSION, OTHER_SESSION, SESSION), passage("b", COMMIT)))
    page = parse_page(draft.content, "a/b.md")
    assert cited_sources(page.body) == page.sources
    assert page.sources[2] == Source(kind=SourceKind.COMMIT, id=COMMIT[:12])
    assert len(re.findall(r"^> .+ \((?:checkpoint|commit) .+\)$", page.body, re.MULTILINE)) == 2


def _now(*texts: str) -> PageContent:
    section = Section(heading="Now", passages=tuple(passage(text, COMMIT) for text in texts), first=True)
    return PageContent(title="T", sections=(section,))


@pytest.mark.parametrize(
    ("body", "above"),
    [
        (f"\n# T\n\n{BANNER}\n\n## Why\n\nOld.\n", ["# T", BANNER]),
        ("\n# T\n\nOld.\n", ["# T"]),
        ("\nT\n===\n\nOld.\n", ["T", "==="]),
        ("\nOld.\n\n# T\n", []),
        ("\n## Why\n\nOld.\n", []),
    ],
    ids=["banner", "title", "underlined", "text-before-title", "no-title"],
)
def test_what_is_newest_stands_above_all_that_stood_there(body: str, above: list[str]) -> None:
    before = f"---\nstatus: active\n---\n{body}".encode()
    lines = [line for line in parse_page(drafted(_now("wait 15"), before).content, "a/b.md").body.splitlines() if line]
    assert lines[: len(above) + 2] == [*above, "## Now", "> wait 15 (commit 993631c0abcd)"]


def test_the_newest_of_several_newest_statements_comes_first() -> None:
    once = drafted(_now("wait 15"), page_text(body="Wait five.").encode())
    twice = drafted(_now("wait 20"), once.content)
    assert [quote.text for quote in cited_quotes(parse_page(twice.content, "a/b.md").body)] == ["wait 20", "wait 15"]
    assert not drafted(_now("wait 20"), twice.content).changed


@pytest.mark.parametrize("name", READABLE)
def test_a_newest_statement_loses_no_line(name: str) -> None:
    before = stored(name)
    after = parse_page(drafted(_now("cap at three"), before).content, "a/b.md")
    kept = iter(split_lines(after.body))
    for line in split_lines(parse_page(before, "a/b.md").body):
        assert any(line.rstrip("\r\n") == other.rstrip("\r\n") for other in kept), line
    assert [quote.text for quote in cited_quotes(after.body)].count("cap at three") == 1
