"""Managed clones: a bare repository per remote and one work tree of `.reflect/` beside it, kept between nights.

A person's commits are never here and nobody works here, so whatever a kill left half done may be cleared away; only the
pages in the work tree may be the only ones there are, and those are kept.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reflect.deadline import time_left
from reflect.errors import RepositoryBusy, RepositoryError
from reflect.evidence.git import NETWORK_SECONDS, Git
from reflect.freshness import FOLDER
from reflect.wiki.lock import repository_lock

StartingPoint = Callable[[Git, str], str]
"""Which commit the work tree stands on, given the clone and the default branch's tip."""

_REFSPECS = {
    "refs/heads/": "refs/remotes/origin/",
    "refs/entire/checkpoints/": "refs/entire/checkpoints/",
}
_KEPT = ("refs/remotes/origin/entire/", "refs/entire/")
"""Checkpoints are evidence: they stay here when the remote drops them."""

_OWNER = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Clone:
    """The clone of the remote at `address` in `folder`; `branch` is its default where the remote's own is not meant."""

    address: str
    folder: Path
    branch: str | None = None

    @property
    def repository(self) -> Path:
        return self.folder / "repository.git"

    @property
    def lock(self) -> Path:
        """What a run in the clone holds: the lock of its repository."""
        return self.repository / "reflect.lock"

    @property
    def tree(self) -> Path:
        """The work tree, which holds `.reflect/` alone."""
        return self.folder / "tree"

    def fetch(self) -> Git:
        """The clone, as the remote stands now; made where there is none. One question where nothing moved.

        Raises RepositoryError where the remote cannot be reached, and RepositoryBusy where another process fetches for
        longer than that may take.
        """
        with repository_lock(self.folder / "fetch.lock", time_left(NETWORK_SECONDS)):
            git = self._healed()
            refs, head = self._listed(git)
            self._take(git, refs)
            self._name_default(git, refs, head)
            self._fetch_separate_checkpoints(git)
            return git

    def checked_out(self, start: StartingPoint | None = None) -> Path:
        """The work tree on the commit that `start` chooses (the default branch's tip). Call it after `fetch`.

        Where pages stand in it that nobody took yet and that commit holds others in their place, it stays where it is.
        """
        git = Git.open(self.repository)
        tips = git.default_branch(None).tips
        if not tips:
            raise RepositoryError(f"{self._shown} has no commit, so there is nothing to read; nothing was changed.")
        commit = start(git, tips[0]) if start else tips[0]
        if not self._stands(git):
            self._make_tree(git, commit)
        elif not self._would_lose_pages(commit):
            with suppress(RepositoryError):
                Git.open(self.tree).run("checkout", "--quiet", "--detach", commit)
        return self.tree

    @property
    def _shown(self) -> str:
        return re.sub(r"(?<=://)[^/@\s]+@", "", self.address)

    def _healed(self) -> Git:
        """The clone without what a killed process left; made anew where it cannot be opened."""
        if self.repository.exists():
            with suppress(RepositoryBusy), repository_lock(self.lock):
                self._clear()  # not while a run is in the clone: its locks are not left over
        for begun in self.folder.glob("making-*"):
            shutil.rmtree(begun)
        with suppress(RepositoryError):
            git = Git.open(self.repository)
            git.run("for-each-ref", "--count=1")
            git.run("config", "remote.origin.url", self.address)
            return git
        return self._made()

    def _clear(self) -> None:
        locks = [
            f for pattern in ("*.lock", "worktrees/*/*.lock", "refs/**/*.lock") for f in self.repository.glob(pattern)
        ]
        for left in (*locks, *self.repository.glob("objects/pack/tmp_*")):
            if left.name != "reflect.lock":
                left.unlink()

    def _made(self) -> Git:
        if self.repository.exists():
            shutil.rmtree(self.repository)
        making = self.folder / "making-repository.git"
        making.mkdir(parents=True)
        Git(making, making, making, is_bare=True).run("init", "--quiet", "--bare", "--initial-branch=none", ".")
        Git.open(making).run("config", "remote.origin.url", self.address)
        making.rename(self.repository)
        return Git.open(self.repository)

    def _listed(self, git: Git) -> tuple[dict[str, str], str | None]:
        """The remote's refs by the name they have here, and the name here of its default branch."""
        patterns = ["HEAD", *(f"{prefix}*" for prefix in _REFSPECS)]
        listed = git.network("ls-remote", "--symref", "--", self.address, *patterns, address=self.address)
        refs: dict[str, str] = {}
        head = None
        for line in listed.decode("utf-8", "surrogateescape").splitlines():
            left, _, name = line.partition("\t")
            if left.startswith("ref: ") and name == "HEAD":
                head = _here(left.removeprefix("ref: "))
            elif (here := _here(name)) is not None:
                refs[here] = left
        return refs, head

    def _take(self, git: Git, refs: dict[str, str]) -> None:
        here = {ref.name: ref.oid for ref in git.refs("refs/remotes/origin", "refs/entire") if not ref.target}
        # What is gone goes first: a branch `a` keeps `a/b` from being made.
        _delete(git, [name for name in here if name not in refs and not name.startswith(_KEPT)])
        if git.is_shallow() or any(here.get(name) != oid for name, oid in refs.items()):
            specs = [f"+{there}*:{to}*" for there, to in _REFSPECS.items()]
            git.network(*_fetching(git), "--", self.address, *specs, address=self.address)

    def _name_default(self, git: Git, refs: dict[str, str], head: str | None) -> None:
        wanted = f"refs/remotes/origin/{self.branch}" if self.branch else head
        if self.branch and wanted not in refs:
            raise RepositoryError(
                f"{self._shown} has no branch {self.branch!r}; nothing was read; correct `branch` in the organisation "
                "file."
            )
        if wanted is not None and wanted in refs:
            git.run("symbolic-ref", "refs/remotes/origin/HEAD", wanted)

    def _fetch_separate_checkpoints(self, git: Git) -> None:
        """Checkpoints from the repository that Entire's committed settings name, if its host and owner are the same."""
        named = _checkpoint_remote(git)
        if named is None:
            return
        address = checkpoint_address(self.address, named)
        if address is None:
            raise RepositoryError(
                f"The settings of {self._shown} keep checkpoints elsewhere than with its own owner or in an unreadable "
                f"place ({str(named)[:80]!r}), so they were not fetched; list that repository as a path, or move them."
            )
        specs = [
            "+refs/heads/entire/*:refs/heads/entire/*",  # beside origin's own: they hold what is older than the setting
            "+refs/entire/checkpoints/*:refs/entire/checkpoints/*",
        ]
        git.network(*_fetching(git), "--", address, *specs, address=address)

    def _stands(self, git: Git) -> bool:
        try:
            return Git.open(self.tree).common_dir == git.common_dir and (self.tree / ".git").exists()
        except RepositoryError:
            return False

    def _would_lose_pages(self, commit: str) -> bool:
        """Whether `commit` changes a file that stands changed or new here: a sparse checkout overwrites it."""
        tree = Git.open(self.tree)
        ours = _paths(tree.run("ls-files", "-z", "--modified", "--others", "--deleted", "--exclude-standard"))
        ours |= _paths(tree.run("diff-index", "-z", "--cached", "--name-only", "HEAD"))
        return bool(ours & _paths(tree.run("diff-tree", "-z", "-r", "--name-only", "--no-renames", "HEAD", commit)))

    def _make_tree(self, git: Git, commit: str) -> None:
        """A new work tree; pages of one whose repository is gone move into it."""
        before = self.folder / "tree.before"
        if self.tree.exists():
            if before.exists():
                shutil.rmtree(before)
            self.tree.rename(before)
        git.run("worktree", "prune")
        git.run("worktree", "add", "--quiet", "--detach", "--no-checkout", str(self.tree), commit)
        tree = Git.open(self.tree)
        tree.run("sparse-checkout", "set", "--no-cone", f"/{FOLDER}/")
        tree.run("checkout", "--quiet", "--detach", commit)
        if (before / FOLDER).is_dir():
            shutil.copytree(before / FOLDER, self.tree / FOLDER, dirs_exist_ok=True, symlinks=True)


