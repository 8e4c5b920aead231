"""Pages as people and other tools write them, read as they were meant."""

from __future__ import annotations

from datetime import date

import pytest

from reflect.errors import PageError
from reflect.model import Source, SourceKind
from reflect.wiki.fields import page_date, related_path, same_source
from reflect.wiki.page import parse_page
from tests.wiki.builders import PAGES, page_text, stored


def sources(*written: str) -> tuple[Source, ...]:
    return tuple(Source(kind=SourceKind(one.split()[0]), id=one.split()[1]) for one in written)


def test_a_page_of_the_reference_tool() -> None:
    page = parse_page(stored("reference-tool.md"), "decisions/zero-storage.md")
    assert page.title == "Zero-Storage Architecture"
    assert page.lead == (
        "One tool writes, the other reads: **reflect owns ingestion; qmd owns retrieval**. Nothing is injected."
    )
    assert page.sources == sources("checkpoint 4ecb34b81a12", "checkpoint b2a5adf63dd2", "commit 53c09c4")
    assert page.related == ("decisions/wiki-layer.md", "gotchas/stale-collections.md")
    assert (page.status, page.is_active) == ("open", True)
    assert (page.created, page.updated) == (date(2026, 4, 13), date(2026, 4, 13))
    assert page.notes == ()


def test_a_second_frontmatter_block_is_text_and_is_reported() -> None:
    page = parse_page(stored("two-frontmatter-blocks.md"), "guides/keeper.md")
    assert page.title == "Keeper Agent"
    assert page.lead == "The keeper queries the indexed wiki first."
    assert page.sources == ()
    assert page.notes == ("guides/keeper.md has a second frontmatter block; it is read as text of the page.",)
    assert "checkpoint a835bc7b84e5" in page.body


def test_hazard_17_types_are_normalised_at_the_boundary() -> None:
    page = parse_page(stored("normalised.md"), "open-work/no-heading_here.md")
    assert page.title == "no heading here"
    assert page.sources == sources("checkpoint 4ecb34b81a12", "commit 53c09c4")
    assert page.tags == ("api", "retries")
    assert page.status == "active"
    assert page.related == ("decisions/one.md",)
    assert (page.created, page.updated) == (date(2026, 4, 7), date(2026, 4, 7))


def test_hazard_17_a_list_for_a_title_and_a_truth_value_for_a_status() -> None:
    page = parse_page(stored("list-title.md"), "a/b.md")
    assert page.title == "Heading"
    assert page.status == "true"
    assert page.tags == ("c: d",)
    assert page.lead == "First item."


@pytest.mark.parametrize("written", ["", "null", "~", "None"], ids="hazard-17-title-{}".format)
def test_a_title_of_nothing_falls_back_to_the_heading(written: str) -> None:
    assert (
        parse_page(page_text("Real").replace("status: active", f"title: {written}").encode(), "a/b.md").title == "Real"
    )


def test_hazard_18_tags_with_commas_and_colons_stay_one_tag_each() -> None:
    page = parse_page(stored("hand-edited.md"), "a/b.md")
    assert page.tags == ("a, b", "c: d")
    assert page.title == "x"


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-04-07", date(2026, 4, 7)),
        ('"2026-04-07"', date(2026, 4, 7)),
        ("2026-4-7", date(2026, 4, 7)),
        ("2026-04-07T00:00:00Z", date(2026, 4, 7)),
        ("2026-04-07 23:59:59 +02:00", date(2026, 4, 7)),
        ("2026-02-30", None),
        ("yesterday", None),
        ("[2026-04-07]", None),
        ("", None),
    ],
    ids="hazard-20-{}".format,
)
def test_dates_in_every_form_sort_together(written: str, day: date | None) -> None:
    assert parse_page(page_text(updated=written).encode(), "a/b.md").updated == day


def test_hazard_20_a_summary_never_mixes_types_of_dates() -> None:
    written = ["2026-04-07", '"2026-04-06"', "2026-4-5", "2026-04-04T00:00:00Z"]
    pages = [parse_page(page_text(updated=one).encode(), "a/b.md").summary() for one in written]
    days = sorted(page.updated for page in pages if page.updated)
    assert days == [date(2026, 4, 4), date(2026, 4, 5), date(2026, 4, 6), date(2026, 4, 7)]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        pytest.param("bom.md", "Marked", id="hazard-14-with-frontmatter"),
        pytest.param("bom-without-frontmatter.md", "Marked", id="hazard-14-without-frontmatter"),
        pytest.param("crlf.md", "Line ends", id="hazard-37-crlf"),
        pytest.param("begins-with-a-rule.md", "Title", id="hazard-15-rule-first"),
        pytest.param("hand-edited.md", "x", id="hazard-15-rules-in-the-body"),
        pytest.param("one-line.md", "One line", id="one-line"),
    ],
)
def test_marks_line_ends_and_rules_do_not_hide_the_title(name: str, title: str) -> None:
    page = parse_page(stored(name), "a/b.md")
    assert page.title == title
    assert page.text.encode() == stored(name)


