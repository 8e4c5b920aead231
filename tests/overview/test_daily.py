"""What a developer asks day by day: true to git, to the ledger and to the scope filter."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.cli.app import run
from reflect.configuration import Format
from reflect.errors import ConfigurationError, ReportError
from reflect.lint.run import lint
from reflect.model import Outcome
from reflect.overview.briefing import briefing
from reflect.overview.improve import improve
from reflect.overview.metrics import badges, export, measure
from reflect.overview.sessions import find_sessions, list_sessions
from reflect.overview.timeline import timeline
from reflect.workspace import Workspace

RULE = "keep-the-address-in-the-server-session"


def page(shop: Workspace, path: str, title: str, *, lead: str = "Words.", **keys: Any) -> None:
    """Write a page whose words are the project's own, unless `keys` say otherwise."""
    stated = {
        "updated": "2026-03-20",
        "status": "active",
        "memory_type": "reflection",
        "scope": "project",
        "project_id": shop.project.project_id,
        "workspace_root": ".",
        "scope_confidence": 0.9,
        "scope_source": "extraction_default",
        "origin": "clean",
        "learnable": True,
    } | keys
    file = shop.wiki.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\n{yaml.safe_dump(stated)}---\n\n# {title}\n\n{lead}\n", encoding="utf-8")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert run([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def test_sessions_are_those_of_git_with_what_became_of_each(shop: Workspace) -> None:
    found = list_sessions(shop)
    stored = subprocess.run(
        ["git", "-C", shop.git.root, "for-each-ref", "--format=%(refname)", "refs/entire/checkpoints"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {one.checkpoint for one in found.sessions} == {name.rsplit("/", 1)[-1] for name in stored} != set()
    assert all(one.outcome is not None for one in found.sessions)
    began = [one.at for one in found.sessions if one.at]
    assert began == sorted(began, reverse=True)
    compiled = [one for one in found.sessions if one.outcome is Outcome.COMPILED]
    assert compiled and all(one.pages for one in compiled)


def test_a_session_is_found_by_the_beginning_of_its_id_with_the_words_typed_in_it(shop: Workspace) -> None:
    taught = next(one for one in list_sessions(shop).sessions if any(RULE in path for path in one.pages))
    (found,) = find_sessions(shop, taught.checkpoint.lower()[:20])
    assert found.id == taught.id and "keep it in the server session" in found.text
    for wanted in ("zzzz", ""):
        with pytest.raises(ConfigurationError, match="nothing was changed"):
            find_sessions(shop, wanted)


def test_a_session_of_another_project_in_the_same_repository_is_counted_and_not_shown(shop: Workspace) -> None:
    inside = shop.git.root / "admin"
    inside.mkdir()
    transcript = ClaudeTranscript("s-admin", cwd=str(inside)).prompt("the admin password rule is secretword")
    repository = GitRepository(shop.git.root)
    repository.checkpoint_ref("01KKZZZZZZZZZZZZZZZZZZZZZZ", [StoredSession(transcript.encode(), "s-admin")])
    admin = shop.project.model_copy(update={"project_id": "admin", "workspace_roots": (str(inside),)})
    several = replace(shop, registry=replace(shop.registry, projects=(shop.project, admin)))
    found = list_sessions(several)
    assert found.withheld == 1 and found.sessions
    assert "secretword" not in found.model_dump_json() + timeline(several, 36500).model_dump_json()


def test_a_session_that_ran_in_two_projects_is_found_in_neither(shop: Workspace) -> None:
    inside = shop.git.root / "admin"
    inside.mkdir()
    admin = shop.project.model_copy(update={"project_id": "admin", "workspace_roots": (str(inside),)})
    transcript = ClaudeTranscript("s-both", cwd=str(shop.git.root)).prompt("look at both").reply("Done.")
    transcript.cwd = str(inside)
    transcript.prompt("the admin rule is secretword")
    GitRepository(shop.git.root).checkpoint_ref("01KKZZZZZZZZZZZZZZZZZZZZZZ", [StoredSession(transcript.encode(), "s")])
    several = replace(shop, registry=replace(shop.registry, projects=(shop.project, admin)))
    assert list_sessions(several).withheld == 1
    assert "secretword" not in list_sessions(several).model_dump_json()
    assert "secretword" not in list_sessions(replace(several, project=admin)).model_dump_json()


def test_the_timeline_has_every_commit_on_its_day_and_the_pages_of_the_log(shop: Workspace) -> None:
    found = timeline(shop, 36500)
    raw = subprocess.run(
        ["git", "-C", shop.git.root, "log", "--format=%H %cd", "--date=format-local:%Y-%m-%d", shop.default.tips[0]],
        capture_output=True,
        text=True,
        check=True,
        env={"TZ": "UTC", "PATH": "/usr/bin:/bin"},
    ).stdout.splitlines()
    theirs = {tuple(line.split()) for line in raw}
    ours = {(one.id, str(day.day)) for day in found.days for one in day.commits}
    assert ours and ours <= theirs and len(theirs - ours) <= 1  # the commit that adds `.reflect/` is no news
    changed = {one.id for day in found.days for one in day.pages}
    assert any(RULE in path for path in changed)
    assert [day.day for day in found.days] == sorted((day.day for day in found.days), reverse=True)
    assert timeline(shop, 1).days == ()


def test_metrics_agree_with_lint_and_the_wiki_and_become_badges(shop: Workspace, tmp_path: Path) -> None:
    found = measure(shop)
    state = shop.wiki.read()
    assert (
        found.pages == sum(found.by_category.values()) == sum(one.status in ("active", "open") for one in state.pages)
    )
    assert found.accounted == found.evidence == found.sessions + found.commits > 0
    assert found.lint == lint(shop).by_severity
    written = export(found, tmp_path / "new" / "badges")
    assert set(written) == {"metrics.json", *(f"{name}.json" for name in badges(found))}
    for name in badges(found):
        badge = json.loads((tmp_path / "new" / "badges" / f"{name}.json").read_text())
        assert badge.keys() == {"schemaVersion", "label", "message", "color"} and badge["schemaVersion"] == 1
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ReportError, match="--export"):
        export(found, tmp_path / "taken")


def test_a_briefing_holds_no_word_of_a_stranger_or_of_another_project(shop: Workspace) -> None:
    page(shop, "preferences/stranger.md", "Strangerword", origin="untrusted", learnable=False)
    page(shop, "preferences/claimed.md", "Claimedword", origin="untrusted", learnable=True)
    page(shop, "preferences/model.md", "Modelword", origin="derived", learnable=False)
    page(shop, "preferences/foreign.md", "Foreignword", project_id="billing-000000")
    page(shop, "preferences/candidate.md", "Candidateword", memory_type="candidate_preference")
    page(shop, "preferences/keyless.md", "Keylessword", scope=None, origin=None)
    page(shop, "preferences/done.md", "Doneword", status="resolved")
    page(shop, "preferences/rule.md", "Ruleword", lead="Token ghp_0123456789abcdefghijABCDEFGHIJ012345 is ours.")
    page(shop, "decisions/fact.md", "Factword", memory_type="fact", learnable=False)
    found = briefing(shop)
    for word in ("Strangerword", "Claimedword", "Modelword", "Foreignword", "Candidateword", "Keylessword", "Doneword"):
        assert word not in found.text
    assert "- **Ruleword**" in found.text and "ghp_0123" not in found.text
    assert "(fact, decisions/fact.md)" in found.text and "no instruction" in found.text
    assert found.evidence_only >= 3


def test_hazard_131_a_work_tree_is_told_nothing_of_another(shop: Workspace) -> None:
    GitRepository(shop.git.root).git("add", ".reflect")
    GitRepository(shop.git.root).git("commit", "-q", "-m", "the wiki")
    GitRepository(shop.git.root).git("worktree", "add", "-q", "../other", "-b", "other")
    page(shop, "preferences/here.md", "Hereword")
    there = Workspace.open(shop.git.root.parent / "other", shop.settings)
    assert there.project.project_id == shop.project.project_id
    assert "Hereword" in briefing(shop).text
    assert "Hereword" not in briefing(there).text + timeline(there, 36500).model_dump_json()
    assert any(RULE in one.path for one in there.wiki.read().pages)


@pytest.mark.parametrize("budget", [10, 11, 14, 17, 30, 80])
def test_a_briefing_keeps_its_budget_and_gives_every_section_its_turn(shop: Workspace, budget: int) -> None:
    for number in range(12):
        for category in ("decisions", "gotchas", "open-work", "odd-things"):
            page(shop, f"{category}/{number:02}.md", f"{category} {number}")
    found = briefing(shop, budget)
    assert found.text.count("\n") <= budget
    bullets = [line for line in found.text.splitlines() if line.startswith("- ")]
    assert len(bullets) == found.shown > 0
    if budget == 30:
        assert found.text.count("## ") == 6  # what always holds, what the night found, and the four


def test_recency_and_bullets_are_those_of_the_format_counted_from_the_newest_evidence(shop: Workspace) -> None:
    for number in range(10):
        page(shop, f"open-work/new-{number}.md", f"New {number}", updated="2026-03-20")
    page(shop, "open-work/old.md", "Oldword", updated="2026-03-01")
    page(shop, "gotchas/undated.md", "Undatedword", updated=None)
    page(shop, "preferences/always.md", "Alwaysword", updated="2020-01-01", always_on=True)
    text = briefing(shop).text
    assert "Oldword" not in text and "Undatedword" in text and "Alwaysword" in text
    assert text.count("- **New ") == 8  # `max_bullets`, where the format says nothing else


def test_the_format_is_improved_by_what_the_wiki_shows(shop: Workspace) -> None:
    for number in range(9):
        page(shop, f"gotchas/{number}.md", f"Gotcha {number}")
    for number in range(4):
        page(shop, f"guides/{number}.md", f"Guide {number}", lead="line\n" * 400)
        page(shop, f"open-work/{number}.md", f"Open {number}", updated="2025-12-01")
    found = improve(shop)
    why = {(one.section, *one.proposed): one for one in found.proposals}
    assert why["Gotchas & Friction", "max_bullets"].proposed == {"max_bullets": 9}
    assert why["Guides", "max_bullets", "recency"].is_addition
    assert why["Open Work", "recency"].now == {"recency": "7d"}
    assert why["", "max_lines"].proposed["max_lines"] == 450
    written = Format.model_validate(yaml.safe_load(found.format))
    assert "guides" in written.categories and written.max_lines == 450
    (shop.folder / "format.yaml").write_text(found.format, encoding="utf-8")
    again = improve(Workspace.open(shop.git.root, shop.settings))
    assert {one.section for one in again.proposals} & {"Gotchas & Friction", "Guides", "Open Work", ""} == set()


def test_every_command_speaks_to_people_and_to_programs(shop: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    root = shop.git.root
    for command, key in (
        (["sessions"], "sessions"),
        (["timeline", "--days", "400"], "days"),
        (["metrics"], "pages"),
        (["context"], "text"),
        (["improve"], "proposals"),
    ):
        assert key in json.loads(printed(capsys, *command, "--repo", root, "--json"))
        said = printed(capsys, *command, "--repo", root)
        assert "\x1b" not in said and len(said) > 40
    checkpoint = list_sessions(shop).sessions[0].checkpoint
    assert checkpoint in printed(capsys, "sessions", checkpoint, "--repo", root)


def test_before_the_first_run_every_command_says_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REFLECT_STATE_DIR", str(tmp_path / "state"))
    empty = GitRepository.create(tmp_path / "empty")
    for command, said in (
        ("sessions", "No session"),
        ("timeline", "Nothing happened"),
        ("metrics", "never compiled"),
        ("context", "Nothing in this wiki"),
        ("improve", "nothing to change"),
    ):
        assert said in printed(capsys, command, "--repo", empty.path)


def test_a_log_that_people_wrote_in_is_read_as_far_as_it_is_known(shop: Workspace) -> None:
    log = shop.wiki.folder / "log.md"
    path = next(one.path for one in shop.wiki.read().pages)
    odd = f"\n## [2026-13-40] ingest | run x | nothing\n- create {path}\n\n## Thoughts\n- update {path}\n"
    known = f"\n## [2026-08-30] archive | run y | 1 moved\n- archive {path} -> _archive/{path}\n"
    log.write_text(log.read_text() + odd + known)
    found = timeline(shop, 36500)
    assert [one.title for day in found.days if day.day == date(2026, 8, 30) for one in day.pages] == ["archive"]
