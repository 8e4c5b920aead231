"""Write-back against bare remotes on this machine and a forge on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflect.evidence.collect import Seen, collect
from reflect.evidence.messages import parse_message
from reflect.freshness import LAST_RUN, LastRun
from reflect.organisation.clones import Clone
from reflect.publish.policy import PublishMode, PublishOutcome, PublishPolicy
from reflect.publish.publish import starting_point
from reflect.publish.retry import note_outcome
from reflect.report import RunReport, render_markdown
from tests.forge import TOKEN, Fault
from tests.publish.conftest import WIKI, Shop, clone, git

COMMIT, PUSH, REQUEST = PublishMode.COMMIT, PublishMode.PUSH, PublishMode.PULL_REQUEST


def hook(shop: Shop, text: str) -> None:
    file = shop.remote / "hooks" / "pre-receive"
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)


def protect(shop: Shop) -> None:
    hook(shop, 'while read old new ref; do [ "$ref" != refs/heads/main ] || { echo protected >&2; exit 1; }; done')


class TestCommit:
    def test_touches_the_wiki_alone_and_leaves_staged_and_dirty_files(self, shop: Shop) -> None:
        (shop.root / "staged.py").write_text("staged\n", encoding="utf-8")
        git(shop.root, "add", "staged.py")
        (shop.root / "code.py").write_text("dirty\n", encoding="utf-8")
        before = shop.root / ".git" / "hooks" / "pre-commit"
        before.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        before.chmod(0o755)

        done = shop.publish(COMMIT)

        assert done.outcome is PublishOutcome.COMMITTED
        assert git(shop.root, "rev-parse", "HEAD") == done.commit
        touched = git(shop.root, "show", "--format=", "--name-only", "HEAD").splitlines()
        assert touched == [".reflect/.gitignore", ".reflect/wiki/decisions/a.md", ".reflect/wiki/index.md"]
        assert git(shop.root, "status", "--porcelain").splitlines() == ["M code.py", "A  staged.py"]

    def test_says_whose_it_is_and_what_it_was_made_from(self, shop: Shop) -> None:
        done = shop.publish(COMMIT, author="Wiki Bot <bot@example.com>")
        message = git(shop.root, "log", "-1", "--format=%an %ae %at%n%B", done.commit)
        assert message.startswith("Wiki Bot bot@example.com 1790000000\nreflect: update the wiki\n")
        assert "\nReflect-Run: 000000000001\nSigned-off-by: Wiki Bot <bot@example.com>" in message
        assert parse_message(message).made_by_reflect

    def test_nothing_changed_is_no_commit(self, shop: Shop) -> None:
        first = shop.publish(COMMIT)
        again = shop.publish(COMMIT)
        assert again.outcome is PublishOutcome.NOTHING
        assert git(shop.root, "rev-parse", "HEAD") == first.commit

    def test_index_left_behind_by_a_crash_is_mended(self, shop: Shop) -> None:
        head = git(shop.root, "rev-parse", "HEAD")
        done = shop.publish(COMMIT)
        git(shop.root, "read-tree", head)
        assert git(shop.root, "status", "--porcelain", ".reflect")
        assert shop.publish(COMMIT).outcome is PublishOutcome.NOTHING
        assert git(shop.root, "status", "--porcelain", ".reflect") == ""
        assert git(shop.root, "rev-parse", "HEAD") == done.commit

    def test_detached_head_holds_no_commit(self, shop: Shop) -> None:
        git(shop.root, "checkout", "-q", "--detach")
        done = shop.publish(COMMIT)
        assert (done.outcome, "branch" in done.reason) == (PublishOutcome.FAILED, True)


class TestRefusals:
    def test_secret_is_not_committed(self, shop: Shop) -> None:
        shop.page("decisions/b.md", "the key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" + "\n")
        head = git(shop.root, "rev-parse", "HEAD")
        done = shop.publish(COMMIT)
        assert done.outcome is PublishOutcome.FAILED
        assert "decisions/b.md holds what looks like a secret" in done.reason
        assert git(shop.root, "rev-parse", "HEAD") == head

    def test_ids_of_commits_are_no_secret(self, shop: Shop) -> None:
        shop.page("decisions/b.md", f"see commit {git(shop.root, 'rev-parse', 'HEAD')} of 01fb74aabbcc\n")
        assert shop.publish(COMMIT).outcome is PublishOutcome.COMMITTED

    @pytest.mark.parametrize("name", ["wiki/link.md", "wiki/folder", "elsewhere"])
    def test_symbolic_link(self, shop: Shop, name: str) -> None:
        (shop.root / ".reflect" / name).symlink_to("/etc")
        done = shop.publish(COMMIT)
        assert done.outcome is PublishOutcome.FAILED
        assert "symbolic link" in done.reason

    def test_repository_inside_the_wiki(self, shop: Shop) -> None:
        git(shop.root, "init", "-q", ".reflect/wiki/inner")
        assert "repository of its own" in shop.publish(COMMIT).reason

    def test_wiki_that_is_gone_is_not_deleted_there(self, shop: Shop) -> None:
        shop.publish(PUSH)
        for file in (shop.root / ".reflect" / "wiki").rglob("*.md"):
            file.unlink()
        done = shop.publish(PUSH)
        assert done.outcome is PublishOutcome.FAILED
        assert ".reflect/wiki/decisions/a.md" in shop.files()


class TestPush:
    def test_remote_and_checkout_agree_afterwards(self, shop: Shop) -> None:
        done = shop.publish(PUSH)
        assert done.outcome is PublishOutcome.PUSHED
        assert shop.there() == done.commit == git(shop.root, "rev-parse", "HEAD")
        assert git(shop.root, "status", "--porcelain") == ""

    def test_remote_that_moved_before(self, shop: Shop) -> None:
        theirs = shop.colleague("main", "code.py", "x = 2\n")
        done = shop.publish(PUSH)
        assert done.outcome is PublishOutcome.PUSHED
        assert git(shop.remote, "rev-parse", "main^") == theirs
        assert shop.text("code.py") == "x = 2"
        assert (shop.root / "code.py").read_text(encoding="utf-8") == "x = 1\n"

    def test_hazard_115_remote_that_moves_between_fetch_and_push(self, shop: Shop) -> None:
        shop.colleague("side", "code.py", "x = 2\n")
        side = shop.there("side")
        flag = shop.remote / "moved"
        hook(shop, f"[ -e {flag} ] && exit 0; : > {flag}; unset GIT_QUARANTINE_PATH; "
             f"git update-ref refs/heads/main {side}; exit 0")  # fmt: skip
        done = shop.publish(PUSH)
        assert done.outcome is PublishOutcome.PUSHED
        assert git(shop.remote, "rev-parse", "main^") == side

    def test_remote_that_moves_each_time_is_left(self, shop: Shop) -> None:
        shop.colleague("side", "code.py", "x = 2\n")
        shop.colleague("side", "code.py", "x = 3\n", start="side")
        once, twice = git(shop.remote, "rev-parse", "side^"), shop.there("side")
        hook(shop, f"unset GIT_QUARANTINE_PATH; if [ $(git rev-parse main) = {once} ]; then "
             f"git update-ref refs/heads/main {twice}; else git update-ref refs/heads/main {once}; fi")  # fmt: skip
        assert shop.publish(PUSH).outcome is PublishOutcome.LEFT
        assert shop.there() == twice
        (shop.remote / "hooks" / "pre-receive").unlink()
        assert shop.publish(PUSH).outcome is PublishOutcome.PUSHED
        assert shop.text("code.py") == "x = 3"

    def test_local_commits_of_a_person_stay_here(self, shop: Shop) -> None:
        (shop.root / "code.py").write_text("private\n", encoding="utf-8")
        git(shop.root, "commit", "-q", "-am", "Not yet")
        assert shop.publish(PUSH).outcome is PublishOutcome.PUSHED
        assert shop.text("code.py") == "x = 1"

    def test_page_changed_on_both_sides_is_left(self, shop: Shop) -> None:
        shop.publish(PUSH)
        theirs = shop.colleague("main", ".reflect/wiki/decisions/a.md", "# A\n\nTheirs.\n")
        shop.page("decisions/a.md", "# A\n\nOurs.\n")
        done = shop.publish(PUSH)
        assert done.outcome is PublishOutcome.LEFT
        assert shop.there() == theirs

    def test_page_that_only_they_changed_is_kept(self, shop: Shop) -> None:
        shop.publish(PUSH)
        shop.colleague("main", ".reflect/wiki/decisions/a.md", "# A\n\nTheirs.\n")
        shop.page("decisions/b.md", "# B\n")
        assert shop.publish(PUSH).outcome is PublishOutcome.PUSHED
        assert shop.text(".reflect/wiki/decisions/a.md").endswith("Theirs.")
        assert ".reflect/wiki/decisions/b.md" in shop.files()

    def test_second_night_from_a_checkout_that_was_not_updated(self, shop: Shop) -> None:
        shop.colleague("main", "code.py", "x = 2\n")
        shop.publish(PUSH)
        shop.page("decisions/a.md", "# A\n\nSecond.\n")
        assert shop.publish(PUSH).outcome is PublishOutcome.PUSHED
        assert shop.text(".reflect/wiki/decisions/a.md").endswith("Second.")

    def test_crash_between_push_and_the_checkout(self, shop: Shop) -> None:
        start = git(shop.root, "rev-parse", "HEAD")
        done = shop.publish(PUSH)
        git(shop.root, "update-ref", "refs/heads/main", start)
        git(shop.root, "read-tree", start)
        again = shop.publish(PUSH)
        assert again.outcome is PublishOutcome.NOTHING
        assert shop.there() == git(shop.root, "rev-parse", "HEAD") == done.commit

    def test_protected_branch_becomes_a_pull_request(self, shop: Shop) -> None:
        protect(shop)
        start = shop.there()
        done = shop.publish(PUSH)
        assert (done.outcome, shop.there()) == (PublishOutcome.OPENED, start)
        assert done.reason.startswith("The remote refuses pushes to `main`.")
        assert len(shop.forge.open("acme/shop")) == 1

    def test_protected_branch_where_the_policy_wants_no_request(self, shop: Shop) -> None:
        protect(shop)
        assert shop.publish(PUSH, pull_request_when_protected=False).outcome is PublishOutcome.FAILED
        assert shop.forge.requests == []

    def test_remote_that_is_gone(self, shop: Shop) -> None:
        shop.remote.rename(shop.remote.parent / "gone.git")
        done = shop.publish(PUSH)
        assert done.outcome is PublishOutcome.FAILED
        assert RunReport(project="p", run="r", engine="e", published=done).exit_code == 3

    def test_remote_that_is_a_program(self, shop: Shop, tmp_path: Path) -> None:
        git(shop.root, "remote", "set-url", "origin", f"ext::sh -c touch% {tmp_path / 'ran'}")
        assert shop.publish(PUSH).outcome is PublishOutcome.FAILED
        assert not (tmp_path / "ran").exists()


class TestPullRequest:
    def test_opened_with_labels_and_then_updated(self, shop: Shop) -> None:
        first = shop.request(labels=("wiki",), draft=True)
        assert (first.outcome, first.url) == (PublishOutcome.OPENED, f"{shop.forge.address}/acme/shop/pull/1")
        shop.page("decisions/b.md", "# B\n")
        second = shop.request(labels=("wiki",))
        assert (second.outcome, second.url) == (PublishOutcome.UPDATED, first.url)
        (one,) = shop.forge.requests
        assert (one.labels, one.draft, one.base, one.head) == (["wiki"], True, "main", WIKI)
        assert "000000000002" in one.body
        assert git(shop.remote, "rev-parse", f"{WIKI}^") == first.commit
        assert ".reflect/wiki/decisions/b.md" in shop.files(WIKI)

    def test_nothing_new_leaves_the_request_alone(self, shop: Shop) -> None:
        first = shop.request()
        again = shop.request()
        assert (again.outcome, again.url) == (PublishOutcome.NOTHING, first.url)
        assert shop.there(WIKI) == first.commit

    @pytest.mark.parametrize("status", [0, 502, 200], ids=["closed", "gateway", "html"])
    def test_made_though_the_answer_was_bad(self, shop: Shop, status: int) -> None:
        shop.forge.faults.append(Fault("POST", status, after=True))
        done = shop.request()
        assert done.outcome is PublishOutcome.OPENED
        assert len(shop.forge.requests) == 1
        shop.page("decisions/b.md", "# B\n")
        assert shop.request().outcome is PublishOutcome.UPDATED
        assert len(shop.forge.requests) == 1

    def test_labels_that_are_refused_are_told(self, shop: Shop) -> None:
        shop.forge.faults.append(Fault("POST", 403, on="/labels"))
        done = shop.request(labels=["wiki"])
        assert done.outcome is PublishOutcome.OPENED and done.url == f"{shop.forge.address}/acme/shop/pull/1"
        assert "refused with 403" in done.reason and "/labels" in done.reason

    def test_crash_between_push_and_request(self, shop: Shop) -> None:
        shop.forge.faults.append(Fault("POST", 500))
        failed = shop.request()
        assert failed.outcome is PublishOutcome.FAILED
        pushed = shop.there(WIKI)
        done = shop.request()
        assert (done.outcome, shop.there(WIKI)) == (PublishOutcome.OPENED, pushed)
        assert len(shop.forge.requests) == 1

    def test_base_that_moved_is_merged_and_nothing_rewritten(self, shop: Shop) -> None:
        first = shop.request()
        theirs = shop.colleague("main", "code.py", "x = 2\n")
        shop.page("decisions/b.md", "# B\n")
        done = shop.request()
        assert done.outcome is PublishOutcome.UPDATED
        assert git(shop.remote, "log", "-1", "--format=%P", WIKI).split() == [first.commit, theirs]
        assert git(shop.remote, "diff", "--name-only", f"main...{WIKI}", "--", ":!.reflect") == ""
        assert shop.text("code.py", WIKI) == "x = 2"
        shop.page("decisions/c.md", "# C\n")
        assert shop.request().outcome is PublishOutcome.UPDATED

    def test_commit_of_a_person_on_the_branch_is_kept(self, shop: Shop) -> None:
        shop.request()
        theirs = shop.colleague(WIKI, ".reflect/wiki/index.md", "# Better index\n")
        shop.page("decisions/b.md", "# B\n")
        assert shop.request().outcome is PublishOutcome.UPDATED
        assert git(shop.remote, "rev-parse", f"{WIKI}^") == theirs
        assert shop.text(".reflect/wiki/index.md", WIKI) == "# Better index"

    def test_commit_of_a_person_on_a_branch_that_is_over_is_kept(self, shop: Shop) -> None:
        shop.request()
        theirs = shop.colleague(WIKI, "code.py", "x = 9\n")
        shop.forge.requests[0].state = "closed"
        shop.page("decisions/b.md", "# B\n")
        done = shop.request()
        assert done.outcome is PublishOutcome.FAILED
        assert "person's commits" in done.reason
        assert shop.there(WIKI) == theirs

    def test_closed_request_comes_back_only_with_something_new(self, shop: Shop) -> None:
        shop.request()
        shop.forge.requests[0].state = "closed"
        assert shop.request().outcome is PublishOutcome.NOTHING
        assert len(shop.forge.requests) == 1
        shop.page("decisions/b.md", "# B\n")
        done = shop.request()
        assert (done.outcome, len(shop.forge.requests)) == (PublishOutcome.OPENED, 2)
        assert {".reflect/wiki/decisions/a.md", ".reflect/wiki/decisions/b.md"} <= set(shop.files(WIKI))

    @pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
    def test_merged_request_is_followed_by_a_new_one(self, shop: Shop, how: str) -> None:
        shop.request()
        merge_there(shop, how)
        assert shop.request().outcome is PublishOutcome.NOTHING
        shop.page("decisions/a.md", "# A\n\nSecond.\n")
        done = shop.request()
        assert (done.outcome, len(shop.forge.requests)) == (PublishOutcome.OPENED, 2)
        assert git(shop.remote, "rev-parse", f"{WIKI}^") == shop.there()
        assert git(shop.remote, "diff", "--name-only", f"main..{WIKI}") == ".reflect/wiki/decisions/a.md"

    def test_gitlab(self, shop: Shop) -> None:
        where = {"forge": "gitlab", "api_url": f"{shop.forge.address}/gitlab"}
        first = shop.request(**where, labels=("wiki",), draft=True)
        assert first.url.endswith("/-/merge_requests/1")
        shop.page("decisions/b.md", "# B\n")
        assert shop.request(**where).outcome is PublishOutcome.UPDATED
        (one,) = shop.forge.requests
        assert (one.title, one.labels) == ("reflect: update the wiki", ["wiki"])

    @pytest.mark.parametrize(
        "fault",
        [
            Fault("GET", 401),
            Fault("GET", 403, {"x-ratelimit-remaining": "0"}),
            Fault("GET", 429, {"Retry-After": "3600"}),
            Fault("GET", 302, {"Location": "http://127.0.0.1:1/"}),
            Fault("GET", 200),
            Fault("GET", 0),
        ],
        ids=lambda fault: str(fault.status),
    )
    def test_refusal_sends_nothing_and_tells_no_token(self, shop: Shop, fault: Fault) -> None:
        shop.forge.faults.append(fault)
        done = shop.request()
        assert done.outcome is PublishOutcome.FAILED
        assert TOKEN not in done.model_dump_json()
        assert WIKI not in git(shop.remote, "branch", "--list")
        assert shop.request().outcome is PublishOutcome.OPENED

    def test_short_limit_is_waited_for(self, shop: Shop) -> None:
        shop.forge.faults.append(Fault("GET", 403, {"Retry-After": "0"}))
        assert shop.request().outcome is PublishOutcome.OPENED

    def test_request_beyond_the_first_page_is_found(self, shop: Shop) -> None:
        shop.request()
        (one,) = shop.forge.requests
        others = [type(one)(n, "acme/shop", WIKI, "main", "old", one.body, state="closed") for n in range(2, 132)]
        shop.forge.requests[:0] = others
        shop.page("decisions/b.md", "# B\n")
        assert shop.request().outcome is PublishOutcome.UPDATED
        assert len(shop.forge.open("acme/shop")) == 1


class TestStartingPoint:
    def test_on_the_open_branch_while_it_adds_something(self, shop: Shop) -> None:
        first = shop.request()
        workspace, policy = shop.workspace(), shop.policy(REQUEST)
        assert starting_point(workspace.git, policy, shop.there()) == first.commit
        assert starting_point(workspace.git, PublishPolicy(), shop.there()) == shop.there()

    @pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
    def test_on_the_default_branch_once_it_was_merged(self, shop: Shop, how: str) -> None:
        shop.request()
        merge_there(shop, how)
        git(shop.root, "fetch", "-q")
        assert starting_point(shop.workspace().git, shop.policy(REQUEST), shop.there()) == shop.there()


def test_dry_run_shows_the_diff_and_writes_nothing(shop: Shop) -> None:
    before = sorted(str(path) for path in (shop.root / ".git").rglob("*"))
    done = shop.publish(PUSH, dry_run=True)
    assert done.outcome is PublishOutcome.SHOWN
    assert "+++ b/.reflect/wiki/decisions/a.md" in done.diff
    assert "code.py" not in done.diff
    assert sorted(str(path) for path in (shop.root / ".git").rglob("*")) == before
    report = RunReport(project="p", run="r", engine="e", published=done)
    assert "```diff\ndiff --git" in render_markdown(report)
    assert json.loads(json.dumps(report.as_json()))["published"]["outcome"] == "shown"


def test_unpublished_pages_are_not_hidden_from_the_next_night(shop: Shop) -> None:
    names = ("timestamp", "run", "project", "engine", "fingerprint", "ledger")
    last = LastRun(
        **dict.fromkeys(names, "x"), refs=("r",), last_checkpoint=None, last_git_sha=None, pending=0, landed=False,
        unfinished=False, unpublished=False,
    )  # fmt: skip
    (shop.root / ".reflect" / LAST_RUN).write_bytes(last.encode())
    done = shop.publish(PUSH)
    note_outcome(shop.workspace(), done)
    read = LastRun.read(shop.root / ".reflect")
    assert read is not None
    assert not read.unpublished
    note_outcome(shop.workspace(), done.model_copy(update={"outcome": PublishOutcome.FAILED}))
    read = LastRun.read(shop.root / ".reflect")
    assert read is not None
    assert read.unpublished
    note_outcome(shop.workspace(), done)
    read = LastRun.read(shop.root / ".reflect")
    assert read is not None
    assert not read.unpublished


def merge_there(shop: Shop, how: str) -> None:
    """What a forge does when somebody presses the button."""
    theirs = shop.colleague("main", "code.py", "x = 2\n")
    other = shop.root.parent / "colleague"
    git(other, "fetch", "-q", "origin")
    git(other, "checkout", "-q", "-B", "work", theirs)
    if how == "merge":
        git(other, "merge", "-q", "--no-ff", "-m", "Merge pull request #1", f"origin/{WIKI}")
    elif how == "squash":
        git(other, "merge", "-q", "--squash", f"origin/{WIKI}")
        git(other, "commit", "-q", "-m", "reflect: update the wiki (#1)")
    else:
        git(other, "cherry-pick", f"main..origin/{WIKI}")
    git(other, "push", "-q", "origin", "HEAD:main")
    shop.forge.requests[0].state = "merged"


@pytest.mark.parametrize("mode", [PUSH, REQUEST])
def test_managed_clone_over_three_nights(shop: Shop, tmp_path: Path, mode: PublishMode) -> None:
    clone = Clone(str(shop.remote), tmp_path / "clone")
    policy = shop.policy(mode, author="Wiki Bot <bot@example.com>")
    shop.root = clone.tree
    for night in range(3):
        clone.fetch()
        clone.checked_out(lambda git, default: starting_point(git, policy, default))
        standing = {path.name for path in (clone.tree / ".reflect").rglob("page*.md")}
        assert standing == {f"page{number}.md" for number in range(night)}
        shop.page("index.md", f"# Index {night}\n")
        shop.page(f"decisions/page{night}.md", f"# Page {night}\n")
        done = shop.publish(mode, author=policy.author)
        assert done.is_done
        assert done.commit, done.reason
        shop.colleague("main", "code.py", f"y = {night}\n")
    branch = WIKI if mode is REQUEST else "main"
    assert [f".reflect/wiki/decisions/page{number}.md" in shop.files(branch) for number in range(3)] == [True] * 3
    assert shop.text(".reflect/wiki/index.md", branch) == "# Index 2"
    assert shop.text("code.py") == "y = 2"


def test_two_clones_publish_one_project(shop: Shop) -> None:
    first = shop.request()
    other = Shop(clone(shop.remote, shop.root.parent / "other"), shop.remote, shop.forge, shop.state, nights=5)
    git(other.root, "remote", "set-head", "origin", "main")
    other.page("index.md", "# Index\n")
    other.page("decisions/z.md", "# Z\n")
    assert other.request().outcome is PublishOutcome.UPDATED
    assert git(shop.remote, "rev-parse", f"{WIKI}^") == first.commit
    assert len(shop.forge.requests) == 1


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_own_commits_are_never_evidence(shop: Shop, how: str) -> None:
    shop.request()
    merge_there(shop, how)
    git(shop.root, "fetch", "-q")
    workspace = shop.workspace()
    batch = collect(workspace.git, workspace.config, Seen())
    assert {commit.subject for commit in batch.commits} <= {"Begin", "Change code.py", "Merge pull request #1"}
    assert "reflect: update the wiki" not in " ".join(commit.subject for commit in batch.commits)
