"""A remote as a write-back sees it: where a branch stands there, and moving it without losing a commit."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from reflect.errors import PublishError, RepositoryError
from reflect.evidence.git import Git

NETWORK_S = 120.0

_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True)
class Remote:
    """A remote by name. `token` is sent to an https remote in a header that only git's environment holds."""

    git: Git
    name: str
    token: str | None = None

    @property
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
        listed = self._talk("ls-remote", self.name, f"refs/heads/{branch}").decode().split()
        if not listed:
            return None
        ref = f"refs/reflect/remotes/{self.name}/{branch}"
        self._talk("fetch", "--no-tags", "--no-write-fetch-head", self.name, f"+refs/heads/{branch}:{ref}")
        return self.git.lines("rev-parse", "--verify", f"{ref}^{{commit}}")[0]

    def push(self, commit: str, branch: str, *, replacing: str | None = None) -> bool:
        """Move `branch` there to `commit`; whether the remote took it.

        Only a fast-forward, unless `replacing` names the commit it must still point to (empty: it must not exist).
        Raises PublishError where the remote cannot be reached.
        """
        lease = [] if replacing is None else [f"--force-with-lease=refs/heads/{branch}:{replacing}"]
        try:
            self._talk("push", "--quiet", *lease, self.name, f"{commit}:refs/heads/{branch}")
        except PublishError:
            return self._now(branch) == commit
        return True

    def _now(self, branch: str) -> str | None:
        listed = self._talk("ls-remote", self.name, f"refs/heads/{branch}").decode().split()
        return listed[0] if listed else None

    def _talk(self, *arguments: str) -> bytes:
        self._refuse_programs()
        try:
            return self.git.run(*arguments, network=True, timeout_s=NETWORK_S, environment=self._credentials())
        except RepositoryError as error:
            said = _USERINFO.sub("", str(error))
            if self.token:
                said = said.replace(self.token, "***")
            raise PublishError(f"{said.rstrip('.')}; the pages stand in {self.git.root}, unpublished.") from None

    def _refuse_programs(self) -> None:
        if re.match(r"\w+::", self.address):
            raise PublishError(f"The remote `{self.name}` is a program, not an address; nothing was sent.")

    def _credentials(self) -> Mapping[str, str]:
        parts = urlsplit(self.address) if "://" in self.address else None
        if self.token is None or parts is None or parts.scheme != "https":
            return {}
        encoded = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        port = f":{parts.port}" if parts.port else ""
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.https://{parts.hostname}{port}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {encoded}",
        }
