"""What is written reads back as it was, by this reader and by any other."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reflect.errors import PageError
from reflect.wiki.frontmatter import Inline, Quoted, render, split
from tests.wiki.builders import PAGES, for_any, stored

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
looks_typed = st.sampled_from(
    """no;Yes;null;~;1_000;0o17;1e3;.inf;2026-04-07;1:30;=;<<;%x;- a;a: b;x # y;{braces};*star;&anchor;@at;`tick`
    fix: don't;a, b;? q;|;>;!tag;';\"""".replace("\n", ";").split(";")
)
ids = st.text("0123456789abcdef", min_size=7, max_size=40) | st.from_regex(r"[0-9]{1,9}e[0-9]{1,9}", fullmatch=True)


def read(data: dict[str, Any]) -> Any:
    return split(f"---\n{render(data)}---\n\n# T\n", "page.md").data


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("0192117", id="hazard-1-leading-zero-sha"),
        pytest.param("9509425349e4", id="hazard-2-all-digits-and-one-e"),
        pytest.param("12e4567", id="hazard-2-short-exponent"),
        pytest.param("83e2010", id="hazard-3-reads-as-infinity"),
        pytest.param("680841e1", id="hazard-3-reads-as-scientific"),
        pytest.param("72225e2", id="hazard-3-reads-as-scientific-too"),
        pytest.param("1234567", id="hazard-4-all-digits"),
        pytest.param("0x12345", id="hazard-4-hexadecimal"),
        pytest.param("1_000_000", id="hazard-4-underscores"),
    ],
)
def test_ids_survive_two_round_trips_and_other_readers(written: str) -> None:
    first = read({"sources": [{"commit": Quoted(written)}]})
    second = read({"sources": [{"commit": Quoted(first["sources"][0]["commit"])}]})
    assert second == {"sources": [{"commit": written}]}
    assert yaml.safe_load(render({"commit": Quoted(written)})) == {"commit": written}
    assert f'"{written}"' in render({"commit": Quoted(written)})


@pytest.mark.parametrize("name", ["numeric-ids.md"])
def test_hazard_1_to_4_ids_of_others_read_as_they_are_written(name: str) -> None:
    data = split(stored(name).decode(), name).data
    assert data is not None
    assert [next(iter(source.values())) for source in data["sources"]] == [
        "0192117",
        "9509425349e4",
        "12e4567",
        "83e2010",
        "680841e1",
        "72225e2",
        "1234567",
        "000000000012",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ]
    assert data["tags"] == ["12", "1.5", "no", "2026-04-07", "1:30"]
    assert data["created"] == "2026-04-07"


@for_any
@given(st.dictionaries(anything | looks_typed, anything | looks_typed | ids, max_size=5))
def test_hazard_8_any_text_reads_back_as_text(data: dict[str, str]) -> None:
    assert read(data) == data
    assert yaml.safe_load(render(data) or "{}") == data


@for_any
@given(st.lists(anything | looks_typed | ids, min_size=1, max_size=6))
def test_hazard_18_a_list_keeps_its_items_on_one_line_and_on_many(items: list[str]) -> None:
    assert read({"tags": Inline(items), "related": items}) == {"tags": items, "related": items}
    assert yaml.safe_load(render({"tags": Inline(items)})) == {"tags": items}


def test_a_lone_surrogate_is_written_as_a_replacement_character() -> None:
    assert read({"title": "a\ud800b"}) == {"title": "a\ufffdb"}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        pytest.param("unreadable-colon.md", 2, id="hazard-7-unquoted-colon"),
        pytest.param("unreadable-backticks.md", 2, id="hazard-9-backticks"),
        pytest.param("unreadable-indent.md", 5, id="hazard-10-list-at-the-wrong-indent"),
        pytest.param("unreadable-quotes.md", 3, id="hazard-12-nested-quotes"),
        pytest.param("unreadable-conflict.md", 4, id="conflict-markers"),
        pytest.param("unreadable-duplicate-key.md", 2, id="a-key-twice"),
        pytest.param("unreadable-unclosed.md", 1, id="no-closing-fence"),
        pytest.param("unreadable-nul.md", 2, id="nul"),
        pytest.param("unreadable-tab.md", 3, id="tab"),
    ],
)
def test_a_broken_block_names_its_line_in_one_sentence(name: str, line: int) -> None:
    with pytest.raises(PageError, match=rf"^{name}:{line}: .* the page was left as it is\.$") as raised:
        split(stored(name).decode(), name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("block", ["[" * 5000, "? [a]\n: b", "- a\n- b", "a: *nowhere", "a: &x [*x]"])
def test_a_block_that_is_no_mapping_of_texts_is_an_error(block: str) -> None:
    with pytest.raises(PageError):
        split(f"---\n{block}\n---\n\n# T\n", "page.md")


def test_a_tag_that_would_run_code_is_read_as_text() -> None:
    assert split("---\na: !!python/object/apply:os.getcwd []\n---\n", "p.md").data == {"a": []}


@pytest.mark.parametrize("name", sorted(file.name for file in PAGES.glob("*.md") if "unreadable" not in file.name))
def test_the_parts_are_the_file(name: str) -> None:
    text = stored(name).decode()
    parts = split(text, name)
    assert parts.head + parts.yaml + parts.tail == text


@pytest.mark.parametrize(
    ("text", "body"),
    [
        pytest.param("---\na: b\n---\n\nx\n\n---\n\ny\n\n---\n", "\nx\n\n---\n\ny\n\n---\n", id="hazard-15-two-rules"),
        pytest.param(
            "# x\n\n---\n\na: b\n\n---\n", "# x\n\n---\n\na: b\n\n---\n", id="hazard-15-no-block-at-the-start"
        ),
        pytest.param("---\n\nProse.\n\n---\n\nx\n", "---\n\nProse.\n\n---\n\nx\n", id="hazard-15-prose-between-rules"),
        pytest.param("---\na: |\n  ---\n---\nx\n", "x\n", id="a-fence-inside-a-value"),
        pytest.param("\ufeff---\na: b\n---\nx\n", "x\n", id="hazard-14-byte-order-mark"),
        pytest.param("\ufeff# x\n", "# x\n", id="hazard-14-byte-order-mark-without-block"),
        pytest.param("\n\n---\na: b\n---\nx\n", "x\n", id="blank-lines-first"),
        pytest.param("---\r\na: b\r\n---\r\nx\r\n", "x\r\n", id="hazard-37-crlf"),
        pytest.param("---\na: b\n---", "", id="nothing-behind"),
        pytest.param("---\n---\nx\n", "x\n", id="empty-block"),
        pytest.param("----\na: b\n----\n", "----\na: b\n----\n", id="four-dashes-are-a-rule"),
        pytest.param("", "", id="empty"),
    ],
)
def test_where_the_body_begins(text: str, body: str) -> None:
    assert split(text, "p.md").body == body
