"""The real qmd, installed as `reflect init --qmd` installs it."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reflect.errors import SearchError
from reflect.search.find import refresh_all
from reflect.search.place import search_folder
from reflect.search.qmd.collection import Collection, PageText, State, collection_name, mirror_name
from reflect.search.qmd.install import install
from reflect.search.qmd.process import Fault, run
from reflect.search.qmd.program import Program, find_program, installed, on_path, why_unfit
from reflect.search.setup import qmd_status, set_up_qmd
from tests.conftest import ROOT
from tests.search.conftest import Searched
from tests.search.tiny_model import write_tiny_model

pytestmark = pytest.mark.xdist_group("qmd")

Make = Callable[[str], Searched]
INSTALLED = ROOT / ".venv" / "qmd"


@pytest.fixture(scope="session")
def program() -> Program:
    """qmd, installed once; a machine that cannot install it fails here, and does not skip."""
    return install(INSTALLED)


@pytest.fixture
def ready(program: Program, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setenv("REFLECT_QMD_DIR", str(INSTALLED))
    return program


@pytest.fixture
def fixture_set(shop: Searched, ready: Program) -> Searched:
    """Twelve pages about different things, each with words of its own."""
    about = ["webhook retries", "cold cache", "tax rounding", "login tokens", "css grid", "backup tapes"]
    about += ["queue workers", "search index", "date formats", "price lists", "feature flags", "error budgets"]
    for number, topic in enumerate(about):
        first, second = topic.split()
        shop.page(f"notes/{first}-{second}.md", f"We decided on {topic} in meeting {number}.", topic.title())
    set_up_qmd(shop.workspace, wanted=True)
    return shop


def collection_of(searched: Searched, program: Program) -> Collection:
    return Collection(search_folder(searched.settings.state, searched.root), searched.root, program)


def test_both_backends_find_the_same_pages(fixture_set: Searched) -> None:
    for question in ("webhook retries", "cold cache", "tax", "tokens", "css grid", "workers", "date formats", "flags"):
        by_qmd = fixture_set.ask(question, wiki_only=True, backend="qmd", limit=3)
        by_text = fixture_set.ask(question, wiki_only=True, backend="text", limit=3)
        assert (by_qmd.backend, by_text.backend) == ("qmd", "text")
        assert by_qmd.hits[0].id == by_text.hits[0].id, question
        assert {hit.id for hit in by_qmd.hits} == {hit.id for hit in by_text.hits}, question


def test_setting_up_can_be_repeated_and_status_says_how_it_is(fixture_set: Searched) -> None:
    made, said = set_up_qmd(fixture_set.workspace, wanted=False)
    assert made == "" and "12 pages" in said
    status = qmd_status(fixture_set.workspace)
    assert status["collection"] == "reflect-shop" and status["pages"] == 12 and status["fault"] is None


def test_edited_deleted_renamed_and_archived_pages_are_followed(fixture_set: Searched) -> None:
    wiki = fixture_set.root / ".reflect" / "wiki"
    fixture_set.page("notes/cold-cache.md", "now it is about okapis")
    (wiki / "notes/tax-rounding.md").unlink()
    (wiki / "notes/css-grid.md").rename(wiki / "notes/css-rows.md")
    (wiki / "_archive/notes").mkdir(parents=True)
    (wiki / "notes/backup-tapes.md").rename(wiki / "_archive/notes/backup-tapes.md")
    assert refresh_all(fixture_set.workspace) == ()
    asked = {q: fixture_set.ask(q, wiki_only=True, backend="qmd") for q in ("okapis", "rounding", "grid", "tapes")}
    assert {question: [hit.id for hit in answer.hits] for question, answer in asked.items()} == {
        "okapis": ["notes/cold-cache.md"],
        "rounding": [],
        "grid": ["notes/css-rows.md"],
        "tapes": [],
    }


@pytest.mark.parametrize(
    "question", ["src/a.py", "-x", '"', "--flag", "retryPolicy", "C++", "a:b@c", "NOT AND", "日本"]
)
def test_signs_are_text_to_qmd_too(fixture_set: Searched, question: str) -> None:
    fixture_set.page("notes/signs.md", "see src/a.py and -x and --flag and retryPolicy and C++ and a:b@c not and 日本")
    answer = fixture_set.ask(question, wiki_only=True)
    assert answer.backend == ("text" if question == '"' else "qmd"), answer.why
    if question != '"':
        assert "notes/signs.md" in [hit.id for hit in answer.hits]


def test_what_a_project_may_not_see_and_secrets_are_not_in_qmds_index(fixture_set: Searched, ready: Program) -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    fixture_set.page("notes/foreign.md", "the okapi of the others", project_id="other-123456")
    fixture_set.page("notes/key.md", f"the zebra key is {token}")
    refresh_all(fixture_set.workspace)
    assert fixture_set.found("okapi", wiki_only=True, backend="qmd") == []
    assert fixture_set.found("zebra", wiki_only=True, backend="qmd") == ["notes/key.md"]
    home = collection_of(fixture_set, ready).home
    held = b"".join(file.read_bytes() for file in sorted(home.rglob("*")) if file.is_file())
    assert b"okapi" not in held and token.encode() not in held and b"zebra" in held


def test_hazard_109_and_110_four_refreshes_at_once_and_a_small_one_beside_a_large(make: Make, ready: Program) -> None:
    large, small = make("large"), make("small")
    for number in range(150):
        large.page(f"notes/p{number}.md", f"cache cache cache entry {number}", "Cache")
    small.page("notes/one.md", "one word about the cache among others")
    set_up_qmd(small.workspace, wanted=False)
    set_up_qmd(large.workspace, wanted=False)
    for number in range(0, 150, 7):
        large.page(f"notes/p{number}.md", f"cache entry {number} edited", "Cache")
    workspace = large.workspace
    with ThreadPoolExecutor(4) as pool:
        assert [f.result() for f in [pool.submit(refresh_all, workspace) for _ in range(4)]] == [()] * 4
    assert qmd_status(workspace)["pages"] == 150
    assert small.found("cache", wiki_only=True, backend="qmd") == ["notes/one.md"]
    (large.root / ".reflect" / "wiki").rename(large.root / ".reflect" / "away")
    refresh_all(large.workspace)
    assert small.found("cache", wiki_only=True, backend="qmd") == ["notes/one.md"]


def test_hazard_28_a_qmd_folder_in_the_repository_or_above_it_is_not_looked_at(
    fixture_set: Searched, tmp_path: Path
) -> None:
    pwned = tmp_path / "pwned"
    for folder in (fixture_set.root, tmp_path):
        (folder / ".qmd").mkdir()
        said = {"collections": {"x": {"path": str(tmp_path), "pattern": "**/*.md", "update": f"touch {pwned}"}}}
        (folder / ".qmd" / "index.yml").write_text(json.dumps(said))
    fixture_set.page("notes/new.md", "the okapi")
    assert refresh_all(fixture_set.workspace) == ()
    assert fixture_set.found("okapi", wiki_only=True, backend="qmd") == ["notes/new.md"]
    assert not pwned.exists()


def test_a_program_that_lies_in_the_repository_is_never_used(
    shop: Searched, monkeypatch: pytest.MonkeyPatch, program: Program
) -> None:
    package = shop.root / "node_modules" / "@tobilu" / "qmd"
    (package / "dist" / "cli").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@tobilu/qmd", "version": "9.9.9"}')
    for file in (package / "dist" / "cli" / "qmd.js", package / "qmd"):
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{package}:{Path(program.node).parent}:{os.environ['PATH']}")
    assert on_path(shop.root) is None and find_program(shop.settings.state, shop.root) is None


def test_hazard_31_two_repositories_of_one_name_have_two_collections(make: Make, ready: Program) -> None:
    one, other = make("org1/api"), make("org2/api")
    one.page("notes/one.md", "the cache of the first")
    other.page("notes/two.md", "the cache of the second")
    for searched in (one, other):
        set_up_qmd(searched.workspace, wanted=False)
    assert collection_name(one.root) == collection_name(other.root) == "reflect-api"
    assert one.found("cache", wiki_only=True, backend="qmd") == ["notes/one.md"]
    assert other.found("cache", wiki_only=True, backend="qmd") == ["notes/two.md"]


def test_vectors_are_made_and_asked_for(
    fixture_set: Searched, ready: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLECT_QMD_MODEL", str(write_tiny_model(tmp_path / "tiny.gguf")))
    for page in sorted((fixture_set.root / ".reflect" / "wiki" / "notes").iterdir())[4:]:
        page.unlink()
    made, _ = set_up_qmd(fixture_set.workspace, wanted=False)
    assert made == "qmd collection reflect-shop"
    collection = collection_of(fixture_set, ready)
    assert collection.without_vectors() == 0 and qmd_status(fixture_set.workspace)["vectors"] is True
    answer = fixture_set.ask("nothing of these words", wiki_only=True)
    assert (answer.backend, answer.why) == ("qmd", "healthy, words and vectors")
    assert len(answer.hits) == 4, "vectors find something where no word is shared"


def test_without_models_nothing_waits(fixture_set: Searched, ready: Program) -> None:
    collection = collection_of(fixture_set, ready)
    for arguments in (["embed"], ["query", "a plain question", "-c", collection.name]):
        with pytest.raises(Fault, match="left with 1"):
            collection.call(arguments, 60)


def test_without_qmd_search_says_so_and_answers(
    shop: Searched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLECT_QMD_DIR", str(tmp_path / "nowhere"))
    shop.page("notes/one.md", "the cache")
    answer = shop.ask("cache", wiki_only=True)
    assert (answer.backend, [hit.id for hit in answer.hits]) == ("text", ["notes/one.md"])
    assert "reflect init --qmd" in answer.why
    with pytest.raises(SearchError, match="qmd was required"):
        shop.ask("cache", backend="qmd")


def fake(folder: Path, script: str) -> Program:
    """A program that answers as `script` says, on Python in the place of node."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "fake.py"
    file.write_text(f"import sys, time, os, subprocess\narguments = sys.argv[1:]\n{script}\n")
    return Program(sys.executable, str(file), "0.0.0")


