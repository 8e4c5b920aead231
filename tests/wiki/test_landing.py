"""All or nothing: whatever stops a landing, afterwards everything is there or everything is as it was."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflect.errors import WikiError
from reflect.wiki.landing import FileChange, Landing, recover
from reflect.wiki.page import sha256
from tests.wiki.builders import put, tree

PAYLOAD: dict[str, Any] = {"run": "r1", "evidence": [["a", 1], {"語": None}]}


class Killed(BaseException):
    """Stands for the end of the process: nothing in the product may catch it."""


def scene(root: Path) -> tuple[Path, tuple[FileChange, ...]]:
    """A wiki with pages to change, to add, to remove and to move, and the changes that do it."""
    reflect = root / ".reflect"
    put(reflect, "wiki/a/changed.md", "before")
    put(reflect, "wiki/a/same.md", "same")
    put(reflect, "wiki/b/moved.md", "moved")
    put(reflect, "wiki/index.md", "old index")
    put(reflect, "format.yaml", "sections: []")
    changes = (
        FileChange("wiki/a/changed.md", b"after", sha256(b"before")),
        FileChange("wiki/a/same.md", b"same", sha256(b"same")),
        FileChange("wiki/new/deep/added.md", b"added", None),
        FileChange("wiki/b/moved.md", None, sha256(b"moved")),
        FileChange("wiki/_archive/b/moved.md", b"moved", None),
        FileChange("wiki/index.md", b"new index", sha256(b"old index")),
        FileChange(".last_run", b"{}", None),
    )
    return reflect, changes


def landing(reflect: Path, fault: Callable[[str], None] | None = None) -> Landing:
    return Landing(reflect, "r1", journal=reflect.parent / ".git/reflect-landing.json", fault=fault)


def expected(root: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files before and after a landing that nothing stopped."""
    reflect, changes = scene(root)
    before = tree(reflect)
    done = landing(reflect)
    done.land(changes, PAYLOAD)
    done.finish()
    return before, tree(reflect)


def stop_at(number: int, steps: list[str], error: BaseException) -> Callable[[str], None]:
    def fault(step: str) -> None:
        steps.append(step)
        if len(steps) == number:
            raise error

    return fault


def count_steps(root: Path) -> list[str]:
    reflect, changes = scene(root)
    steps: list[str] = []
    watched = landing(reflect, stop_at(0, steps, Killed()))
    watched.land(changes, PAYLOAD)
    watched.finish()
    return steps


