"""Onto a shared branch of the remote: fast-forwards only, tried twice, then left for the next night."""

from __future__ import annotations

from reflect.errors import PublishError
from reflect.publish.commit import write_commit
from reflect.publish.history import common, descends, follow, published, remember
from reflect.publish.policy import Published, PublishMode, PublishOutcome, PublishPolicy
from reflect.publish.pull_request import publish_request
from reflect.publish.remote import Remote
from reflect.publish.tree import joined, read_pages, refuse_secrets, tree_with, versions_in
from reflect.report import RunReport
from reflect.workspace import Workspace

ATTEMPTS = 2


def publish_push(workspace: Workspace, policy: PublishPolicy, report: RunReport) -> Published:
    """Push the work tree's pages as one commit on top of the remote's branch; none of a person's commits goes along."""
    remote = Remote(workspace.git, policy.remote)
    branch = policy.branch or workspace.default.name
    if branch is None:
        raise PublishError(
            f"{workspace.git.root} has no default branch; nothing was sent; name `branch` in the policy."
        )
    for _ in range(ATTEMPTS):
        tip = remote.tip(branch)
        if tip is None:
            raise PublishError(f"`{policy.remote}` has no branch `{branch}`; nothing was sent.")
        done = _onto(workspace, policy, report, remote, branch, tip)
        if done is not None:
            return done
        if remote.tip(branch) == tip:
            return _when_protected(workspace, policy, report, branch)
    reason = f"`{branch}` moved on the remote while it was pushed to, twice; the next night tries again."
    return Published(mode=policy.mode, outcome=PublishOutcome.LEFT, reason=reason)


def _onto(
    workspace: Workspace, policy: PublishPolicy, report: RunReport, remote: Remote, branch: str, tip: str
) -> Published | None:
    """One attempt on top of `tip`; None where the remote did not take it."""
    git, head = workspace.git, workspace.git.head()
    if not head.oid:
        raise PublishError(f"{git.root} has no commit yet; nothing was sent.")
    pages, theirs = read_pages(git, head.oid), versions_in(git, tip)
    before = published(git, remote.name, branch)
    known = [commit for commit in (common(git, head.oid, tip), before) if commit and descends(git, tip, commit)]
    bases = [versions_in(git, commit) for commit in known]
    wanted = joined(pages.versions, theirs, ours_were=bases, theirs_were=bases)
    if wanted == theirs:
        follow(git, branch, tip, pages.versions)
        reason = f"`{branch}` of `{remote.name}` holds these pages already."
        return Published(mode=policy.mode, outcome=PublishOutcome.NOTHING, reason=reason)
    refuse_secrets(git, pages, theirs, workspace.config.redact)
    commit = write_commit(workspace, policy, report, tree_with(git, tip, wanted, pages), tip)
    if not remote.push(commit, branch):
        return None
    remember(git, remote.name, branch, commit)
    follow(git, branch, commit, pages.versions)
    reason = f"Pushed to `{branch}` of `{remote.name}`."
    return Published(mode=policy.mode, outcome=PublishOutcome.PUSHED, commit=commit, reason=reason)


def _when_protected(workspace: Workspace, policy: PublishPolicy, report: RunReport, branch: str) -> Published:
    if not policy.pull_request_when_protected:
        reason = f"The remote refuses pushes to `{branch}`; the pages stand in the work tree, unpublished."
        return Published(mode=policy.mode, outcome=PublishOutcome.FAILED, reason=reason)
    instead = policy.model_copy(update={"mode": PublishMode.PULL_REQUEST, "branch": None})
    try:
        done = publish_request(workspace, instead, report)
    except PublishError as error:
        raise PublishError(
            f"The remote refuses pushes to `{branch}`, and a pull request failed too: {error}"
        ) from error
    return done.model_copy(update={"reason": f"The remote refuses pushes to `{branch}`. {done.reason}"})
