"""Reading the whole wiki: one bad page hides nothing, and nothing outside it is read."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

import pytest

from reflect.errors import PageError, WikiError
from reflect.wiki.store import Wiki, WikiState
from tests.conftest import clone_sample
from tests.wiki.builders import PAGES, page_text, put


def read(tmp_path: Path) -> WikiState:
    return Wiki(tmp_path).read()


def test_a_wiki_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path) == WikiState()


def test_hazard_9_one_malformed_page_hides_none_of_the_others(tmp_path: Path) -> None:
    for number in range(10):
        put(tmp_path, f"wiki/a/{number}.md", page_text(f"Page {number}"))
    put(tmp_path, "wiki/a/bad.md", (PAGES / "unreadable-backticks.md").read_bytes())
    state = read(tmp_path)
    assert [page.title for page in state.pages] == [f"Page {number}" for number in range(10)]
    ((path, reason),) = state.unreadable
    assert path == "a/bad.md"
    assert reason.startswith("a/bad.md:2: the frontmatter is not YAML")


def test_hazard_10_and_39_every_unreadable_page_is_named_with_its_line(tmp_path: Path) -> None:
    shutil.copytree(PAGES, tmp_path / "wiki" / "x")
    state = read(tmp_path)
    bad = sorted(file.name for file in PAGES.glob("unreadable-*"))
    assert [path for path, _ in state.unreadable] == [f"x/{name}" for name in bad]
    assert len(state.pages) == len(list(PAGES.glob("*.md"))) - len(bad)
    assert set(state.hashes) == state.paths
    content = (PAGES / "crlf.md").read_bytes()
    assert state.hashes["x/crlf.md"] == hashlib.sha256(content).hexdigest()


def test_the_wikis_own_files_are_no_pages_and_archived_ones_are_listed_apart(tmp_path: Path) -> None:
    for path in ("index.md", "log.md", "a/index.md", "_archive/a/old.md", "_drafts/x.md", ".obsidian/y.md", "a/.z.md"):
        put(tmp_path, f"wiki/{path}", page_text(path))
    put(tmp_path, "wiki/a/picture.png", b"\x89PNG")
    state = read(tmp_path)
    assert [page.path for page in state.pages] == ["a/index.md"]
    assert [page.path for page in state.archived] == ["_archive/a/old.md"]


def test_hazard_28_links_are_not_followed(tmp_path: Path) -> None:
    secret = put(tmp_path, "outside/secret.md", page_text("Secret"))
    put(tmp_path, "r/wiki/a/page.md", page_text())
    (tmp_path / "r/wiki/a/link.md").symlink_to(secret)
    (tmp_path / "r/wiki/linked").symlink_to(secret.parent)
    state = read(tmp_path / "r")
    assert [page.path for page in state.pages] == ["a/page.md"]
    assert state.notes == (
        "a/link.md is a symbolic link and was not followed.",
        "linked is a symbolic link and was not followed.",
    )
    with pytest.raises(WikiError, match="symbolic link"):
        Wiki(tmp_path / "r").content("linked/secret.md")


@pytest.mark.parametrize("link", ["r", "r/wiki"])
def test_hazard_28_a_wiki_behind_a_link_is_refused(tmp_path: Path, link: str) -> None:
    put(tmp_path, "elsewhere/wiki/a/page.md", page_text())
    (tmp_path / "r").mkdir(exist_ok=True)
    if link == "r":
        (tmp_path / "r").rmdir()
    (tmp_path / link).symlink_to(tmp_path / "elsewhere" / ("" if link == "r" else "wiki"))
    with pytest.raises(WikiError, match="symbolic link"):
        read(tmp_path / "r")


def test_a_pipe_and_a_huge_file_do_not_stop_the_scan(tmp_path: Path) -> None:
    put(tmp_path, "wiki/a/page.md", page_text())
    os.mkfifo(tmp_path / "wiki/a/pipe.md")
    with put(tmp_path, "wiki/a/huge.md", b"").open("r+b") as stream:
        stream.truncate(5 * 1024 * 1024)
    state = read(tmp_path)
    assert [page.path for page in state.pages] == ["a/page.md"]
    assert [path for path, _ in state.unreadable] == ["a/huge.md", "a/pipe.md"]


def test_a_name_that_is_not_utf8_can_be_printed(tmp_path: Path) -> None:
    put(tmp_path, "wiki/a/page.md", page_text())
    name = os.fsencode(tmp_path) + b"/wiki/a/caf\xe9.md"
    try:
        Path(os.fsdecode(name)).write_bytes(page_text("Cafe").encode())
    except OSError:
        pytest.skip("this file system has no such names")
    state = read(tmp_path)
    assert sorted(page.path for page in state.pages) == ["a/caf\ufffd.md", "a/page.md"]


def test_one_page_by_name(tmp_path: Path) -> None:
    put(tmp_path, "wiki/a/page.md", page_text("Here"))
    wiki = Wiki(tmp_path)
    assert wiki.page("a/page.md").title == "Here"
    assert wiki.content("a/none.md") is None
    assert wiki.content("a/page.md/deeper.md") is None
    with pytest.raises(PageError, match="does not exist"):
        wiki.page("a/none.md")


def test_five_thousand_pages_in_seconds(tmp_path: Path) -> None:
    body = "\n\n".join(f"> Statement {n} of the page. (checkpoint 4ecb34b81a12)" for n in range(20))
    for number in range(1000):
        put(tmp_path, f"wiki/c{number % 20}/p{number}.md", page_text(f"Page {number}", body, tags="[a, b]"))
    start = time.process_time()
    assert len(read(tmp_path).pages) == 1000
    assert time.process_time() - start < 1.0  # 5,000 take about five times as long; measured at 0.2 s


def test_the_sample_wiki_is_read_whole(sample_bundle: Path, tmp_path: Path) -> None:
    clone = clone_sample(sample_bundle, tmp_path / "clone")
    state = Wiki(clone / ".reflect").read()
    assert len(state.pages) == 36
    assert state.unreadable == ()
    assert [page.status for page in state.pages].count("open") == 2
    assert len([page for page in state.pages if page.sources]) == 35
    assert state.notes == (
        "guides/keeper-agent-focused-design.md has a second frontmatter block; it is read as text of the page.",
    )