def test_a_landing_puts_everything_in_place_and_leaves_nothing_behind(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    done = landing(reflect)
    paths = done.land(changes, PAYLOAD)
    assert set(paths) == {change.path for change in changes} - {"wiki/a/same.md"}
    assert json.loads((tmp_path / ".git/reflect-landing.json").read_bytes())["payload"] == PAYLOAD
    done.finish()
    assert tree(tmp_path) == {
        ".reflect/.last_run": b"{}",
        ".reflect/format.yaml": b"sections: []",
        ".reflect/wiki/_archive/b/moved.md": b"moved",
        ".reflect/wiki/a/changed.md": b"after",
        ".reflect/wiki/a/same.md": b"same",
        ".reflect/wiki/index.md": b"new index",
        ".reflect/wiki/new/deep/added.md": b"added",
    }
    assert not (reflect / "wiki/b").exists()
    assert not (reflect / ".staging").exists()


def test_killed_at_any_step_and_recovered_it_is_all_or_nothing(tmp_path: Path) -> None:
    before, after = expected(tmp_path / "whole")
    steps = count_steps(tmp_path / "steps")
    outcomes = set()
    for number in range(1, len(steps) + 1):
        root = tmp_path / str(number)
        reflect, changes = scene(root)
        stopped = landing(reflect, stop_at(number, [], Killed()))
        with pytest.raises(Killed):
            stopped.land(changes, PAYLOAD)
            stopped.finish()
        recovery = recover(reflect, journal=root / ".git/reflect-landing.json")
        if recovery is None:
            assert tree(reflect) in (before, after), steps[number - 1]
        else:
            assert (recovery.landed, recovery.run_id, recovery.payload) == (True, "r1", PAYLOAD)
            recovery.finish()
            assert tree(reflect) == after, steps[number - 1]
        assert not (root / ".git/reflect-landing.json").exists()
        again = landing(reflect)
        again.land([FileChange.on_top(reflect, c.path, c.content) for c in changes], PAYLOAD)
        again.finish()
        assert tree(reflect) == after
        outcomes.add(recovery is not None)
    assert outcomes == {True, False}


def test_killed_again_while_recovering_it_is_still_all(tmp_path: Path) -> None:
    _, after = expected(tmp_path / "whole")
    steps = count_steps(tmp_path / "steps")
    middle = next(number for number, step in enumerate(steps, 1) if step == "put wiki/index.md in place")
    for number in range(1, 12):
        root = tmp_path / str(number)
        reflect, changes = scene(root)
        journal = root / ".git/reflect-landing.json"
        with pytest.raises(Killed):
            landing(reflect, stop_at(middle, [], Killed())).land(changes, PAYLOAD)
        try:
            first = recover(reflect, journal=journal, fault=stop_at(number, [], Killed()))
            assert first is not None
            first.finish()
        except Killed:
            second = recover(reflect, journal=journal)
            if second is not None:
                assert second.landed and second.payload == PAYLOAD
                second.finish()
        assert tree(reflect) == after


@pytest.mark.parametrize("word", ["put the journal", "put wiki/a", "remove the journal"])
def test_a_real_kill_leaves_all_or_nothing(tmp_path: Path, word: str) -> None:
    before, after = expected(tmp_path / "whole")
    root = tmp_path / "killed"
    scene(root)
    child = subprocess.run(
        [sys.executable, __file__, str(root), word], check=False, timeout=30, env=child_environment()
    )
    assert child.returncode == -signal.SIGKILL
    recovery = recover(root / ".reflect", journal=root / ".git/reflect-landing.json")
    if recovery is not None:
        assert recovery.payload == PAYLOAD
        recovery.finish()
    assert tree(root / ".reflect") == (after if recovery else before)


def test_hazard_94_a_disk_that_refuses_any_step_changes_nothing(tmp_path: Path) -> None:
    steps = count_steps(tmp_path / "steps")
    refused = steps[: steps.index("remove the journal")]
    for number in range(1, len(refused) + 1):
        root = tmp_path / str(number)
        reflect, changes = scene(root)
        before = tree(root)
        with pytest.raises(WikiError, match=r"No space left on device\); everything is as it was"):
            landing(reflect, stop_at(number, [], OSError(errno.ENOSPC, "No space left on device"))).land(changes, {})
        assert tree(root) == before, steps[number - 1]
        assert not (reflect / "wiki/new").exists()
    assert len(refused) > 20


def test_a_disk_that_also_refuses_to_take_back_is_finished_by_the_next_run(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    full: list[str] = []

    def fault(step: str) -> None:
        full.append(step)
        if step == "put wiki/index.md in place" or step.endswith(" back"):
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(WikiError, match="nor taken back"):
        landing(reflect, fault).land(changes, PAYLOAD)
    recovery = recover(reflect, journal=tmp_path / ".git/reflect-landing.json")
    assert recovery is not None and recovery.landed
    recovery.finish()
    assert (reflect / "wiki/index.md").read_bytes() == b"new index"


def test_a_page_that_a_person_edited_in_between_stops_all(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    put(reflect, "wiki/a/changed.md", "edited by hand")
    before = tree(tmp_path)
    assert landing(reflect).conflicts(changes) == ("wiki/a/changed.md",)
    with pytest.raises(WikiError, match=r"^wiki/a/changed\.md changed while the run was working; nothing was written"):
        landing(reflect).land(changes, PAYLOAD)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("path", ["wiki/new/deep/added.md", "wiki/b/moved.md"])
def test_a_page_that_appeared_or_went_in_between_is_a_conflict(tmp_path: Path, path: str) -> None:
    reflect, changes = scene(tmp_path)
    if (reflect / path).exists():
        put(reflect, path, "edited")
    else:
        put(reflect, path, "someone else's")
    assert landing(reflect).conflicts(changes) == (path,)


def test_an_edit_during_the_renames_takes_the_others_back(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)

    def edit(step: str) -> None:
        if step == "make the folder of wiki/index.md":
            put(reflect, ".last_run", "edited by hand")

    with pytest.raises(WikiError, match="everything is as it was"):
        landing(reflect, edit).land(changes, PAYLOAD)
    assert tree(reflect) == {**expected(tmp_path / "whole")[0], ".last_run": b"edited by hand"}


def test_an_edit_after_a_kill_is_kept_and_the_rest_is_taken_back(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    steps: list[str] = []

    def fault(step: str) -> None:
        steps.append(step)
        if step == "put wiki/index.md in place":
            raise Killed

    with pytest.raises(Killed):
        landing(reflect, fault).land(changes, PAYLOAD)
    put(reflect, "wiki/index.md", "edited by hand")
    recovery = recover(reflect, journal=tmp_path / ".git/reflect-landing.json")
    assert recovery is not None and not recovery.landed
    assert recovery.reason == "wiki/index.md changed after run r1 was killed; its pages were taken back."
    recovery.finish()
    assert tree(reflect) == {**expected(tmp_path / "whole")[0], "wiki/index.md": b"edited by hand"}


def test_hazard_29_pages_of_one_name_in_two_folders_do_not_meet_in_staging(tmp_path: Path) -> None:
    reflect = tmp_path / ".reflect"
    reflect.mkdir()
    pages = [FileChange(f"wiki/{folder}/data.md", folder.encode(), None) for folder in "abc"]
    done = landing(reflect)
    done.land(pages, {})
    done.finish()
    assert tree(reflect / "wiki") == {"a/data.md": b"a", "b/data.md": b"b", "c/data.md": b"c"}


@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "wiki/../../outside.md",
        "/tmp/outside.md",
        "wiki/.git/hooks/x",
        "C:\\x.md",
        "wiki//a.md",
        "wiki/.hidden/a.md",
        ".staging/x/y",
        "wiki/a\x00.md",
    ],
    ids="hazard-26-27-{!r}".format,
)
def test_nothing_is_made_for_a_path_that_is_not_safe(tmp_path: Path, path: str) -> None:
    reflect, changes = scene(tmp_path)
    before = tree(tmp_path)
    with pytest.raises(WikiError, match="nothing was written"):
        landing(reflect).land([*changes, FileChange(path, b"x", None)], PAYLOAD)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("place", ["wiki/linked", "wiki", ""], ids="hazard-28-{!r}".format)
def test_no_link_is_followed_out_of_the_repository(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    reflect = tmp_path / "r/.reflect"
    (reflect / place).parent.mkdir(parents=True, exist_ok=True)
    (reflect / place).symlink_to(outside)
    with pytest.raises(WikiError, match="symbolic link"):
        landing(reflect).land([FileChange("wiki/linked/a.md", b"x", None)], {})
    assert list(outside.iterdir()) == []
    if not place:
        with pytest.raises(WikiError, match="symbolic link"):
            recover(reflect, journal=tmp_path / "none.json")


def test_hazard_28_a_staging_folder_that_is_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    kept = put(tmp_path, "outside/kept.txt", "kept")
    (reflect / ".staging").symlink_to(kept.parent)
    assert recover(reflect, journal=tmp_path / ".git/reflect-landing.json") is None
    (reflect / ".staging").symlink_to(kept.parent)
    done = landing(reflect)
    done.land(changes, PAYLOAD)
    done.finish()
    assert kept.read_bytes() == b"kept"
    assert list(kept.parent.iterdir()) == [kept]


def test_a_journal_that_a_clone_brings_along_is_never_obeyed(tmp_path: Path) -> None:
    reflect, _ = scene(tmp_path)
    forged = {"version": 1, "run_id": "x", "entries": [], "payload": {"evidence": "all"}}
    put(reflect, ".staging/reflect-landing.json", json.dumps(forged))
    assert recover(reflect, journal=tmp_path / ".git/reflect-landing.json") is None
    assert not (reflect / ".staging").exists()


@pytest.mark.parametrize(
    "written",
    [
        b"{",
        b"[]",
        b'{"version": 2}',
        b'{"version": 1, "run_id": "x", "payload": {}, '
        b'"entries": [{"path": "../x", "before": null, "after": null, "number": 0}]}',
        b'{"version": 1, "run_id": "../x", "payload": {}, "entries": []}',
    ],
)
def test_a_journal_that_cannot_be_read_changes_nothing_and_says_so(tmp_path: Path, written: bytes) -> None:
    reflect, _ = scene(tmp_path)
    put(tmp_path, ".git/reflect-landing.json", written)
    before = tree(tmp_path)
    with pytest.raises(WikiError):
        recover(reflect, journal=tmp_path / ".git/reflect-landing.json")
    assert tree(tmp_path) == before


def test_a_landing_left_behind_must_be_recovered_first(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    landing(reflect).land(changes, PAYLOAD)
    with pytest.raises(WikiError, match="Recover that run first"):
        landing(reflect).land([FileChange("wiki/x/y.md", b"x", None)], {})


@pytest.mark.parametrize(
    ("one", "other"),
    [("wiki/a/x.md", "wiki/a/X.md"), ("wiki/a/x-y.md", "wiki/a/x_y.md"), ("wiki/a/x.md", "wiki/a/x.md")],
)
def test_hazard_22_two_spellings_of_one_page_do_not_land_together(tmp_path: Path, one: str, other: str) -> None:
    with pytest.raises(WikiError, match="are the same page"):
        landing(tmp_path).land([FileChange(one, b"1", None), FileChange(other, b"2", None)], {})


def test_a_page_may_be_renamed_to_another_spelling(tmp_path: Path) -> None:
    put(tmp_path, "r/wiki/a/x_y.md", "x")
    done = landing(tmp_path / "r")
    done.land([FileChange("wiki/a/x_y.md", None, sha256(b"x")), FileChange("wiki/a/x-y.md", b"x", None)], {})
    done.finish()
    assert tree(tmp_path / "r") == {"wiki/a/x-y.md": b"x"}


def test_nothing_to_change_writes_nothing(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    before = tree(tmp_path)
    done = landing(reflect)
    assert done.land([change for change in changes if change.path == "wiki/a/same.md"], PAYLOAD) == ()
    done.finish()
    assert tree(tmp_path) == before


def test_a_payload_that_is_no_json_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    before = tree(tmp_path)
    with pytest.raises(WikiError, match="no JSON"):
        landing(reflect).land(changes, {"when": {1, 2}})
    assert tree(tmp_path) == before


def test_a_files_permissions_stay(tmp_path: Path) -> None:
    reflect, changes = scene(tmp_path)
    (reflect / "wiki/index.md").chmod(0o640)
    landing(reflect).land(changes, PAYLOAD)
    assert (reflect / "wiki/index.md").stat().st_mode & 0o777 == 0o640


def test_a_folder_where_a_page_should_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "r/wiki/a/x.md").mkdir(parents=True)
    put(tmp_path, "r/wiki/file", "x")
    with pytest.raises(WikiError, match="not a regular file"):
        landing(tmp_path / "r").land([FileChange("wiki/a/x.md", b"x", None)], {})
    with pytest.raises(WikiError, match="everything is as it was"):
        landing(tmp_path / "r").land([FileChange("wiki/file/x.md", b"x", None)], {})
    assert tree(tmp_path) == {"r/wiki/file": b"x"}


def child_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def land_and_die(arguments: Sequence[str]) -> None:
    root, word = Path(arguments[0]), arguments[1]

    def fault(step: str) -> None:
        if step.startswith(word):
            os.kill(os.getpid(), signal.SIGKILL)

    _, changes = scene(root)
    done = landing(root / ".reflect", fault)
    done.land(changes, PAYLOAD)
    done.finish()


if __name__ == "__main__":
    land_and_die(sys.argv[1:])
