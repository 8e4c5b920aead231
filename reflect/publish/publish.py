"""Writing a wiki back, as a policy says."""

from __future__ import annotations

import tempfile

from reflect.errors import PublishError, ReflectError, RepositoryError
from reflect.evidence.git import Git
from reflect.evidence.redaction import Redactor
from reflect.publish.commit import is_ours, write_commit
from reflect.publish.history import common, descends
from reflect.publish.policy import Published, PublishMode, PublishOutcome, PublishPolicy
from reflect.publish.pull_request import publish_request
from reflect.publish.push import publish_push
from reflect.publish.tree import (
    OURS,
    Conflict,
    joined,
    read_pages,
    refuse_secrets,
    sync_index,
    tree_with,
    versions_in,
)
from reflect.report import RunReport
from reflect.workspace import Workspace

LONGEST_DIFF = 200_000


def publish(workspace: Workspace, policy: PublishPolicy, report: RunReport, *, dry_run: bool = False) -> Published:
    """Write back what stands in the work tree's `.reflect/`. Call it with the repository's lock held.

    Never raises for what git, a remote or a forge refuses: the outcome says so, and the pages stand where they are.
    A dry run gives the diff and writes nothing.
    """
    try:
        if policy.mode is PublishMode.NONE:
            return Published(mode=policy.mode, outcome=PublishOutcome.NOTHING, reason="Pages are not written back.")
        if dry_run:
            return _shown(workspace, policy)
        if policy.mode is PublishMode.COMMIT:
            return _commit(workspace, policy, report)
        if policy.mode is PublishMode.PUSH:
            return publish_push(workspace, policy, report)
        return publish_request(workspace, policy, report)
    except Conflict as conflict:
        return Published(mode=policy.mode, outcome=PublishOutcome.LEFT, reason=str(conflict))
    except ReflectError as error:
        return Published(mode=policy.mode, outcome=PublishOutcome.FAILED, reason=str(error))


def starting_point(git: Git, policy: PublishPolicy, default: str) -> str:
    """The commit on which a managed work tree starts: the write-back branch as last fetched, where it holds only our
    commits and adds to `default` without a conflict; else `default`, a commit."""
    if policy.mode is not PublishMode.PULL_REQUEST:
        return default
    names = (f"refs/remotes/{policy.remote}", f"refs/reflect/remotes/{policy.remote}", "refs/heads")
    found = [ref.oid for name in names for ref in git.refs(f"{name}/{policy.wiki_branch}")]
    if not found or descends(git, default, found[0]):
        return default
    head, base = found[0], common(git, found[0], default)
    if base is None or not is_ours(git, f"{head} ^{default}"):
        return default
    was, standing = versions_in(git, base), versions_in(git, default)
    try:
        merged = joined(versions_in(git, head), standing, ours_were=[was], theirs_were=[was])
    except PublishError:
        return default
    return default if merged == standing else head


def _commit(workspace: Workspace, policy: PublishPolicy, report: RunReport) -> Published:
    git, head = workspace.git, workspace.git.head()
    if not head.target.startswith("refs/heads/") or not head.oid:
        raise PublishError(f"{git.root} has no branch with a commit checked out, so nothing would hold a new one.")
    present, pages = versions_in(git, head.oid), read_pages(git, head.oid)
    if pages.versions == present:
        sync_index(git, head.oid)
        return Published(mode=policy.mode, outcome=PublishOutcome.NOTHING, reason="Nothing changed since HEAD.")
    refuse_secrets(git, pages, present, workspace.config.redact)
    tree = tree_with(git, head.oid, pages.versions, pages)
    commit = write_commit(workspace, policy, report, tree, head.oid)
    git.run("update-ref", "-m", "reflect: update the wiki", head.target, commit, head.oid)
    sync_index(git, commit)
    branch = head.target.removeprefix("refs/heads/")
    return Published(
        mode=policy.mode, outcome=PublishOutcome.COMMITTED, commit=commit, reason=f"Committed on {branch}."
    )


def _shown(workspace: Workspace, policy: PublishPolicy) -> Published:
    """The diff against HEAD, made in an object store that is thrown away."""
    git, head = workspace.git, workspace.git.head()
    if not head.oid:
        raise RepositoryError(f"{git.root} has no commit yet, so there is nothing to compare with.")
    present, pages = versions_in(git, head.oid), read_pages(git, head.oid)
    refuse_secrets(git, pages, present, workspace.config.redact)
    with tempfile.TemporaryDirectory(prefix="reflect-objects-") as folder:
        aside = {
            "GIT_OBJECT_DIRECTORY": folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(git.common_dir / "objects"),
        }
        tree = tree_with(git, head.oid, pages.versions, pages, aside)
        raw = git.run("diff", "--no-color", head.oid, tree, "--", *OURS, environment=aside)
    text = Redactor(workspace.config.redact, keep=frozenset(present.values())).redact(raw.decode("utf-8", "replace"))
    if len(text) > LONGEST_DIFF:
        text = f"{text[:LONGEST_DIFF]}\n[{len(text) - LONGEST_DIFF} characters more]\n"
    reason = "This would be written back." if text else "Nothing changed since HEAD."
    return Published(mode=policy.mode, outcome=PublishOutcome.SHOWN, reason=reason, diff=text)
