"""The history behind the default branch, read from real repositories of every shape."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from examples.sessions import START, GitRepository
from reflect.evidence.commits import MAX_FILES, RawCommit, choose_window, read_commits, reverted
from reflect.evidence.git import Git
from reflect.model import CommitSha


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


def history(repository: GitRepository, *, seed: int = 1000) -> list[RawCommit]:
    git = Git.open(repository.path)
    window = choose_window(git, git.default_branch(None).tips, frozenset(), (), first_run=True, seed=seed)
    return list(read_commits(git, window.new))


def test_what_a_commit_holds(repository: GitRepository) -> None:
    sha = repository.commit(
        "Cap retries\n\nBecause the gateway\ndrops calls.\n\nEntire-Checkpoint: aaaaaaaaaaaa",
        {"src/retry.py": "", "with space.txt": "", "\nodd\tname": ""},
    )
    (commit,) = history(repository)
    assert (commit.sha, commit.parents) == (sha, ())
    assert (commit.author, commit.email, commit.at) == ("Ada Example", "ada@example.com", START)
    assert commit.message.body == "Because the gateway drops calls."
    assert commit.message.checkpoints == ("aaaaaaaaaaaa",)
    assert set(commit.files or ()) == {"src/retry.py", "with space.txt", "\nodd\tname"}


def test_files_belong_to_their_commit(repository: GitRepository) -> None:
    repository.commit("one", {"a": "1"})
    repository.commit("nothing changed")
    repository.commit("two", {"a": "2", "b": "1"})
    assert [commit.files for commit in history(repository)] == [("a", "b"), (), ("a",)]


def test_the_names_of_a_huge_commit_are_bounded(repository: GitRepository) -> None:
    repository.commit("import", {f"vendor/{number}": "" for number in range(MAX_FILES + 10)})
    repository.commit("next", {"a": ""})
    assert [len(commit.files or ()) for commit in history(repository)] == [1, MAX_FILES]


def test_hazard_54_the_only_trailer_stands_on_a_merge(repository: GitRepository) -> None:
    repository.commit("base", {"a": ""})
    repository.git("checkout", "-q", "-b", "side")
    side = repository.commit("on the side", {"b": ""})
    repository.git("checkout", "-q", "main")
    repository.commit("on main", {"c": ""})
    repository.git("merge", "-q", "--no-ff", "side", "-m", "Merge side\n\nEntire-Checkpoint: aaaaaaaaaaaa")
    commits = {commit.sha: commit for commit in history(repository)}
    merge = commits[CommitSha(repository.git("rev-parse", "HEAD"))]
    assert len(commits) == 4 and side in commits
    assert merge.message.checkpoints == ("aaaaaaaaaaaa",)
    assert merge.files == ("b",)


def test_a_commit_of_other_bytes_and_times(repository: GitRepository) -> None:
    repository.git("commit", "-q", "--allow-empty", "-F", "-", input=b"caf\xe9 \x01\x1e\n\nb\xff", at=START)
    tree = repository.git("rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nauthor A <a> 99999999999999999 +0000\ncommitter A <a> 1700000000 +0000\n\nlate\n"
    sha = repository.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", input=raw.encode())
    repository.git("update-ref", "refs/heads/main", sha)
    (late,) = history(repository)
    assert late.at.tzinfo is UTC and late.message.subject == "late"
    git = Git.open(repository.path)
    first = repository.git("rev-parse", "HEAD@{1}")
    (latin,) = read_commits(git, [CommitSha(first)])
    assert (latin.message.subject, latin.message.body) == ("café", "bÿ")


class TestWindow:
    @pytest.fixture
    def long(self, repository: GitRepository) -> list[str]:
        """Sixty commits, oldest first."""
        stream = ""
        for number in range(60):
            seconds = int(START.timestamp()) + 60 * number
            stream += f"commit refs/heads/main\ncommitter A <a@example.com> {seconds} +0000\ndata 6\nnumber\n"
        repository.git("fast-import", "--quiet", input=stream.encode())
        return repository.git("rev-list", "--reverse", "main").split()

    def test_a_first_run_takes_the_newest_and_counts_the_rest(self, repository: GitRepository, long: list[str]) -> None:
        git = Git.open(repository.path)
        window = choose_window(git, [long[-1]], frozenset(), (), first_run=True, seed=50)
        assert window.new == tuple(reversed(long[10:]))
        assert (window.left_out, window.floor, window.head) == (10, (long[9],), long[-1])

    def test_hazard_56_a_later_run_takes_everything_new(self, repository: GitRepository, long: list[str]) -> None:
        git = Git.open(repository.path)
        window = choose_window(git, [long[-1]], {CommitSha(long[0])}, (), first_run=False, seed=50)
        assert window.new == tuple(reversed(long[1:])) and window.left_out == 0

    def test_what_was_left_out_stays_out(self, repository: GitRepository, long: list[str]) -> None:
        git = Git.open(repository.path)
        settled = set(long[50:])
        window = choose_window(git, [long[-1]], settled, [CommitSha(long[49])], first_run=False, seed=10)
        assert window.new == () and window.floor == (long[49],)
        newer = repository.commit("newer")
        window = choose_window(git, [newer], settled, [CommitSha(long[49])], first_run=False, seed=10)
        assert window.new == (newer,)

    @pytest.mark.parametrize("seed", [0, 1, 59, 60, 61])
    def test_the_window_and_the_rest_are_the_whole(self, repository: GitRepository, long: list[str], seed: int) -> None:
        git = Git.open(repository.path)
        window = choose_window(git, [long[-1]], frozenset(), (), first_run=True, seed=seed)
        assert len(window.new) + window.left_out == 60
        later = choose_window(git, [long[-1]], set(window.new), window.floor, first_run=False, seed=seed)
        assert later.new == ()

    def test_a_branch_that_left_before_the_window_is_new_when_it_is_merged(
        self, repository: GitRepository, long: list[str]
    ) -> None:
        git = Git.open(repository.path)
        first = choose_window(git, [long[-1]], frozenset(), (), first_run=True, seed=10)
        repository.git("checkout", "-q", "-b", "old", long[5])
        side = repository.commit("long ago", at=START + timedelta(minutes=6))
        repository.git("checkout", "-q", "main")
        repository.git("merge", "-q", "--no-ff", "old", "-m", "merge", at=START + timedelta(hours=3))
        tip = repository.git("rev-parse", "HEAD")
        later = choose_window(git, [tip], set(first.new), first.floor, first_run=False, seed=10)
        assert set(later.new) == {tip, side}

    def test_hazard_40_a_floor_that_a_force_push_removed(
        self, repository: GitRepository, long: list[str], tmp_path: Path
    ) -> None:
        repository.git("clone", "-q", "--single-branch", str(repository.path), str(tmp_path / "clone"))
        git = Git.open(tmp_path / "clone")
        window = choose_window(git, [long[-1]], set(long[1:]), [CommitSha("f" * 40)], first_run=False, seed=10)
        assert window.new == (long[0],) and window.floor == ()

    def test_hazard_43_no_commit(self, repository: GitRepository) -> None:
        window = choose_window(Git.open(repository.path), (), frozenset(), (), first_run=True, seed=10)
        assert (window.new, window.left_out, window.head) == ((), 0, None)


class TestReverts:
    def reverts(self, repository: GitRepository) -> dict[str, tuple[str, ...]]:
        git = Git.open(repository.path)
        window = choose_window(git, git.default_branch(None).tips, frozenset(), (), first_run=True, seed=1000)
        commits = list(read_commits(git, window.new))
        return {str(sha): tuple(named) for sha, named in reverted(commits, window, git).items()}

    def test_git_revert(self, repository: GitRepository) -> None:
        repository.commit("base", {"a": "0"})
        wrong = repository.commit("Change a", {"a": "1"})
        repository.git("revert", "--no-edit", wrong)
        head = repository.git("rev-parse", "HEAD")
        assert self.reverts(repository) == {head: (wrong,)}

    def test_a_shortened_id(self, repository: GitRepository) -> None:
        wrong = repository.commit("Change a", {"a": "1"})
        back = repository.commit(f"Back out\n\nThis reverts commit {wrong[:8]}.")
        repository.commit("Back out\n\nThis reverts commit 0000000.")
        assert self.reverts(repository) == {back: (wrong,)}

    def test_a_pull_request_that_names_the_subject_alone(self, repository: GitRepository) -> None:
        repository.commit("Add exports (#11)", {"a": "1"})
        again = repository.commit("Add exports (#13)", {"a": "2"})
        back = repository.commit('Revert "Add exports" (#14)\n\nReverts org/repo#13')
        repository.commit("Add exports (#15)", {"a": "3"})
        assert self.reverts(repository) == {back: (again,)}

    def test_a_subject_nobody_wrote(self, repository: GitRepository) -> None:
        repository.commit("One")
        repository.commit('Revert "Another"')
        assert self.reverts(repository) == {}


class TestPartialClone:
    def clone(self, repository: GitRepository, tmp_path: Path, wanted: str) -> GitRepository:
        repository.git("config", "uploadpack.allowFilter", "true")
        target = tmp_path / "clone"
        source = f"file://{repository.path}"
        command = ["git", "clone", "-q", "--no-checkout", f"--filter={wanted}", source, str(target)]
        subprocess.run(command, check=True)
        return GitRepository(target)

    def test_hazard_49_without_blobs(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.commit("one", {"a": "1"})
        repository.commit("two", {"a": "2"})
        clone = self.clone(repository, tmp_path, "blob:none")
        assert [commit.files for commit in history(clone)] == [("a",), ("a",)]

    def test_hazard_49_without_trees(self, repository: GitRepository, tmp_path: Path) -> None:
        shas = [repository.commit(f"commit {n}", {"a": str(n)}) for n in range(5)]
        commits = history(self.clone(repository, tmp_path, "tree:0"))
        assert [commit.sha for commit in commits] == shas[::-1]
        assert commits[-1].files is None and commits[-1].message.subject == "commit 0"


def test_hazard_47_a_shallow_clone_ends_where_it_ends(repository: GitRepository, tmp_path: Path) -> None:
    for number in range(5):
        repository.commit(f"commit {number}", {"a": str(number)})
    target = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "2", f"file://{repository.path}", str(target)], check=True)
    commits = history(GitRepository(target))
    assert [commit.message.subject for commit in commits] == ["commit 4", "commit 3"]
    assert commits[1].parents == ()


def test_dates_come_out_in_utc(repository: GitRepository) -> None:
    repository.git("commit", "-q", "--allow-empty", "-m", "x", at=datetime.fromisoformat("2026-03-02T23:30:00-08:00"))
    assert history(repository)[0].at == datetime(2026, 3, 3, 7, 30, tzinfo=UTC)
