"""What `reflect init` makes: once, and never over what is there."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest

from reflect.configuration import DEFAULT_FORMAT, load_format
from reflect.errors import WikiError
from reflect.wiki.scaffold import scaffold
from tests.wiki.builders import put, tree


def test_a_first_time_makes_everything_and_a_second_nothing(tmp_path: Path) -> None:
    made = scaffold(tmp_path / ".reflect")
    assert made == (".reflect/", ".reflect/wiki/", ".reflect/format.yaml", ".reflect/.gitignore")
    assert tree(tmp_path) == {
        ".reflect/format.yaml": DEFAULT_FORMAT.encode(),
        ".reflect/.gitignore": b".last_run\n.staging/\n",
    }
    assert list(load_format(tmp_path / ".reflect").categories) == ["decisions", "gotchas", "open-work", "pitfalls"]
    before = tree(tmp_path)
    assert scaffold(tmp_path / ".reflect") == ()
    assert tree(tmp_path) == before


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    put(tmp_path, ".reflect/format.yaml", "sections: []\r\n")
    put(tmp_path, ".reflect/.gitignore", b"mine\r\n.last_run\r\ncaf\xe9")
    put(tmp_path, ".reflect/wiki/a/b.md", "page")
    assert scaffold(tmp_path / ".reflect") == (".reflect/.gitignore",)
    assert tree(tmp_path) == {
        ".reflect/format.yaml": b"sections: []\r\n",
        ".reflect/.gitignore": b"mine\r\n.last_run\r\ncaf\xe9\n.staging/\n",
        ".reflect/wiki/a/b.md": b"page",
    }


@pytest.mark.parametrize("place", ["", "wiki", "format.yaml", ".gitignore"], ids="hazard-28-{!r}".format)
def test_a_link_is_not_followed(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "r/.reflect" / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "r/.reflect" / place).symlink_to(outside / "target" if "." in place else outside)
    with pytest.raises(WikiError, match="symbolic link"):
        scaffold(tmp_path / "r/.reflect")
    assert list(outside.iterdir()) == []


def test_a_file_where_a_folder_is_needed_is_said(tmp_path: Path) -> None:
    put(tmp_path, ".reflect", "x")
    with pytest.raises(WikiError, match="is a file where a folder is needed"):
        scaffold(tmp_path / ".reflect")


def test_a_disk_that_is_full_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    folder = tmp_path / ".reflect"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(WikiError, match="cannot be made ready"):
            scaffold(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert sorted(path.name for path in folder.iterdir()) == ["wiki"]
    scaffold(folder)
    assert (folder / "format.yaml").read_text() == DEFAULT_FORMAT
