"""The expectations on a wiki as it stands: each broken once, on a repository that is real."""

from __future__ import annotations

from pathlib import Path

import pytest

from expectations.pages import MOST_CHARACTERS
from expectations.wiki import WIKI_RULES, check_wiki
from tests.lint.test_lint import HEAD, Shelf

SOURCES = 'sources:\n  - commit: "791efa9a80f1"\n'
SOUND = HEAD.replace("sources: []\n", SOURCES)
CITED = "# Retries\n\n> Three tries are enough. (commit 791efa9a80f1)\n"
KEY = "AKIA" + "Q3EGRNQ5K7J2LXTV"

BROKEN = {
    "one_page_per_name": {"ops/retry-cap.md": (SOUND, CITED), "ops/Retry_Cap.md": (SOUND, CITED)},
    "safe_path": {"ops/aux.md": (SOUND, CITED)},
    "frontmatter_parses": {"ops/a.md": ("status: [active\n", CITED)},
    "one_frontmatter_block": {"ops/a.md": (SOUND, f"---\n{SOUND}---\n\n{CITED}")},
    "required_keys": {"ops/a.md": (SOUND.replace("status: active\n", ""), CITED)},
    "dates_are_days": {"ops/a.md": (SOUND.replace("2026-05-02", "2026-04-02"), CITED)},
    "ids_stay_text": {"ops/a.md": (SOUND.replace('"791efa9a80f1"', "791000000001"), "# Retries\n")},
    "sources_present": {"ops/a.md": (HEAD, "# Retries\n")},
    "citations_listed": {"ops/a.md": (SOUND, CITED.replace("791efa9a80f1", "0123456789ab"))},
    "statements_cited": {"ops/a.md": (SOUND, "# Retries\n\n- Three tries are enough.\n")},
    "related_pages_exist": {"ops/a.md": (f"{SOUND}related: [ops/b.md]\n", CITED)},
    "no_secret": {"ops/a.md": (SOUND, f"{CITED}\nThe key is {KEY}.\n")},
    "length_sane": {"ops/a.md": (SOUND, CITED + "x" * MOST_CHARACTERS)},
}


def test_every_expectation_has_a_wiki_that_breaks_it() -> None:
    assert list(BROKEN) == [rule.name for rule in WIKI_RULES]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.mark.parametrize("name", BROKEN)
def test_a_page_that_breaks_an_expectation_is_named_and_a_sound_one_is_not(name: str, shelf: Shelf) -> None:
    shelf.page("sound/page.md", CITED, SOUND)
    for path, (head, body) in BROKEN[name].items():
        shelf.page(path, body, head)
    told = {one.name: one.broken for one in check_wiki(shelf.workspace)}
    assert list(told) == [rule.name for rule in WIKI_RULES]
    assert {path for path, _ in told[name]} <= BROKEN[name].keys() and told[name]
    assert all("sound/page.md" not in dict(broken) for broken in told.values())
    assert all(KEY not in reason for broken in told.values() for _, reason in broken)


def test_a_sound_wiki_breaks_nothing_and_one_without_pages_has_no_verdict(shelf: Shelf) -> None:
    assert check_wiki(shelf.workspace) == ()
    shelf.page("ops/retry-cap.md", CITED, SOUND)
    assert [one.broken for one in check_wiki(shelf.workspace)] == [()] * len(WIKI_RULES)


def test_a_page_that_is_no_text_passes_nothing_that_cannot_be_told(shelf: Shelf) -> None:
    shelf.page("ops/a.md", CITED, SOUND)
    (shelf.wiki / "ops" / "b.md").write_bytes(b"\xff\xfe\x00")
    told = {one.name: dict(one.broken) for one in check_wiki(shelf.workspace)}
    untold = {name for name, broken in told.items() if "ops/b.md" in broken}
    assert untold == told.keys() - {"one_page_per_name", "safe_path"}


def test_scope_keys_are_asked_of_pages_that_have_some(shelf: Shelf) -> None:
    shelf.page("ops/a.md", CITED, f"{SOUND}scope: project\n")
    (told,) = [one.broken for one in check_wiki(shelf.workspace) if one.name == "required_keys"]
    assert "memory_type" in dict(told)["ops/a.md"] and "project_id" in dict(told)["ops/a.md"]