def _fetching(git: Git) -> list[str]:
    """A fetch, also of a remote whose own history is cut; what was cut here is fetched when it is there to have."""
    whole = ["--unshallow"] if git.is_shallow() else []
    return ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--update-shallow", *whole]


def checkpoint_address(origin: str, named: str) -> str | None:
    """Where checkpoints called `named` lie, given the repository's own address; None where that is another host's or
    another owner's.

    A repository's settings are written by whoever can push to it, and a fetch carries the operator's credentials: it
    must not bring what only the operator may read.
    """
    address = _address_of(origin, named)
    return address if address is not None and _owner(address) == _owner(origin) else None


def _owner(address: str) -> str:
    path = urlsplit(address).path if "://" in address else address.partition(":")[2]
    return path.strip("/").rpartition("/")[0].casefold()


def _address_of(origin: str, named: str) -> str | None:
    if _OWNER.fullmatch(named) and ".." not in named:
        if "://" in origin and not origin.startswith("file:"):
            parts = urlsplit(origin)
            return f"{parts.scheme}://{parts.netloc}/{named}.git"
        scp = re.match(r"[^/:]+:", origin)
        return f"{scp[0]}{named}.git" if scp and "://" not in origin else None
    there, here = urlsplit(named), urlsplit(origin)
    same = (there.scheme, there.hostname, there.port) == (here.scheme, here.hostname, here.port)
    return (
        named if "://" in named and same and there.scheme in ("https", "http", "ssh") and not there.password else None
    )


def _checkpoint_remote(git: Git) -> str | None:
    tips = git.default_branch(None).tips
    if not tips:
        return None
    try:
        settings = json.loads(git.store("cat-file", "blob", f"{tips[0]}:.entire/settings.json"))
    except (RepositoryError, ValueError, RecursionError):
        return None
    options = settings.get("strategy_options") if isinstance(settings, dict) else None
    named = options.get("checkpoint_remote") if isinstance(options, dict) else None
    if isinstance(named, dict):
        named = named.get("repo")
    return named if isinstance(named, str) and named else None


def _paths(listed: bytes) -> set[bytes]:
    return {path for path in listed.split(b"\0") if path}


def _here(name: str) -> str | None:
    for there, to in _REFSPECS.items():
        if name.startswith(there):
            return to + name.removeprefix(there)
    return None


def _delete(git: Git, names: list[str]) -> None:
    if names:
        git.run(
            "update-ref",
            "--stdin",
            input="".join(f"delete {name}\n" for name in names).encode("utf-8", "surrogateescape"),
        )