def test_hazard_109_when_time_is_up_the_whole_group_is_ended(tmp_path: Path) -> None:
    grandchild = tmp_path / "grandchild"
    script = (
        f"child = subprocess.Popen(['sleep', '60'])\nopen({str(grandchild)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    program = fake(tmp_path, script)
    with pytest.raises(Fault, match="took longer than 1 s"):
        run(program.node, program.script, ["search"], home=tmp_path / "home", timeout_s=1)
    number = int(grandchild.read_text())
    for _ in range(50):
        if not _is_running(number):
            break
        time.sleep(0.05)
    assert not _is_running(number)


def _is_running(number: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{number}/stat").read_text().split(")")[1][:3]
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("print('Error: it broke', file=sys.stderr); sys.exit(1)", "left with 1: Error: it broke"),
        ("os.kill(os.getpid(), 11)", "left with -11"),
        ("print('not json at all')", "indexed 0 of 1 pages|does not name the pages"),
    ],
)
def test_whatever_qmd_does_is_a_fault_in_the_state_and_no_exception(
    tmp_path: Path, script: str, complaint: str
) -> None:
    collection = Collection(tmp_path / "index", tmp_path / "shop", fake(tmp_path, script))
    state = collection.refresh("g", [PageText("wiki", "a/b.md", "T", "text")], "now")
    assert isinstance(state, State)
    assert re.search(complaint, state.fault)