def test_hazard_39_bytes_that_are_not_utf8_name_their_line() -> None:
    with pytest.raises(PageError, match=r"^a/b\.md:5: byte 0xe9 is not UTF-8"):
        parse_page(stored("unreadable-latin1.md"), "a/b.md")


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("decisions/x", "decisions/x.md"),
        ("decisions/x.md#why", "decisions/x.md"),
        ("../decisions/x.md", "decisions/x.md"),
        ("./x.md", "gotchas/x.md"),
        ("/decisions/x.md", "decisions/x.md"),
        (".reflect/wiki/decisions/x.md", "decisions/x.md"),
        ("[X](decisions/x.md)", "decisions/x.md"),
        ("[[decisions/x]]", "decisions/x.md"),
        ("", ""),
    ],
)
def test_related_in_every_spelling(entry: str, path: str) -> None:
    assert related_path(entry, "gotchas/here.md") == path


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[{checkpoint: 4ecb34b81a12}, {commit: 0192117}]", ["checkpoint 4ecb34b81a12", "commit 0192117"]),
        ("[checkpoint 4ecb34b81a12]", ["checkpoint 4ecb34b81a12"]),
        ("checkpoint 4ecb34b81a12", ["checkpoint 4ecb34b81a12"]),
        ('["checkpoint: 4ecb34b81a12"]', ["checkpoint 4ecb34b81a12"]),
        ("[01ARZ3NDEKTSV4RRFFQ69G5FAV]", ["checkpoint 01ARZ3NDEKTSV4RRFFQ69G5FAV"]),
        ("[53c09c4, 4ecb34b81a12]", ["commit 53c09c4", "checkpoint 4ecb34b81a12"]),
        ("{checkpoint: [4ecb34b81a12, b2a5adf63dd2]}", ["checkpoint 4ecb34b81a12", "checkpoint b2a5adf63dd2"]),
        ("[commit 53c09c4, commit 53c09c4]", ["commit 53c09c4"]),
        ("null", []),
        ("[]", []),
    ],
)
def test_sources_in_every_spelling(written: str, read: list[str]) -> None:
    page = parse_page(page_text(sources=written).encode(), "a/b.md")
    assert page.sources == sources(*read)
    assert page.notes == ()


def test_a_source_of_no_known_kind_is_reported() -> None:
    page = parse_page(page_text(sources="[meeting, commit 53c09c4]").encode(), "a/b.md")
    assert page.sources == sources("commit 53c09c4")
    assert page.notes == ("a/b.md lists the source 'meeting', which names neither a checkpoint nor a commit.",)


def test_commits_are_the_same_with_more_or_fewer_digits() -> None:
    short, long, other = sources("commit 53c09c4", "commit 53c09c4abcde", "checkpoint 53c09c4abcde")
    assert same_source(short, long) and same_source(long, short)
    assert not same_source(long, other)


@pytest.mark.parametrize("text", ["yesterday", "26-01-01", "2026-13-01", "20260-1-1", ""])
def test_no_day_is_read_into_other_texts(text: str) -> None:
    assert page_date(text) is None


def test_every_stored_page_is_read_or_refused_with_its_path() -> None:
    for file in sorted(PAGES.glob("*.md")):
        if file.name.startswith("unreadable"):
            with pytest.raises(PageError, match=rf"^x/{file.name}:\d+: "):
                parse_page(file.read_bytes(), f"x/{file.name}")
        else:
            assert parse_page(file.read_bytes(), f"x/{file.name}").summary().title


def test_the_lead_leaves_out_what_is_no_text() -> None:
    hidden = "<!-- hidden\n\nmore -->\n\n---\n\n```\ncode\n```\n\n## Heading\n\n"
    body = hidden + "> Said (commit 53c09c4)\n> and wrapped.\n\nNot this."
    assert parse_page(page_text(body=body).encode(), "a/b.md").lead == "Said and wrapped."


def test_bold_words_in_a_lead_are_not_taken_for_a_list() -> None:
    assert parse_page(page_text(body="wipe **both** the * and - of it").encode(), "a/b.md").lead.count("**") == 2


def test_scope_keys_are_kept_as_they_stand() -> None:
    summary = parse_page(page_text(scope="project", project_id="007", always_on="false").encode(), "a/b.md").summary()
    assert summary.scope_keys == {"scope": "project", "project_id": "007", "always_on": False}
    assert summary.project_id == "007"
