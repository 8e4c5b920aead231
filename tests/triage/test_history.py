"""What commit messages teach."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reflect.model import SHORT, Commit, Finding, Origin
from reflect.triage.extractive.engine import ExtractiveEngine
from tests.triage.builders import START, commit, sha

ENGINE = ExtractiveEngine()


def _lessons(*commits: Commit) -> list[Finding]:
    return [each for each in ENGINE.reflect_on_commits(commits) if each.score > 0.0]


def test_a_body_that_says_why_is_a_lesson_below_its_subject() -> None:
    (lesson,) = _lessons(
        commit(
            "refactor(auth): sign sessions (#12)",
            "Sessions are signed instead of stored, so that any replica answers. Old ones are dropped.",
        )
    )
    assert lesson.headline == "Sign sessions"
    assert lesson.category == "decisions"
    assert lesson.around == ("Old ones are dropped.",)


def test_a_fix_with_an_explanation_is_a_gotcha() -> None:
    (lesson,) = _lessons(commit("fix: empty report", "The cron container runs without a locale."))
    assert lesson.category == "gotchas"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Updated the fixtures.",
        "Add more cases.",
        "All tests pass.",
        "See #12.",
        "Made-with: Cursor",
        "- update docs",
    ],
)
def test_a_fix_that_explains_nothing_is_no_lesson(body: str) -> None:
    assert _lessons(commit("fix: tests", body)) == []


@pytest.mark.parametrize(
    "line",
    [
        "decision(auth): sessions live in Redis",
        "rejected: a second cache, the invalidation is not worth it",
        "constraint: no dependency on the network at start",
        "learned(queue): acks are lost when the channel closes",
    ],
)
def test_contextual_commit_lines_are_lessons(line: str) -> None:
    (lesson,) = _lessons(commit("feat: sessions", line))
    assert lesson.quote == line
    assert lesson.score >= ENGINE._weights.publish


def test_each_commit_of_a_squash_stands_for_itself() -> None:
    body = (
        "* fix: stop the leak\n"
        "The pool leaked because nobody closed it.\n"
        "* refactor: drop the cache\n"
        "Reads go to the replica instead of the cache."
    )
    found = _lessons(commit("Refactor storage (#9)", body))
    assert [each.headline for each in found] == ["Stop the leak", "Drop the cache"]


def test_a_revert_needs_a_reason() -> None:
    boilerplate = f"This reverts commit {sha(1)}."
    assert _lessons(commit('Revert "Use gzip"', boilerplate, 2, reverts=(sha(1),))) == []
    (lesson,) = _lessons(
        commit("Use gzip", number=1),
        commit('Revert "Use gzip"', f"{boilerplate}\nIt doubled the p99.", 2, reverts=(sha(1),)),
    )
    assert (lesson.category, lesson.quote) == ("pitfalls", "It doubled the p99.")
    assert f"reverts:{sha(1)[:SHORT]}" in lesson.signals
    assert lesson.corroborated_by == ()


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        ('Revert "feat(api): stream large exports"', '"Stream large exports" was reverted'),
        ('Revert "Compress thumbnails on upload (#12)" (#15)', '"Compress thumbnails on upload" was reverted'),
        ('Revert "Revert "Compress thumbnails on upload""', '"Compress thumbnails on upload" was brought back'),
        ("revert: keep sessions in memory", '"Keep sessions in memory" was reverted'),
        ("Back out the shared worker pool", '"The shared worker pool" was reverted'),
        ('Revert "wip"', "Half of the pods never came up again"),
    ],
)
def test_a_revert_is_called_after_what_it_takes_back_or_after_its_reason(subject: str, title: str) -> None:
    (lesson,) = _lessons(commit(subject, "Half of the pods never came up again.", 2, reverts=(sha(1),)))
    assert (lesson.headline, lesson.category) == (title, "pitfalls")


def test_only_the_item_of_a_squash_that_takes_back_is_a_pitfall() -> None:
    body = (
        "* refactor: read prices from the replica\nReads go to the replica instead of the cache.\n"
        '* Revert "feat: warm the cache at start"\nPods never became ready while the cache was warmed.'
    )
    found = {each.headline: each.category for each in _lessons(commit("Prices (#9)", body, reverts=(sha(1),)))}
    assert found == {
        "Read prices from the replica": "decisions",
        '"Warm the cache at start" was reverted': "pitfalls",
    }


def test_what_a_reverted_commit_said_is_marked_and_a_reverted_revert_is_not() -> None:
    first = commit("build: vite", "Moved from webpack to vite because cold starts took 40 s.", 1)
    undo = commit('Revert "build: vite"', "", 2, at=START + timedelta(days=1), reverts=(sha(1),))
    redo = commit('Revert "Revert "build: vite""', "", 3, at=START + timedelta(days=2), reverts=(sha(2),))
    assert [f"reverted-by:{sha(2)[:SHORT]}" in each.signals for each in _lessons(first, undo)] == [True]
    assert [any("reverted-by" in s for s in each.signals) for each in _lessons(redo, undo, first)] == [False]


def test_a_strangers_commit_is_untrusted() -> None:
    body = "The pool leaked because nobody closed it."
    assert {each.origin for each in _lessons(commit("fix: leak", body, trusted=False))} == {Origin.UNTRUSTED}
    assert {each.origin for each in _lessons(commit("fix: leak", body))} == {Origin.CLEAN}


@pytest.mark.parametrize(
    "body",
    [
        "These changes aim to improve the usability because users should always be guided.",
        "Updated README.md to describe the setup instead of the internals.",
        "- Enhanced the CLI, improving clarity and user experience instead of speed.",
        "Co-authored-by: Bot <bot@example.com>",
        "https://claude.ai/code/session_01 so that it is linked",
    ],
)
def test_boilerplate_is_no_lesson(body: str) -> None:
    assert _lessons(commit("feat: things", body)) == []


def test_hazard_56_every_one_of_many_commits_is_read() -> None:
    many = [
        commit(
            f"fix: case {n}", f"Import{n} failed because file{n}.csv had no header.", n, at=START + timedelta(hours=n)
        )
        for n in range(300)
    ]
    assert len(_lessons(*many)) == 300


@pytest.mark.parametrize("subject", ["", "fix:", "fix: ", "🚀", "Revert", 'Revert ""', "(#1)", "a" * 5000])
def test_any_subject_is_survived(subject: str) -> None:
    assert _lessons(commit(subject, "The pool leaked because nobody closed it.")) != []


def test_the_order_of_commits_does_not_matter() -> None:
    some = [
        commit(f"fix: {n}", f"Job{n} hangs when queue{n} is empty.", n, at=START + timedelta(days=n)) for n in range(5)
    ]
    assert ENGINE.reflect_on_commits(some) == ENGINE.reflect_on_commits(some[::-1])
