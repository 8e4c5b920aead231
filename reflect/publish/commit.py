"""The commit of a write-back: whose it is, what it says, and which commits are ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reflect.errors import PublishError, RepositoryError
from reflect.evidence.git import Git
from reflect.evidence.messages import RUN_TRAILER, parse_message
from reflect.freshness import FOLDER
from reflect.publish.policy import PublishPolicy
from reflect.report import RunReport
from reflect.wiki.log import newest_landed
from reflect.wiki.paths import LOG, WIKI
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
    told = _run_told_of(workspace, report, tree, parents)
    message = commit_message(told, f"{name} <{address}>").encode()
    made = workspace.git.run("commit-tree", tree, *arguments, "-F", "-", input=message, environment=environment)
    return made.decode().strip()


def commit_message(told: Mapping[str, Any], author: str) -> str:
    """Subject, counts, then the trailers by which a later run knows the commit for its own.

    `told` is a report's JSON.
    """
    collected = told["collected"]
    counted = f"{len(told['pages'])} pages from {collected['sessions']} sessions and {collected['commits']} commits."
    lines = ["reflect: update the wiki", "", counted, "", f"{RUN_TRAILER}: {told['run']}"]
    if window := _evidence_window(told):
        lines.append(f"Reflect-Evidence: {window}")
    return "\n".join([*lines, f"Signed-off-by: {author}"]) + "\n"


def _evidence_window(told: Mapping[str, Any]) -> str:
    """How much evidence the pages cite and its first and last id; empty where no page was written."""
    cited = {f"{kind} {name}" for page in told["pages"] for source in page["sources"] for kind, name in source.items()}
    ids = sorted(cited)
    return f"{len(ids)} {ids[0]}..{ids[-1]}" if ids else ""


def _run_told_of(workspace: Workspace, report: RunReport, tree: str, parents: tuple[str, ...]) -> Mapping[str, Any]:
    """The report of the run whose pages the commit brings, as the ledger keeps it.

    It is an earlier one than this where that was stopped before its pages were written back: the commit is the same
    then, whoever makes it. Where it brings no run's pages, or the ledger knows nothing of it, it tells of this one.
    """
    newest = newest_landed(_log_in(workspace.git, tree))
    if newest is None or any(newest == newest_landed(_log_in(workspace.git, parent)) for parent in parents[:1]):
        return report.as_json()
    with workspace.ledger() as ledger:
        run = ledger.run(report.project, newest)
    return run.report if run is not None and {"run", "pages", "collected"} <= run.report.keys() else report.as_json()


def _log_in(git: Git, tree: str) -> str:
    path = f"{FOLDER}/{WIKI}/{LOG}"
    if not git.store("ls-tree", "--full-tree", tree, "--", path):
        return ""
    return git.store("cat-file", "blob", f"{tree}:{path}").decode("utf-8", "replace")


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
