"""`reflect ingest` through Prefect, on repositories small enough to know every outcome."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession
from tests.conftest import CommandLine

pytestmark = pytest.mark.xdist_group("prefect")

WHY = (
    "fix: retry webhooks with a jittered delay\n\n"
    "Deliveries failed because every worker retried at the same second, which took the partner's gateway down.\n"
    "Switched from a fixed delay to exponential back-off with jitter so that retries no longer arrive together.\n"
)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.create(tmp_path / "shop")
    made.commit("feat: take orders", {"shop.py": "ORDERS = []\n"})
    made.commit(WHY, {"retry.py": "DELAY = 1\n"})
    transcript = (
        ClaudeTranscript("s1")
        .prompt("add a cart")
        .reply("I stored the prices as floats in cart.py.")
        .prompt("no, never store prices as floats, use integer cents everywhere")
    )
    made.checkpoint_branch([("aaaaaaaaaaaa", [StoredSession(transcript.encode(), "s1")])])
    return made


def test_first_run_second_run_and_dry_run(command_line: CommandLine, repository: GitRepository) -> None:
    where = ("--repo", repository.path)
    dry = command_line.json("ingest", "--dry-run", *where)
    assert dry["dry_run"] and dry["pages"]
    assert not (repository.path / ".reflect").exists(), "a dry run writes nothing"

    report = command_line.json("ingest", *where)
    assert [page["path"] for page in report["pages"]] == [page["path"] for page in dry["pages"]]
    assert report["collected"] == {"sessions": 1, "commits": 2}
    assert sum(report["outcomes"].values()) == 3
    wiki = repository.path / ".reflect" / "wiki"
    pages = {page["path"]: (wiki / page["path"]).read_text() for page in report["pages"]}
    assert any("Switched from a fixed delay to exponential back-off with jitter" in text for text in pages.values())
    assert any("never store prices as floats" in text for text in pages.values())
    assert not any("I stored the prices" in text for text in pages.values()), "an assistant's words are no guidance"

    before = {path: path.read_bytes() for path in wiki.rglob("*.md")}
    again = command_line.json("ingest", *where)
    assert again["nothing_new"] and again["run"] == report["run"]
    assert {path: path.read_bytes() for path in wiki.rglob("*.md")} == before


def test_a_wiki_that_was_thrown_away_is_compiled_again(command_line: CommandLine, repository: GitRepository) -> None:
    where = ("--repo", repository.path)
    first = command_line.json("ingest", *where)
    wiki = repository.path / ".reflect" / "wiki"
    before = {path.relative_to(wiki): path.read_bytes() for path in wiki.rglob("*.md")}
    shutil.rmtree(repository.path / ".reflect")
    again = command_line.json("ingest", *where)
    assert again["outcomes"] == first["outcomes"]
    assert {path.relative_to(wiki): path.read_bytes() for path in wiki.rglob("*.md")} == before


def test_a_lost_ledger_is_rebuilt_and_nothing_is_written_twice(
    command_line: CommandLine, repository: GitRepository
) -> None:
    where = ("--repo", repository.path)
    first = command_line.json("ingest", *where)
    wiki = repository.path / ".reflect" / "wiki"
    before = {path: path.read_bytes() for path in wiki.rglob("*.md")}
    (command_line.state / "ledger.db").unlink()
    rebuilt = command_line.json("ledger", "rebuild", *where)
    compiled = {item["id"] for item in first["evidence"] if item["outcome"] == "compiled"}
    assert set(rebuilt["restored"]) == compiled
    command_line.json("ingest", *where)
    assert {path: path.read_bytes() for path in wiki.rglob("*.md")} == before


def test_a_damaged_ledger_is_named_kept_and_rebuilt(command_line: CommandLine, repository: GitRepository) -> None:
    where = ("--repo", repository.path)
    command_line.json("ingest", *where)
    ledger = command_line.state / "ledger.db"
    for rest in command_line.state.glob("ledger.db-*"):
        rest.unlink()
    ledger.write_bytes(b"not a database, but somebody's notes" * 100)
    failed = command_line("status", *where, check=4)
    assert str(ledger) in failed.stderr and "reflect ledger rebuild" in failed.stderr
    command_line("ledger", "rebuild", *where)
    assert list(command_line.state.glob("ledger.db.corrupt-*")), "the damaged file is kept"
    assert command_line.json("status", *where)["sources"]["checkpoints"] == 1


def test_other_branch_is_warned_about_unless_forced(command_line: CommandLine, repository: GitRepository) -> None:
    (repository.path / ".reflect").mkdir()
    (repository.path / ".reflect" / "config.yaml").write_text("default_branch: main\n")
    repository.git("checkout", "-q", "-b", "spike")
    warned = command_line("ingest", "--repo", repository.path)
    assert "spike" in warned.stderr and "main" in warned.stderr
    repository.commit("chore: note", {"note": "1"})
    assert "spike" not in command_line("ingest", "--force", "--repo", repository.path).stderr


def test_hazard_9_one_malformed_page_holds_nothing_back(command_line: CommandLine, repository: GitRepository) -> None:
    wiki = repository.path / ".reflect" / "wiki"
    bad = wiki / "decisions" / "bad.md"
    bad.parent.mkdir(parents=True)
    bad.write_bytes(b"---\npath: `C:\\agent`\n---\n\n# Broken\n")
    for number in range(10):
        (wiki / "decisions" / f"good-{number}.md").write_text(f"---\nstatus: active\n---\n\n# Good {number}\n\nText.\n")
    report = command_line.json("ingest", "--repo", repository.path)
    assert report["pages"] and report["outcomes"]["pending"] == 0
    assert bad.read_bytes() == b"---\npath: `C:\\agent`\n---\n\n# Broken\n"
    assert any("bad.md" in note for note in report["notes"])
    assert "Pages that cannot be read" in (wiki / "index.md").read_text()
    repository.commit("docs: later\n\nThe cache is disabled because it served stale prices.", {"later": "1"})
    assert command_line.json("ingest", "--repo", repository.path)["collected"]["commits"] == 1


def test_hazard_43_an_empty_repository_has_nothing_to_do(command_line: CommandLine, tmp_path: Path) -> None:
    empty = GitRepository.create(tmp_path / "empty")
    report = command_line.json("ingest", "--repo", empty.path)
    assert report["nothing_new"] and report["collected"] == {"sessions": 0, "commits": 0}
    assert any("no commit" in note for note in report["notes"])


def test_hazard_56_sixty_commits_since_the_last_run_are_all_taken(
    command_line: CommandLine, repository: GitRepository
) -> None:
    command_line("ingest", "--repo", repository.path)
    for number in range(60):
        repository.commit(f"chore: step {number}", {"step": str(number)}, at=START)
    report = command_line.json("ingest", "--repo", repository.path)
    assert report["collected"] == {"sessions": 0, "commits": 60}


def test_pages_beyond_the_cap_wait_and_are_taken_up(command_line: CommandLine, repository: GitRepository) -> None:
    (repository.path / ".reflect").mkdir()
    (repository.path / ".reflect" / "config.yaml").write_text("max_new_pages: 1\n")
    first = command_line.json("ingest", "--repo", repository.path)
    made = [page for page in first["pages"] if page["action"] == "create" and not page["digest"]]
    assert len(made) == 1 and first["outcomes"]["pending"] >= 1
    second = command_line.json("ingest", "--repo", repository.path)
    more = [page for page in second["pages"] if page["action"] == "create" and not page["digest"]]
    assert len(more) == 1 and more[0]["path"] != made[0]["path"]
    assert second["outcomes"]["pending"] == first["outcomes"]["pending"] - 1


def test_a_run_with_nothing_new_changes_no_byte_and_hides_no_lost_wiki(
    command_line: CommandLine, repository: GitRepository
) -> None:
    where = ("--repo", repository.path)
    first = command_line.json("ingest", *where)
    last_run = repository.path / ".reflect" / ".last_run"
    before = last_run.read_bytes()
    assert command_line.json("ingest", "--force", *where)["nothing_new"]
    assert last_run.read_bytes() == before
    (repository.path / ".reflect" / "config.yaml").write_text("max_lines: 100\n")
    assert command_line.json("ingest", "--dry-run", *where)["dry_run"]
    assert last_run.read_bytes() == before, "a dry run writes nothing, also where there is nothing new"
    assert command_line.json("ingest", *where)["nothing_new"]
    shutil.rmtree(repository.path / ".reflect" / "wiki")
    again = command_line.json("ingest", *where)
    assert [page["path"] for page in again["pages"]] == [page["path"] for page in first["pages"]]
    for option in ("--engine", "--repo"):
        assert "requires an argument" in command_line("ingest", option, check=2).stderr
