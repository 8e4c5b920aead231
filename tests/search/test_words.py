"""Whatever is typed is words, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflect.search.index import Index
from reflect.search.snippet import MARK, snippet
from reflect.search.words import MAX_TERMS, expression, names, terms_of, words
from tests.search.conftest import Searched

OPERATORS = [
    'a AND b OR NOT c NEAR(d, 3)', '"', '""', '"unclosed', "'", "a*", "^a", "title:a", "{title}: a", "a + b", "-x",
    "--flag", "()", "(a", "a)", "src/a.py", "C++", "C#", "a:b", "a@b", "%", "_", "\\", "\0", "\ud800", ";--", "🙂", "…",
]  # fmt: skip


@pytest.mark.parametrize("question", OPERATORS)
@pytest.mark.parametrize("phrase", [False, True])
def test_signs_and_operators_are_text(question: str, phrase: bool) -> None:
    with_words = Index.in_memory()
    assert isinstance(with_words.search(terms_of(question, phrase=phrase), "p", wiki_only=False, limit=5), tuple)


@given(st.text(max_size=80), st.booleans())
@settings(deadline=None, derandomize=True, database=None, max_examples=200)
def test_no_text_at_all_is_a_syntax_error(text: str, phrase: bool) -> None:
    index = Index.in_memory()
    assert index.search(terms_of(text, phrase=phrase), "p", wiki_only=False, limit=5) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retry_policy", ["retry", "policy"]),
        ("retryPolicy HTTPServer", ["retry", "policy", "http", "server"]),
        ("src/a.py --no-verify", ["src", "a", "py", "no", "verify"]),
        ("C++ C# c", ["c++", "c#", "c"]),
        ("Café déjà", ["cafe", "deja"]),
        ("مُحَمَّد", ["محمد"]),
        ("日本語", ["日", "本", "語"]),
        ("ｆｕｌｌ", ["full"]),
        ("v2.10 sha256", ["v2", "10", "sha256"]),
    ],
)
def test_words_of_a_text(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_identifiers_are_also_one_word() -> None:
    assert names("retry_policy RetryPolicy plain") == ["retrypolicy", "retrypolicy"]


def test_words_that_say_nothing_are_dropped_where_others_are_left() -> None:
    assert terms_of("why is the cache cold") == [["cache"], ["cold"]]
    assert terms_of("the who") == [["the"], ["who"]]


def test_a_pasted_page_is_not_asked_for_whole() -> None:
    assert len(terms_of(" ".join(f"word{n}" for n in range(5000)))) == MAX_TERMS
    assert expression([]) == ""


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("東京の会議で決めた：再試行は三回まで。", "再試行"),
        ("قررنا إعادة المحاولة ثلاث مرات", "المحاولة"),
        ("Décidé : réessayer trois fois", "reessayer"),
        ("Мы решили повторять запрос", "ПОВТОРЯТЬ"),
        ("재시도는 세 번까지만 합니다", "재시도"),
        ("ตัดสินใจลองใหม่สามครั้ง", "ลองใหม่"),
        ("we call parse_order_line in src/orders/parse.py", "parse_order_line"),
        ("we call parseOrderLine", "parse_order_line"),
        ("we call parse_order_line", "parseorderline"),
        ("see src/orders/parse.py", "src/orders/parse.py"),
        ("run with --no-verify", "--no-verify"),
        ("tar -x unpacks", "-x"),
        ("the C++ client leaks", "C++"),
        ("say \"never again\" twice", '"never again"'),
        ("use NOT and AND literally", "AND"),
    ],
)  # fmt: skip
def test_any_script_and_any_identifier_is_found_and_marked(shop: Searched, text: str, question: str) -> None:
    shop.page("decisions/one.md", text)
    shop.page("decisions/other.md", "nothing of the kind")
    hits = shop.hits(question, wiki_only=True)
    assert [hit.path for hit in hits][:1] == ["decisions/one.md"]
    assert hits[0].snippet.count(MARK) >= 2


def test_a_snippet_shows_where_most_of_the_question_stands() -> None:
    text = "cache " + "filler words here " * 60 + "the cache must stay cold at night " + "more filler " * 60
    found = snippet(text, [["cache"], ["cold"], ["night"]])
    assert "**cache** must stay **cold** at **night**" in found
    assert found.startswith("…") and found.endswith("…") and len(found) < 300
    assert snippet("only this", [["absent"]]) == "only this"
