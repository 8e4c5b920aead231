"""Statements find the page they belong to."""

from __future__ import annotations

import time
from pathlib import Path

import yaml

from reflect.model import PageSummary
from reflect.triage.routing import PageIndex
from reflect.triage.words import folded, terms
from tests.triage.builders import page

_SET = yaml.safe_load((Path(__file__).parent / "data" / "routing.yaml").read_text(encoding="utf-8"))


def _pages() -> list[PageSummary]:
    return [page(path, each["title"], each["lead"]) for path, each in _SET["pages"].items()]


def test_the_right_page_is_among_the_first_three() -> None:
    index = PageIndex(_pages())
    asked = [(sentence, path) for path, each in _SET["pages"].items() for sentence in each["asked"]]
    first = sum(index.search(text)[0].page.path == path for text, path in asked)
    third = sum(path in [hit.page.path for hit in index.search(text)] for text, path in asked)
    assert third / len(asked) >= 0.85
    assert first / len(asked) >= 0.65


def test_a_statement_about_nothing_known_fits_nowhere() -> None:
    index = PageIndex(_pages())
    for text in _SET["nowhere"]:
        assert all(hit.fit < 0.3 for hit in index.search(text))


def test_an_empty_wiki_and_an_empty_query_have_no_answer() -> None:
    assert PageIndex([]).search("anything") == []
    assert PageIndex(_pages()).search("") == []


def test_ties_are_settled_by_path() -> None:
    twins = [page("gotchas/b.md", "Cache keys"), page("gotchas/a.md", "Cache keys")]
    assert [hit.page.path for hit in PageIndex(twins).search("cache keys")] == ["gotchas/a.md", "gotchas/b.md"]


def test_words_of_any_script_and_of_code_meet() -> None:
    assert set(terms("ThreadPoolExecutor thread_pool")) >= {"thread", "pool"}
    assert terms("collections installed") == terms("collection install")
    assert terms("キャッシュ") == ["キャ", "ャッ", "ッシ", "シュ"]
    assert folded("Don’t  use `X`!") == folded("don't use x")


def test_a_large_wiki_answers_fast() -> None:
    pages = [
        page(f"gotchas/p{n}.md", f"Page {n} about topic{n % 700}", f"lead word{n} common text") for n in range(5000)
    ]
    index = PageIndex(pages)
    began = time.process_time()
    for number in range(500):
        index.search(f"something about topic{number} and common text that word{number} says")
    assert time.process_time() - began < 3.0
