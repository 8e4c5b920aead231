"""What is found, by whom, and after what."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from examples.sessions import ClaudeTranscript, StoredSession
from reflect.errors import ConfigurationError, ScopeError
from reflect.scope.projects import Project, Registry
from reflect.scope.visibility import Candidate, Exclusion, exclusion
from reflect.search.answer import Query
from reflect.search.find import refresh_all, search
from reflect.search.index import Index
from reflect.search.place import search_folder, state_folder
from reflect.search.quick import answer_at_once
from reflect.search.refresh import index_file, refresh
from reflect.settings import Settings
from tests.conftest import ROOT
from tests.search.conftest import Searched, with_session

Make = Callable[[str], Searched]


def test_pages_sessions_and_commits_are_found(shop: Searched) -> None:
    shop.page("decisions/retry.md", "Webhooks are retried three times.", "Retry policy")
    shop.repository.commit("fix: webhooks lost their signature", {"hooks.py": ""})
    with_session(shop, "please make the webhooks idempotent")
    hits = {hit.kind: hit for hit in shop.hits("webhooks")}
    assert set(hits) == {"page", "session", "commit"}
    assert hits["page"].path == hits["page"].id == "decisions/retry.md"
    assert hits["page"].title == "Retry policy"
    assert hits["session"].id == "aaaaaaaaaaaa/0" and hits["session"].path is None
    assert hits["commit"].title == "fix: webhooks lost their signature"
    assert {hit.project for hit in hits.values()} == {shop.project}
    assert all(hit.score >= 0 for hit in hits.values())


def test_a_session_is_what_a_person_typed_and_not_what_the_agent_said(shop: Searched) -> None:
    with_session(shop, "please make the webhooks idempotent")
    assert shop.found("idempotent") == ["aaaaaaaaaaaa/0"]
    assert shop.found("webhooksecretreply") == []


def test_words_are_joined_by_or_and_ranked(shop: Searched) -> None:
    shop.page("a/both.md", "cold cache")
    shop.page("a/one.md", "warm cache")
    shop.page("a/none.md", "nothing")
    assert shop.found("cold cache", wiki_only=True) == ["a/both.md", "a/one.md"]
    assert shop.found("cold cache", wiki_only=True, phrase=True) == ["a/both.md"]
    assert shop.found("cold cache", wiki_only=True, limit=1) == ["a/both.md"]
    assert shop.found('"cold cache"', wiki_only=True) == ["a/both.md"]


def test_an_empty_question_and_a_limit_of_none_are_refused(shop: Searched) -> None:
    with pytest.raises(ConfigurationError, match="question is empty"):
        shop.ask("  ")
    with pytest.raises(ConfigurationError, match="--limit 0"):
        shop.ask("cache", limit=0)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"scope": ""}, Exclusion.LEGACY_SCOPE_QUARANTINED),
        ({"scope": "everyone"}, Exclusion.INVALID_SCOPE_QUARANTINED),
        ({"scope_source": "guess"}, Exclusion.INVALID_SCOPE_QUARANTINED),
        ({"project_id": "other-123456"}, Exclusion.PROJECT_ID_MISMATCH),
        ({"project_id": ""}, Exclusion.PROJECT_SCOPE_MISSING_PROJECT_ID),
        ({"scope": "task"}, Exclusion.TASK_SCOPE_NOT_SUPPORTED),
        ({"memory_type": "candidate_preference", "scope": "global"}, Exclusion.CANDIDATE_PREFERENCE_UNAPPROVED),
    ],
)
def test_what_a_project_may_not_see_is_no_hit_and_explained(
    shop: Searched, keys: dict[str, str], reason: Exclusion
) -> None:
    if keys == {"scope": ""}:
        keys = {"scope": "", "scope_source": "", "project_id": "", "workspace_root": "", "scope_confidence": ""}
    shop.page("a/hidden.md", "the cache of the others", **keys)
    shop.page("a/seen.md", "the cache of our own")
    answer = shop.ask("cache", explain=True, wiki_only=True)
    assert [hit.id for hit in answer.hits] == ["a/seen.md"]
    if keys.get("scope") == "":
        assert [(one.id, one.reason) for one in answer.excluded] == [("a/hidden.md", str(reason))]
    else:
        assert [(one.id, one.reason) for one in answer.excluded] in (
            [("a/hidden.md", str(reason))],
            [("a/hidden.md", str(Exclusion.INVALID_SCOPE_QUARANTINED))],
        )
        assert [one.reason for one in answer.excluded] == [reason]


def test_hazard_110_what_is_left_out_takes_no_place_among_the_first(shop: Searched) -> None:
    for number in range(30):
        shop.page(f"a/foreign-{number:02}.md", "cache cache cache", "Cache", project_id="other-123456")
    shop.page("a/own-1.md", "a word about the cache among many others that dilute it")
    shop.page("a/own-2.md", "another word about the cache, also diluted by plenty of words")
    assert sorted(shop.found("cache", wiki_only=True, limit=2)) == ["a/own-1.md", "a/own-2.md"]


def test_hazard_149_no_project_is_an_error_and_not_an_empty_answer() -> None:
    with pytest.raises(ScopeError):
        exclusion(Candidate("fact", "global", None), None)


def test_the_organisations_own_wiki_is_searched_too(shop: Searched) -> None:
    wiki = shop.settings.organisation_wiki() / "wiki" / "patterns"
    wiki.mkdir(parents=True)
    keys = "memory_type: fact\nscope: global\nscope_source: operator\nscope_confidence: 1.0\norigin: clean\n"
    (wiki / "dates.md").write_text(f"---\n{keys}---\n# Dates\n\nAlways store dates in UTC.\n")
    (wiki / "own.md").write_text(f"---\n{keys.replace('global', 'project')}---\n# Own\n\nDates of one project.\n")
    (hit,) = shop.hits("dates")
    assert (hit.id, hit.project) == ("patterns/dates.md", "organisation")


def test_edited_renamed_deleted_and_archived_pages_are_followed(shop: Searched) -> None:
    page = shop.page("a/one.md", "first wording")
    assert shop.found("wording") == ["a/one.md"]
    shop.page("a/one.md", "second phrases")
    assert shop.found("wording") == [] and shop.found("phrases") == ["a/one.md"]
    page.rename(page.with_name("two.md"))
    assert shop.found("phrases") == ["a/two.md"]
    archive = shop.root / ".reflect" / "wiki" / "_archive" / "a"
    archive.mkdir(parents=True)
    page.with_name("two.md").rename(archive / "two.md")
    assert shop.found("phrases") == []


def test_an_edit_that_keeps_size_and_time_is_seen_by_the_time_of_change(shop: Searched) -> None:
    page = shop.page("a/one.md", "alpha")
    assert shop.found("alpha") == ["a/one.md"]
    state = page.stat()
    page.write_text(page.read_text().replace("alpha", "gamma"))
    os.utime(page, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert shop.found("gamma") == ["a/one.md"] and shop.found("alpha") == []


def test_history_that_was_rewritten_and_sessions_that_grew_are_followed(shop: Searched) -> None:
    shop.repository.commit("fix: the zebra stripes", {"a.py": ""})
    with_session(shop, "please paint the okapi")
    assert len(shop.found("zebra okapi")) == 2
    shop.repository.git("reset", "-q", "--hard", "HEAD~1")
    with_session(shop, "please paint the okapi", "and then the giraffe")
    assert shop.found("zebra") == []
    assert shop.found("okapi") == shop.found("giraffe") == ["aaaaaaaaaaaa/0"]


def test_pages_that_cannot_be_read_hide_no_other(shop: Searched) -> None:
    shop.page("a/good.md", "cache")
    folder = shop.root / ".reflect" / "wiki" / "a"
    (folder / "broken.md").write_text("---\ntitle: a: b: c\n---\ncache")
    (folder / "latin.md").write_bytes(b"caf\xe9 cache")
    (folder / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.md")
    assert shop.found("cache") == ["a/good.md"]
    assert shop.found("root") == []


@pytest.mark.parametrize("damage", ["garbage", "truncated", "empty", "other version"])
def test_a_damaged_index_is_made_again(shop: Searched, damage: str) -> None:
    shop.page("a/one.md", "cache " * 500)
    assert shop.found("cache") == ["a/one.md"]
    file = index_file(shop.workspace)
    content = file.read_bytes()
    if damage == "other version":
        with sqlite3.connect(file) as db:
            db.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
        db.close()
    else:
        file.write_bytes({"garbage": os.urandom(5000), "truncated": content[: len(content) // 3], "empty": b""}[damage])
    assert answer_at_once(Query("cache"), shop.root) is None or shop.found("cache") == ["a/one.md"]
    assert shop.found("cache") == ["a/one.md"]


def test_a_refresh_that_is_killed_leaves_the_index_usable(shop: Searched) -> None:
    for number in range(80):
        shop.page(f"a/p{number}.md", f"cache number {number} " * 20)
    program = (
        "import sys; from pathlib import Path; from reflect.workspace import Workspace; "
        "from reflect.search.refresh import refresh; refresh(Workspace.open(Path(sys.argv[1])))"
    )
    environment = {**os.environ, "REFLECT_STATE_DIR": str(shop.settings.state)}
    for wait_s in (0.4, 0.6):
        process = subprocess.Popen([sys.executable, "-c", program, str(shop.root)], env=environment, cwd=ROOT)
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(shop.found("cache", wiki_only=True, limit=1000)) == 80


def test_refreshes_at_once_all_succeed(shop: Searched) -> None:
    for number in range(40):
        shop.page(f"a/p{number}.md", f"cache number {number}")
    workspace = shop.workspace
    with ThreadPoolExecutor(4) as pool:
        done = [future.result() for future in [pool.submit(refresh, workspace) for _ in range(4)]]
    assert [one.documents["page"] for one in done] == [40] * 4
    assert max(one.changed for one in done) >= 41


def test_nothing_is_read_again_where_nothing_changed(shop: Searched) -> None:
    shop.page("a/one.md", "cache")
    with_session(shop, "cache the prices")
    time.sleep(0.05)
    refresh(shop.workspace)
    refresh(shop.workspace)
    assert refresh(shop.workspace).changed == 0


def test_hazard_31_two_repositories_of_one_name_have_two_indexes(make: Make) -> None:
    one, other = make("org1/api"), make("org2/api")
    one.page("a/one.md", "the cache of the first")
    other.page("a/two.md", "the cache of the second")
    assert one.found("cache") == ["a/one.md"] and other.found("cache") == ["a/two.md"]
    assert index_file(one.workspace) != index_file(other.workspace)


def test_hazard_32_a_repository_reached_by_a_link_is_one(shop: Searched, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(shop.root)
    assert search_folder(shop.settings.state, link) == search_folder(shop.settings.state, shop.root)


def test_secrets_enter_no_index(shop: Searched) -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    page = shop.page("a/one.md", f"the deploy key is {token} and the cache is cold", f"Key {token}")
    page.with_name(f"{token}.md").write_text(page.read_text())
    shop.repository.commit(f"chore: rotate {token} now", {"a.py": ""})
    with_session(shop, f"my token is {token}, use the cache")
    hits = shop.hits("cache deploy token rotate")
    assert len(hits) >= 3
    stored = b"".join(file.read_bytes() for file in sorted(shop.settings.state.rglob("*")) if file.is_file())
    assert token.encode() not in stored and token.lower().encode() not in stored
    assert token not in str(hits) and "REDACTED" in str(hits)


def test_the_index_is_outside_the_repository_and_nobody_elses(shop: Searched) -> None:
    shop.page("a/one.md", "cache")
    before = set(shop.root.rglob("*"))
    shop.ask("cache")
    assert set(shop.root.rglob("*")) == before
    file = index_file(shop.workspace)
    assert file.stat().st_mode & 0o077 == 0 and file.parent.stat().st_mode & 0o077 == 0


def test_a_rule_for_secrets_that_is_added_is_applied_to_what_was_indexed(shop: Searched) -> None:
    shop.page("a/one.md", "customer KD-4711 pays late")
    assert shop.found("4711") == ["a/one.md"]
    (shop.root / ".reflect" / "config.yaml").write_text("redact: ['KD-[0-9]+']\n")
    assert shop.found("4711") == []


def test_an_up_to_date_index_is_answered_from_at_once(shop: Searched) -> None:
    page = shop.page("a/one.md", "cache")
    assert answer_at_once(Query("cache"), shop.root) is None
    time.sleep(0.05)
    expected = shop.ask("cache")
    assert answer_at_once(Query("cache"), shop.root) == expected
    page.write_text(page.read_text() + "more\n")
    assert answer_at_once(Query("cache"), shop.root) is None
    time.sleep(0.05)
    shop.ask("cache")
    assert answer_at_once(Query("cache"), shop.root) is not None
    shop.repository.commit("feat: news", {"b.py": ""})
    assert answer_at_once(Query("cache"), shop.root) is None


def test_the_state_folder_is_the_one_of_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for value in ({}, {"REFLECT_STATE_DIR": str(tmp_path)}, {"XDG_STATE_HOME": str(tmp_path)}, {"XDG_STATE_HOME": "x"}):
        with monkeypatch.context() as patch:
            for name in ("REFLECT_STATE_DIR", "XDG_STATE_HOME"):
                patch.delenv(name, raising=False)
            for name, text in value.items():
                patch.setenv(name, text)
            assert state_folder() == Settings.of_environment().state


def test_a_repository_without_commits_or_wiki_is_searched_for_nothing(tmp_path: Path, shop: Searched) -> None:
    from examples.sessions import GitRepository

    empty = Searched(GitRepository.create(tmp_path / "empty"), shop.settings)
    assert empty.found("anything") == []


def test_refreshing_after_a_run_fails_nothing(shop: Searched) -> None:
    assert refresh_all(shop.workspace) == ()
    file = index_file(shop.workspace)
    shutil.rmtree(file.parent)
    file.parent.write_text("in the way")
    (note,) = refresh_all(shop.workspace)
    assert note.startswith("Search was not refreshed")


def test_an_index_of_another_version_is_not_read(tmp_path: Path) -> None:
    assert Index.existing(tmp_path / "none.db") is None


@pytest.mark.parametrize(
    ("start", "then", "finders"),
    [
        ("shop", "shop", {"shop"}),
        ("shop", "nowhere", {"shop"}),
        ("store", "store", set()),
        ("shop", "store", set()),
        ("store", "shop", set()),
    ],
)
def test_a_session_is_found_by_the_one_project_that_it_ran_in(
    make: Make, tmp_path: Path, start: str, then: str, finders: set[str]
) -> None:
    """R1 asks every directory of a session, and so does search: what was said of another project is not found here."""
    shop, store = make("shop"), make("store")
    transcript = ClaudeTranscript("s-1", cwd=str(tmp_path / start)).prompt("look around")
    transcript.cwd = str(tmp_path / then)
    transcript.prompt("keep the wanderquor ledger apart")
    shop.repository.checkpoint_branch([("aaaaaaaaaaaa", [StoredSession(transcript.encode(), "s-1")])])
    projects = tuple(Project(project_id=one.root.name, workspace_roots=(str(one.root),)) for one in (shop, store))
    found = {
        project.project_id
        for one, project in zip((shop, store), projects, strict=True)
        if search(replace(one.workspace, registry=Registry(projects), project=project), Query("wanderquor")).hits
    }
    assert found == finders
