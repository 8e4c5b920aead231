"""Text that came from somewhere stays text. The referee is a CommonMark parser that knows nothing of this code."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reflect.wiki.markdown import as_heading, as_said, as_text, fold, headings, left_open, split_lines, unescape
from tests.wiki.builders import for_any

PIECES = """# ## - + * > 1. 12) ``` ` `` ~~~ --- === < <!-- --> <script> </script> <b <https://a.b> ![x](y) [x]: [x][y]
    [a\\]b]: \\ \\<b> | a word é 語 😀 \x00 \u200f ! [ ] ( ) _ :"""
pieces = st.sampled_from([*PIECES.split(), *" \n\t\u2028"])
nasty = st.lists(pieces, max_size=12).map("".join)
markdown = MarkdownIt("commonmark", {"html": True})


def blocks(source: str) -> list[str]:
    return [token.type for token in markdown.parse(source)]


@for_any
@given(nasty)
def test_text_in_a_quote_is_one_paragraph_without_markup_that_acts(text: str) -> None:
    tokens = markdown.parse(f"> {as_text(text)} (commit 993631c0abcd)\n\nafter\n")
    kinds = [token.type for token in tokens]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    assert kinds == ["blockquote_open", *paragraph, "blockquote_close", *paragraph]
    acting = {child.type for child in tokens[2].children or ()} & {"html_inline", "image"}
    assert acting == set()


@for_any
@given(nasty)
def test_the_words_come_back_as_they_were_said(text: str) -> None:
    assert as_said(as_text(text)).replace("\\", "") == fold(text).replace("\\", "")


@for_any
@given(nasty)
def test_only_backslashes_are_added(text: str) -> None:
    assert as_text(text).replace("\\", "") == fold(text).replace("\\", "")


@for_any
@given(nasty)
def test_a_heading_reads_back_as_its_text(text: str) -> None:
    line = f"# {as_heading(text)}"
    (heading,) = headings([line])
    assert heading.text == fold(text)
    assert blocks(f"{line}\n\nafter\n")[:3] == ["heading_open", "inline", "heading_close"]


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("use `Vec<u8>` here", "use `Vec<u8>` here"),
        ("use Vec<u8> here", "use Vec\\<u8> here"),
        ("\\`<script>`", "\\`\\<script>`"),
        ("# title", "\\# title"),
        ("#tag", "#tag"),
        ("1. first", "1\\. first"),
        ("1.5 times", "1.5 times"),
        ("- item", "\\- item"),
        ("-v is a flag", "-v is a flag"),
        ("```\ncode\n```", "``` code ```"),
        ("```python", "\\```python"),
        ("[x]: /etc/passwd", "\\[x]: /etc/passwd"),
        ("[x] done", "[x] done"),
        ("C:\\agent\\run", "C:\\agent\\run"),
        ("a < b and b > c", "a < b and b > c"),
        ("  two\n lines\u2028three ", "two lines three"),
    ],
)
def test_what_needs_no_mark_gets_none(said: str, written: str) -> None:
    assert as_text(said) == written
    assert as_said(written) == fold(said)


@for_any
@given(st.lists(st.sampled_from(["# a", "## b ##", "c", "", "===", "---", "```", "~~~~", "    # d", "#e"]), max_size=8))
def test_headings_are_those_that_commonmark_sees(lines: list[str]) -> None:
    tokens = MarkdownIt("commonmark").parse("\n".join(lines))
    seen = [
        (int(token.tag[1]), after.content.split("\n")[-1].strip())
        for token, after in pairwise(tokens)
        if token.type == "heading_open"
    ]
    assert [(heading.level, heading.text) for heading in headings(lines)] == seen


def test_headings_in_comments_and_scripts_are_none() -> None:
    lines = split_lines("<!--\n# a\n-->\n<script>\n# b\n</script>\n# c\n<!-- one line -->\n## d\n")
    assert [heading.text for heading in headings(lines)] == ["c", "d"]


@pytest.mark.parametrize("text", ["```\na\n", "<!--\na\n", "~~~~\n~~~\n"])
def test_a_block_that_is_never_closed_is_seen(text: str) -> None:
    assert left_open(split_lines(text))
    assert not left_open(split_lines("```\na\n```\n"))


@given(st.text(st.sampled_from("a\r\n\u2028\x0b\x85"), max_size=12))
def test_lines_are_cut_where_markdown_cuts_them(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(re.fullmatch(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", line) for line in lines)


@for_any
@given(st.text(max_size=30))
def test_unescaping_undoes_escaping(text: str) -> None:
    assert unescape(as_heading(text)) == fold(text)
