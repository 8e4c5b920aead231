"""The commit of a write-back: whose it is, what it says, and which commits are ours."""

from __future__ import annotations

import re

from reflect.errors import PublishError, RepositoryError
from reflect.evidence.git import Git
from reflect.evidence.messages import RUN_TRAILER, parse_message
from reflect.freshness import FOLDER
from reflect.publish.policy import PublishPolicy
from reflect.report import RunReport
from reflect.workspace import Workspace

_AUTHOR = re.compile(r"([^<>\n]+) <([^<>\s]+)>")


def write_commit(workspace: Workspace, policy: PublishPolicy, report: RunReport, tree: str, *parents: str) -> str:
    """A commit of `tree` on top of `parents`; the id. No ref is moved."""
    name, address = _author(workspace.git, policy)
    date = f"{int(workspace.settings.now().timestamp())} +0000"
    environment = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", address), ("DATE", date))
    }
    arguments = [word for parent in parents for word in ("-p", parent)]
    message = commit_message(report, f"{name} <{address}>").encode()
    made = workspace.git.run("commit-tree", tree, *arguments, "-F", "-", input=message, environment=environment)
    return made.decode().strip()


def commit_message(report: RunReport, author: str) -> str:
    """Subject, counts, then the trailers by which a later run knows the commit for its own."""
    collected = report.collected
    counted = f"{len(report.pages)} pages from {collected['sessions']} sessions and {collected['commits']} commits."
    lines = ["reflect: update the wiki", "", counted, "", f"{RUN_TRAILER}: {report.run}"]
    if window := evidence_window(report):
        lines.append(f"Reflect-Evidence: {window}")
    return "\n".join([*lines, f"Signed-off-by: {author}"]) + "\n"


def evidence_window(report: RunReport) -> str:
    """How much evidence the pages cite and its first and last id; empty where no page was written."""
    ids = sorted({source.id for page in report.pages for source in page.sources}, key=str)
    return f"{len(ids)} {ids[0]}..{ids[-1]}" if ids else ""


def is_ours(git: Git, commits: str) -> bool:
    """Whether every commit of the range `commits` carries our trailer and touches `.reflect/` alone."""
    shas = git.store("rev-list", *commits.split()).decode().split()
    return all(_is_our_commit(git, sha) for sha in shas)


def _is_our_commit(git: Git, sha: str) -> bool:
    message = git.store("log", "-1", "--format=%B", sha).decode("utf-8", "replace")
    if not parse_message(message).made_by_reflect:
        return False
    touched = git.store("diff-tree", "-r", "-c", "--root", "--no-commit-id", "--name-only", "-z", sha).decode()
    return all(path.startswith(f"{FOLDER}/") for path in touched.split("\0") if path)


def _author(git: Git, policy: PublishPolicy) -> tuple[str, str]:
    if policy.author:
        match = _AUTHOR.fullmatch(policy.author)
        assert match is not None
        return match[1].strip(), match[2]
    try:
        name, address = (git.lines("config", "--get", key)[0] for key in ("user.name", "user.email"))
    except (RepositoryError, IndexError) as error:
        raise PublishError(
            f"{git.root} names no `user.name` and `user.email`, so nobody signs the commit; nothing was committed; set "
            "them in the repository, or `author` in the policy."
        ) from error
    return name, address
