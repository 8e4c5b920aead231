"""A remote as a write-back sees it: where a branch stands there, and moving it without losing a commit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from reflect.errors import PublishError, RepositoryError
from reflect.evidence.git import Git

NETWORK_S = 120.0


@dataclass(frozen=True)
class Remote:
    """A remote by name."""

    git: Git
    name: str

    @cached_property
    def address(self) -> str:
        """Where it lies. Raises PublishError where the repository has no such remote."""
        try:
            return self.git.lines("config", "--get", f"remote.{self.name}.url")[0]
        except (RepositoryError, IndexError) as error:
            raise PublishError(
                f"{self.git.root} has no remote `{self.name}`, so nothing was sent; add one, or name it in the policy."
            ) from error

    def tip(self, branch: str) -> str | None:
        """The commit `branch` names on the remote now, fetched; None where there is no such branch."""
        if self._now(branch) is None:
            return None
        ref = f"refs/reflect/remotes/{self.name}/{branch}"
        self._talk("fetch", "--no-tags", "--no-write-fetch-head", self.address, f"+refs/heads/{branch}:{ref}")
        return self.git.lines("rev-parse", "--verify", f"{ref}^{{commit}}")[0]

    def push(self, commit: str, branch: str, *, replacing: str | None = None) -> bool:
        """Move `branch` there to `commit`; whether the remote took it.

        Only a fast-forward, unless `replacing` names the commit it must still point to (empty: it must not exist).
        Raises PublishError where the remote cannot be reached.
        """
        lease = [] if replacing is None else [f"--force-with-lease=refs/heads/{branch}:{replacing}"]
        try:
            self._talk("push", "--quiet", *lease, self.address, f"{commit}:refs/heads/{branch}")
        except PublishError:
            if self._now(branch) != commit:
                return False
        self.git.run("update-ref", f"refs/remotes/{self.name}/{branch}", commit)
        return True

    def _now(self, branch: str) -> str | None:
        listed = self._talk("ls-remote", self.address, f"refs/heads/{branch}").decode().split()
        return listed[0] if listed else None

    def _talk(self, command: str, *arguments: str) -> bytes:
        """By address, not by name: what the repository configures for a remote may name programs."""
        if re.match(r"\w+::", self.address) or self.address.startswith("-"):
            raise PublishError(f"The remote `{self.name}` is a program, not an address; nothing was sent.")
        try:
            return self.git.network(command, *arguments, address=self.address, timeout_s=NETWORK_S)
        except RepositoryError as error:
            raise PublishError(f"{str(error).rstrip('.')}; the pages stand in {self.git.root}, unpublished.") from error
