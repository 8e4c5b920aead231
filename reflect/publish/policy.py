"""How a project's wiki is written back, as an operator decides it, and what became of that."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from reflect.model import Value

WIKI_BRANCH = "reflect/wiki"
"""The branch of the one pull request; no person works on it."""


class PublishMode(StrEnum):
    """How far pages travel: not at all, into a commit here, to the remote's branch, or into a pull request."""

    NONE = "none"
    COMMIT = "commit"
    PUSH = "push"
    PULL_REQUEST = "pull-request"


class PublishPolicy(Value):
    """An operator's word on one project; a repository has none of its own in this.

    `branch` is where a push goes (the default branch where it is None) or the pull request's own branch. `author` is
    `Name <address>`; without it, git's identity for the repository.
    """

    mode: PublishMode = PublishMode.NONE
    branch: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$")
    labels: tuple[str, ...] = ()
    draft: bool = False
    forge: Literal["github", "gitlab"] | None = None
    api_url: str | None = Field(default=None, pattern=r"^https?://[^@\s]+$")
    remote: str = Field(default="origin", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    author: str | None = Field(default=None, pattern=r"^[^<>\n]+ <[^<>\s]+>$")
    pull_request_when_protected: bool = True

    @property
    def wiki_branch(self) -> str:
        return self.branch if self.mode is PublishMode.PULL_REQUEST and self.branch else WIKI_BRANCH


class PublishOutcome(StrEnum):
    """What became of a write-back."""

    NOTHING = "nothing"
    SHOWN = "shown"
    COMMITTED = "committed"
    PUSHED = "pushed"
    OPENED = "opened"
    UPDATED = "updated"
    LEFT = "left"
    FAILED = "failed"


class Published(Value):
    """What a write-back did: `reason` in one sentence, `commit` and `url` where there is one, `diff` of a dry run.

    `left` waits for the next night and `failed` for a person; in both the pages stand in the work tree, unpublished.
    """

    mode: PublishMode
    outcome: PublishOutcome
    commit: str = ""
    url: str = ""
    reason: str = ""
    diff: str = ""

    @property
    def is_done(self) -> bool:
        return self.outcome not in (PublishOutcome.LEFT, PublishOutcome.FAILED)
