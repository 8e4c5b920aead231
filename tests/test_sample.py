"""The whole product on a real repository's history, where that is at hand."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import frontmatter
import orjson
import pytest

from tests.conftest import CommandLine, clone_sample, command_line_in
from tests.written import assert_page_written

pytestmark = pytest.mark.xdist_group("prefect")

CITATION = re.compile(r"\(((?:(?:checkpoint|commit) [0-9A-Za-z]+(?:, )?)+)\)$")


@dataclass(frozen=True)
class Ingested:
    repository: Path
    before: dict[str, str]
    report: dict[str, Any]
    reflect: CommandLine


@pytest.fixture(scope="module")
def ingested(sample_bundle: Path, prefect_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingested]:
    folder = tmp_path_factory.mktemp("sample")
    repository = clone_sample(sample_bundle, folder / "sample")
    before = pages_of(repository)
    reflect = command_line_in(folder / "state", prefect_server)
    yield Ingested(repository, before, reflect.json("ingest", "--repo", repository), reflect)


def pages_of(repository: Path) -> dict[str, str]:
    wiki = repository / ".reflect" / "wiki"
    return {str(path.relative_to(wiki)): path.read_text(encoding="utf-8") for path in sorted(wiki.rglob("*.md"))}


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def written_pages(ingested: Ingested) -> list[tuple[str, str]]:
    pages = pages_of(ingested.repository)
    paths = [page["path"] for page in ingested.report["pages"] if page["action"] in ("create", "update", "resolve")]
    return [(path, pages.get(path) or pages[f"_archive/{path}"]) for path in paths]


def test_every_session_and_commit_is_accounted_for(ingested: Ingested) -> None:
    report = ingested.report
    commits = set(git(ingested.repository, "rev-list", "HEAD").split())
    tree = git(ingested.repository, "ls-tree", "-r", "--name-only", "origin/entire/checkpoints/v1").split()
    sessions = {f"{a}{b}/{n}" for a, b, n, *_ in (path.split("/") for path in tree if path.count("/") == 3)}
    assert (
        report["collected"] == {"sessions": len(sessions), "commits": len(commits)} == {"sessions": 22, "commits": 65}
    )
    assert {item["id"] for item in report["evidence"]} == sessions | commits
    assert sum(report["outcomes"].values()) == len(report["evidence"]) == 87
    assert all(item["reason"] for item in report["evidence"])


def test_it_publishes_neither_nothing_nor_everything(ingested: Ingested) -> None:
    own = [page for page in ingested.report["pages"] if page["action"] in ("create", "update") and not page["digest"]]
    assert 8 <= len(own) <= 60
    assert all(page["reason"] and page["sources"] for page in own)


def test_every_citation_resolves(ingested: Ingested) -> None:
    checkpoints = {item["id"].split("/")[0] for item in ingested.report["evidence"] if item["kind"] == "session"}
    cited = 0
    for path, text in written_pages(ingested):
        for line in text.splitlines():
            match = CITATION.search(line) if line.startswith("> ") else None
            for citation in match.group(1).split(", ") if match else ():
                kind, name = citation.split(" ")
                cited += 1
                if kind == "checkpoint":
                    assert name in checkpoints, f"{path}: {citation}"
                else:
                    assert git(ingested.repository, "cat-file", "-t", name).strip() == "commit", f"{path}: {citation}"
    assert cited >= 30


def test_every_quote_is_verbatim_in_its_evidence(ingested: Ingested) -> None:
    said = _everything_said(ingested.repository)
    quotes = 0
    for path, text in written_pages(ingested):
        added = [line for line in text.splitlines() if line not in ingested.before.get(path, "").splitlines()]
        for line in added:
            match = CITATION.search(line) if line.startswith("> ") else None
            if match is None:
                continue
            quote = _folded(line.removeprefix("> ")[: match.start() - 3])
            where = [said[citation.split(" ")[1]] for citation in match.group(1).split(", ")]
            assert any(_unescaped(quote) in words for words in where), f"{path}: {quote}"
            quotes += 1
    assert quotes >= 30


def test_every_page_carries_its_scope(ingested: Ingested) -> None:
    """R1."""
    for path, text in written_pages(ingested):
        assert_page_written(text, project=ingested.report["project"], scope_source="extraction_default")
        keys = frontmatter.loads(text).metadata
        assert keys["origin"] in ("clean", "untrusted"), path
        assert isinstance(keys["proposal_id"], str), path


def test_pages_that_stood_there_keep_their_text(ingested: Ingested) -> None:
    after = pages_of(ingested.repository)
    for path, text in ingested.before.items():
        if path in ("index.md",):
            continue
        body = text.split("---", 2)[-1].lstrip() if text.startswith("---") else text
        now = after.get(path) or after[f"_archive/{path}"]
        remaining = iter(now.splitlines())
        assert all(any(line == kept for kept in remaining) for line in body.splitlines()), path


def test_index_counts_what_is_there(ingested: Ingested) -> None:
    pages = pages_of(ingested.repository)
    index = pages["index.md"]
    listed = re.findall(r"^- \[.*?\]\((.*?\.md)\)", index, re.MULTILINE)
    assert sorted(listed) == sorted(set(listed))
    assert set(listed) == {path for path in pages if "/" in path and not path.startswith("_archive/")}
    assert f"{len(listed)} active pages across" in index


def test_a_second_run_changes_no_byte_and_reads_no_transcript(ingested: Ingested, tmp_path: Path) -> None:
    before = _tree(ingested.repository)
    report = ingested.reflect.json("ingest", "--repo", ingested.repository)
    assert report["nothing_new"] and report["collected"] == {"sessions": 0, "commits": 0}
    (ingested.repository / ".reflect" / ".last_run").unlink()
    full = ingested.reflect.json("ingest", "--repo", ingested.repository)
    assert full["collected"] == {"sessions": 0, "commits": 0}
    assert _tree(ingested.repository) == before


def test_status_shows_how_sessions_taught(ingested: Ingested) -> None:
    status = ingested.reflect.json("status", "--repo", ingested.repository)
    assert status["project"] == ingested.report["project"]
    assert status["sources"]["checkpoints"] == 21
    assert sum(status["sources"]["evidence"]["session"].values()) == 22
    assert status["sources"]["sessions_taught"] == {"user_turns": ingested.report["teaching"]["user_turns"]}
    assert status["wiki"]["pages"] == sum(status["wiki"]["by_status"].values())


def _tree(repository: Path) -> dict[str, bytes]:
    folder = repository / ".reflect"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".last_run"
    }


def _everything_said(repository: Path) -> dict[str, str]:
    """All words by checkpoint and by the first digits of a commit, read without any of the product's own code."""
    said: dict[str, str] = {}
    for record in git(repository, "log", "--format=%H%x1f%B%x1e").split("\x1e"):
        if record.strip():
            sha, message = record.strip().split("\x1f", 1)
            said[sha[:12]] = _folded(message)
    tree = git(repository, "ls-tree", "-r", "--name-only", "origin/entire/checkpoints/v1").split()
    for path in (path for path in tree if path.endswith("full.jsonl")):
        shard, rest, *_ = path.split("/")
        words: list[str] = []
        for line in git(repository, "show", f"origin/entire/checkpoints/v1:{path}").split("\n"):
            if line.strip():
                words += _strings(orjson.loads(line))
        said[shard + rest] = said.get(shard + rest, "") + _folded("\n".join(words))
    return said


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\\`*_{}\[\]()#+\-.!<>|~&])", r"\1", text)
