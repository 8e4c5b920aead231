"""One pull request per project: its branch is ours alone, and nothing a person put there is lost."""

from __future__ import annotations

from dataclasses import dataclass

from reflect.errors import PublishError
from reflect.publish.body import marker, text_of
from reflect.publish.commit import is_ours, write_commit
from reflect.publish.forge import Forge, PullRequest, Text, forge_at, place_of
from reflect.publish.history import common, descends, follow, published, remember
from reflect.publish.policy import Published, PublishOutcome, PublishPolicy
from reflect.publish.remote import Remote
from reflect.publish.tree import Pages, Versions, joined, read_pages, refuse_secrets, tree_with, versions_in
from reflect.report import RunReport
from reflect.workspace import Workspace

ATTEMPTS = 2


@dataclass(frozen=True)
class _Night:
    """What one attempt starts from: where both branches stand on the remote, and the requests there are."""

    workspace: Workspace
    policy: PublishPolicy
    report: RunReport
    remote: Remote
    base: str
    base_tip: str
    head_tip: str | None
    newest: PullRequest | None
    standing: PullRequest | None

    @property
    def is_over(self) -> bool:
        """Whether the last request was merged or closed, so that its branch is done with."""
        return self.standing is None and self.newest is not None


@dataclass(frozen=True)
class _Onto:
    """What the pages go on top of. `replacing` is set where the branch may be moved: only from that very commit."""

    parents: tuple[str, ...]
    theirs: Versions
    replacing: str | None = None


def publish_request(workspace: Workspace, policy: PublishPolicy, report: RunReport) -> Published:
    """Push the pages to the wiki's branch, and see to it that one open request asks for them to be merged."""
    remote = Remote(workspace.git, policy.remote)
    place = place_of(remote.address, policy.forge, policy.api_url)
    secret = workspace.settings.token_for(place.kind)
    forge = forge_at(place, secret.get_secret_value() if secret is not None else None)
    for _ in range(ATTEMPTS):
        night = _night(workspace, policy, report, remote, forge)
        done = _one_attempt(night, forge)
        if done is not None:
            return done
        if remote.tip(policy.wiki_branch) == night.head_tip:
            raise PublishError(
                f"The remote refuses pushes to `{policy.wiki_branch}`; the pages stand here, unpublished."
            )
    reason = f"`{policy.wiki_branch}` moved on the remote while it was pushed to, twice; the next night tries again."
    return Published(mode=policy.mode, outcome=PublishOutcome.LEFT, reason=reason)


def _night(workspace: Workspace, policy: PublishPolicy, report: RunReport, remote: Remote, forge: Forge) -> _Night:
    base = workspace.default.name
    base_tip = remote.tip(base) if base else None
    if base is None or base_tip is None:
        raise PublishError(f"`{policy.remote}` has no default branch to ask a pull request for; nothing was sent.")
    if base == policy.wiki_branch:
        raise PublishError(f"`{base}` is the default branch and cannot be the pull request's own; nothing was sent.")
    requests = forge.requests(policy.wiki_branch)
    standing = next((one for one in requests if one.state == "open"), None)
    mine = next((one for one in requests if marker(report.project) in one.body), None)
    head_tip = remote.tip(policy.wiki_branch)
    return _Night(workspace, policy, report, remote, base, base_tip, head_tip, mine, standing)


def _one_attempt(night: _Night, forge: Forge) -> Published | None:
    """None where the remote did not take the push."""
    git, branch = night.workspace.git, night.policy.wiki_branch
    head = git.head().oid
    if not head:
        raise PublishError(f"{git.root} has no commit yet; nothing was sent.")
    pages = read_pages(git, head)
    if _was_closed_over(night, pages):
        assert night.newest is not None
        reason = "The pull request was closed, and nothing is new since; none was opened."
        return _said(night, PublishOutcome.NOTHING, night.newest.url, reason)
    onto = _onto(night)
    wanted = _wanted(night, onto, pages, head)
    if wanted == versions_in(git, night.base_tip):
        reason = f"`{night.base}` holds these pages already."
        return _said(night, PublishOutcome.NOTHING, "", reason)
    if night.head_tip is not None and onto.replacing is None and wanted == versions_in(git, night.head_tip):
        if night.standing is not None:
            reason = "The open pull request holds these pages already."
            return _said(night, PublishOutcome.NOTHING, night.standing.url, reason)
        return _asked(night, forge, night.head_tip)
    refuse_secrets(git, pages, onto.theirs, night.workspace.config.redact)
    tree = tree_with(git, onto.parents[-1], wanted, pages)
    commit = write_commit(night.workspace, night.policy, night.report, tree, *onto.parents)
    if not night.remote.push(commit, branch, replacing=onto.replacing):
        return None
    remember(git, night.remote.name, branch, commit)
    follow(git, branch, commit, pages.versions)
    return _asked(night, forge, commit)


