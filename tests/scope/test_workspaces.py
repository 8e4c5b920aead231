"""Where a session ran, when it ran on another machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflect.scope.places import located, main_tree, recorded
from reflect.scope.projects import Registry
from reflect.scope.proposal import Recorded
from reflect.scope.workspaces import Placement, place
from tests.scope.cases import CHILD, START, House, P, Q, project

INSIDE = Placement(frozenset({P}), inferred=True)


def placed(home: House, start: str | None, *directories: str) -> Placement:
    return place(Recorded(str(home.p), start, directories), home.registry)


@pytest.mark.parametrize(
    "directory",
    [
        START,
        f"{START}/",
        f"{START}/src",
        f"{START}/src/../docs",
        f"{START}/.claude/worktrees/modest-burnell",
        f"{START}/.claude/worktrees/modest-burnell/src",
        f"/{START}/src",
    ],
)
def test_below_the_start_is_inside_and_inferred(home: House, directory: str) -> None:
    assert placed(home, START, START, directory) == INSIDE


@pytest.mark.parametrize(
    "directory",
    [
        f"{START}2",
        f"{START}/..",
        f"{START}/../storefront",
        "/home/dev",
        "/home/dev/storefront",
        "/tmp",
        "/",
        "payments/src",
        "~",
        "~/payments",
        r"C:\payments",
        f"{START}\x00/src",
        "C:payments",
    ],
)
def test_elsewhere_is_outside(home: House, directory: str) -> None:
    assert None in placed(home, START, START, directory).projects


def test_hazard_129_session_started_in_a_worktree_ran_in_its_repository(home: House) -> None:
    started = f"{START}/.claude/worktrees/modest-burnell"
    assert placed(home, started, started, f"{started}/src") == INSIDE
    assert placed(home, started, START, f"{START}/.claude/worktrees/other") == INSIDE
    assert None in placed(home, started, "/home/dev/storefront").projects


@pytest.mark.parametrize(
    ("start", "directory"),
    [
        (r"C:\repo", r"C:\repo\src"),
        (r"C:\repo", r"c:\REPO\src"),
        (r"C:\repo", "C:/repo/src"),
        (r"C:\repo", "/c/repo/src"),
        (r"C:\repo", "/mnt/c/repo/src"),
        (r"C:\repo\.claude\worktrees\keen", r"C:\repo\src"),
        (r"\\?\C:\repo", r"C:\repo\src"),
        (r"\\server\share\repo", r"\\server\share\repo\src"),
        ("/private/tmp/payments", "/tmp/payments/src"),
        ("/tmp/payments-x", "/private/tmp/payments-x"),
        ("/home/dev/pru\u0308fung", "/home/dev/pr\u00fcfung/src"),
    ],
)
def test_one_directory_in_two_spellings(home: House, start: str, directory: str) -> None:
    assert placed(home, start, directory) == INSIDE


@pytest.mark.parametrize("directory", [r"C:\repo2", r"D:\repo", r"C:\repo\..\other", r"C:\\", "/repo/src", "/d/repo"])
def test_elsewhere_on_windows_is_outside(home: House, directory: str) -> None:
    assert None in placed(home, r"C:\repo", directory).projects


@pytest.mark.parametrize("start", ["/", "C:\\", "//"])
def test_a_file_system_root_stands_for_no_repository(home: House, start: str) -> None:
    assert None in placed(home, start, f"{start}home/dev/storefront").projects


def test_nothing_recorded_is_inferred(home: House) -> None:
    assert placed(home, None) == INSIDE
    assert placed(home, "") == INSIDE


def test_directories_without_a_start_cannot_be_placed(home: House) -> None:
    assert None in placed(home, None, "/home/dev/payments").projects


def test_a_directory_of_this_machine_is_not_inferred(home: House) -> None:
    assert placed(home, str(home.p), str(home.p / "src")) == Placement(frozenset({P}), inferred=False)
    assert placed(home, str(home.q)).projects == {Q}
    assert None in placed(home, str(home.p), str(home.base)).projects


def test_a_start_here_stands_for_itself_alone(home: House) -> None:
    """Its neighbours are judged by the registered roots, never laid over the repository."""
    assert placed(home, str(home.q), str(home.q / "src")).projects == {Q}


def test_a_directory_in_another_projects_root_is_that_projects(home: House) -> None:
    assert placed(home, START, START, str(home.q / "src")).projects == {P, Q}


def test_configured_roots_of_other_machines_are_the_projects_own(home: House) -> None:
    roots = (home.p, *map(home.base.__class__, ["/Users/ada/work/payments"]))
    registry = Registry((project(P, *roots), project(Q, home.q)))
    session = Recorded(str(home.p), START, ("/Users/ada/work/payments/src",))
    assert place(session, registry).projects == {P}


def test_a_nested_project_is_not_its_parent_on_another_machine_either(home: House) -> None:
    assert placed(home, START, START, f"{START}/ledger/src").projects == {P, CHILD}
    assert placed(home, START, f"{START}/.claude/worktrees/x/ledger").projects == {P, CHILD}


def test_a_session_started_in_a_nested_project_is_not_its_parents(home: House) -> None:
    started = f"{START}/ledger"
    assert placed(home, started, f"{started}/src").projects == {CHILD}


def test_a_link_in_the_repository_that_leads_out_is_outside(home: House) -> None:
    (home.p / "shared").symlink_to(home.q)
    assert placed(home, START, f"{START}/shared").projects == {P, Q}


def test_the_start_may_be_a_subfolder_of_a_monorepo_project(home: House) -> None:
    registry = Registry((project(P, home.p / "src"),))
    session = Recorded(str(home.p), START, (f"{START}/src/api",))
    assert place(session, registry).projects == {None, P}
    assert place(replace(session, start=f"{START}/src"), registry).projects == {P}


@pytest.mark.parametrize(
    ("written", "tree"),
    [
        ("/r/.claude/worktrees/a/src", "/r/src"),
        ("/r/.claude/worktrees/a", "/r"),
        ("/r/.claude/worktrees", "/r"),
        ("/r/.claude/worktrees/a/.claude/worktrees/b/x", "/r/x"),
        ("/r/.claude/plans", "/r/.claude/plans"),
        ("/r/claude/worktrees/a", "/r/claude/worktrees/a"),
    ],
)
def test_worktrees_are_read_as_their_repository(written: str, tree: str) -> None:
    place_here = recorded(written)
    assert place_here is not None
    assert str(main_tree(place_here)) == tree


def test_located_never_reads_the_working_directory_in() -> None:
    for written in ("src", ".", "..", "C:src", "\\src"):
        assert located(written) is None