def test_a_database_it_fell_over_is_tried_once_more(tmp_path: Path) -> None:
    flag = tmp_path / "fell"
    pages = tmp_path / "index" / "qmd-words" / "pages"
    script = (
        f"if 'update' in arguments and not os.path.exists({str(flag)!r}):\n"
        f"    open({str(flag)!r}, 'w').close()\n"
        "    print('SqliteError: constraint failed', file=sys.stderr); sys.exit(1)\n"
        f"print({str(pages)!r}, 'qmd://reflect-shop/a/b.md')"
    )
    collection = Collection(tmp_path / "index", tmp_path / "shop", fake(tmp_path, script))
    state = collection.refresh("g", [PageText("wiki", "a/b.md", "T", "text")], "now")
    assert state.fault == "" and flag.exists()


def test_a_node_that_is_too_old_is_told_and_not_crashed_on(tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v20.20.2\n")
    node.chmod(node.stat().st_mode | stat.S_IXUSR)
    assert why_unfit(Program(str(node), "qmd.js", "2.8.3"), tmp_path / "home") == (
        "its node is v20.20.2, and qmd needs 22.14 or newer"
    )


@pytest.mark.parametrize("path", ["build/x.md", "a/node_modules/x.md", "A/x.md", "a/x_y.md", "a/日本.md", "a/x y.md"])
def test_names_that_qmd_passes_over_or_folds_are_given_others(path: str) -> None:
    name = mirror_name(PageText("wiki", path, "", ""))
    assert name.startswith("wiki-") and name != mirror_name(PageText("organisation", path, "", ""))


def test_what_is_installed_is_pinned_without_an_address_and_runs_no_script(program: Program) -> None:
    lock = json.loads((ROOT / "reflect" / "search" / "qmd" / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert all(package["version"] and package["integrity"].startswith("sha512-") for package in packages.values())
    assert "://" not in json.dumps(lock)
    assert installed(INSTALLED) == program
    version = subprocess.run([program.node, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.startswith("v24.")
