"""Which names are one page, and which are never written."""

from __future__ import annotations

import pytest

from reflect.configuration import slugify
from reflect.errors import WikiError
from reflect.wiki.paths import canonical_key, checked_page, why_unsafe


@pytest.mark.parametrize(
    "twin",
    [
        pytest.param("decisions/Retry-Policy.md", id="hazard-22-case"),
        pytest.param("decisions/retry_policy.md", id="hazard-22-underscore"),
        pytest.param("Decisions/retry policy.md", id="hazard-21-space"),
        pytest.param("decisions/retry--policy.md", id="hazard-22-doubled"),
        pytest.param("decisions/retry–policy.md", id="hazard-22-dash"),
        pytest.param("decisions/ｒetry-policy.md", id="hazard-22-full-width"),
        pytest.param("decisions/retry\u200b-policy.md", id="hazard-22-zero-width"),
    ],
)
def test_twins_are_one_page(twin: str) -> None:
    assert canonical_key(twin) == canonical_key("decisions/retry-policy.md")


def test_hazard_23_titles_that_begin_alike_keep_names_of_their_own() -> None:
    begin = "the retry policy of the payment gateway and everything that was said about it in march "
    names = {canonical_key(f"decisions/{slugify(begin + end)}.md") for end in ("one", "two", "ONE!")}
    assert len(begin) > 80
    assert len(names) == 3


def test_hazard_22_unicode_forms_are_one_page() -> None:
    assert canonical_key("a/café.md") == canonical_key("a/cafe\u0301.md")
    assert canonical_key("a/STRASSE.md") == canonical_key("a/straße.md")


@pytest.mark.parametrize("other", ["a/c++.md", "a/c#.md", "a/c.md", "b/c.md", "a/c-1.md", "a/語.md", "a/_.md"])
def test_hazard_21_distinct_names_stay_distinct(other: str) -> None:
    names = ["a/c++.md", "a/c#.md", "a/c.md", "b/c.md", "a/c-1.md", "a/語.md", "a/_.md"]
    assert [canonical_key(name) for name in names].count(canonical_key(other)) == 1


@pytest.mark.parametrize(
    "path",
    [
        "../../.github/x.md",
        "a/../../x.md",
        "/etc/passwd.md",
        "C:\\x.md",
        "a\\b.md",
        "a//b.md",
        "./a.md",
        "a/./b.md",
        ".git/hooks/x.md",
        "a/.GIT/x.md",
        "git~1/x.md",
        "a/.g\u200cit/x.md",
        "a/.hidden.md",
        "a/con.md",
        "NUL/x.md",
        "com1.a/x.md",
        "a/x .md/",
        "a /b.md",
        "a./b.md",
        "a/b\n.md",
        "a/b\x00.md",
        "a/b\u2028.md",
        "a/b?.md",
        "a/b:c.md",
        "a/" + "x" * 300 + ".md",
        "",
        "a/\ud800.md",
        "x.md",
        "index.md",
        "_archive/a.md",
        "a/_b.md",
        "a/b.txt",
    ],
    ids="hazard-26-27-{!r:.30}".format,
)
def test_what_is_never_a_page(path: str) -> None:
    with pytest.raises(WikiError, match="nothing was written"):
        checked_page(path)


@pytest.mark.parametrize(
    "path", ["decisions/a.md", "語/日本語.md", "a/b/c.md", "a/v1.0.0.md", "a/gitignore.md", "a/é.md"]
)
def test_what_may_be_a_page(path: str) -> None:
    assert checked_page(path) == path


def test_the_files_of_the_product_are_safe() -> None:
    assert [why_unsafe(path) for path in ("wiki/index.md", ".last_run", ".gitignore", "wiki/_archive/a/b.md")] == [
        None
    ] * 4