def _onto(night: _Night) -> _Onto:
    """On top of the open branch; of the base where there is none, or where it is over and holds only our commits."""
    git, tip, base = night.workspace.git, night.head_tip, night.base_tip
    on_base = versions_in(git, base)
    if tip is None or descends(git, base, tip):
        return _Onto((base,), on_base, replacing=tip or "")
    ours = is_ours(git, f"{tip} ^{base}")
    if night.is_over:
        if not ours:
            raise PublishError(
                f"`{night.policy.wiki_branch}` holds a person's commits though its pull request is over; it was left "
                "alone; delete the branch, or open a pull request for it."
            )
        return _Onto((base,), on_base, replacing=tip)
    on_tip, since = versions_in(git, tip), common(git, tip, base)
    if not ours or since == base or since is None:
        return _Onto((tip,), on_tip)
    was = versions_in(git, since)
    return _Onto((tip, base), joined(on_tip, on_base, ours_were=[was], theirs_were=[was]))


def _wanted(night: _Night, onto: _Onto, pages: Pages, head: str) -> dict[str, str]:
    """Our pages on what they go on top of. What was published before and refused counts as ours still."""
    git = night.workspace.git
    shared = [found for parent in (*onto.parents, night.base_tip) if (found := common(git, head, parent))]
    before = published(git, night.remote.name, night.policy.wiki_branch)
    arrived = before is not None and (
        any(descends(git, parent, before) for parent in onto.parents)
        or (night.newest is not None and night.newest.state == "merged")
    )
    bases = [versions_in(git, commit) for commit in dict.fromkeys(shared)]
    last = [versions_in(git, before)] if before else []
    return joined(
        pages.versions, onto.theirs, ours_were=[*bases, *(last if arrived else [])], theirs_were=[*bases, *last]
    )


def _was_closed_over(night: _Night, pages: Pages) -> bool:
    """Whether somebody closed the request unmerged and the pages are those it held."""
    if night.standing is not None or night.newest is None or night.newest.state != "closed":
        return False
    git = night.workspace.git
    last = published(git, night.remote.name, night.policy.wiki_branch) or night.head_tip
    return last is not None and versions_in(git, last) == pages.versions


def _asked(night: _Night, forge: Forge, commit: str) -> Published:
    text = text_of(night.workspace, night.policy, night.report)
    if night.standing is None:
        request, but = _opened(night, forge, text)
        return _said(night, PublishOutcome.OPENED, request.url, f"A pull request was opened.{but}", commit)
    if marker(night.report.project) in night.standing.body:
        forge.update(night.standing, text)
    reason = "The open pull request was updated."
    return _said(night, PublishOutcome.UPDATED, night.standing.url, reason, commit)


def _opened(night: _Night, forge: Forge, text: Text) -> tuple[PullRequest, str]:
    """A new request, and what was not done of it. After a bad answer the one that was made all the same is found."""
    branch = night.policy.wiki_branch
    try:
        return forge.open(branch, night.base, text), ""
    except PublishError as error:
        made = next((one for one in forge.requests(branch) if one.state == "open"), None)
        if made is None:
            raise
        return made, f" Not all of it was answered for: {error}"


def _said(night: _Night, outcome: PublishOutcome, url: str, reason: str, commit: str = "") -> Published:
    return Published(mode=night.policy.mode, outcome=outcome, commit=commit, url=url, reason=reason)
