"""What two lines of history have in common, and what was published before."""

from __future__ import annotations

from reflect.errors import RepositoryError
from reflect.evidence.git import Git
from reflect.publish.tree import OURS, sync_index, versions_in

_PUBLISHED = "refs/reflect/published"


def common(git: Git, one: str, other: str) -> str | None:
    """The best common ancestor; None where there is none, or a shallow clone does not reach it."""
    try:
        return git.store("merge-base", one, other).decode().strip() or None
    except RepositoryError:
        return None


def descends(git: Git, later: str, earlier: str) -> bool:
    """Whether `earlier` is in the history of `later`."""
    return common(git, later, earlier) == earlier


def published(git: Git, remote: str, branch: str) -> str | None:
    """The last commit that was published from here to `branch` of `remote`."""
    found = git.refs(f"{_PUBLISHED}/{remote}/{branch}")
    return found[0].oid if found else None


def remember(git: Git, remote: str, branch: str, commit: str) -> None:
    git.run("update-ref", f"{_PUBLISHED}/{remote}/{branch}", commit)


def follow(git: Git, branch: str, commit: str, standing: dict[str, str]) -> None:
    """Let the checked-out `branch` follow to `commit` where that adds only what already stands in the work tree.

    Where no branch is checked out, as in a managed work tree, the index alone follows, so that the next night can check
    out whatever holds these pages.
    """
    head = git.head()
    if not head.target and versions_in(git, commit) == standing:
        sync_index(git, commit)
    if head.target != f"refs/heads/{branch}" or versions_in(git, commit) != standing:
        return
    if head.oid != commit:
        if not descends(git, commit, head.oid) or _differs_elsewhere(git, head.oid, commit):
            return
        git.run("update-ref", head.target, commit, head.oid)
    sync_index(git, commit)


def _differs_elsewhere(git: Git, one: str, other: str) -> bool:
    without = [f":(exclude){path}" for path in OURS]
    return bool(git.store("diff-tree", "-r", "--name-only", one, other, "--", ".", *without))
