"""Opening repositories of every shape, and running git in them without trusting them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from examples.sessions import GitRepository
from reflect.errors import ConfigurationError, RepositoryError
from reflect.evidence.git import Git

_EXECUTABLE_SETTINGS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
    *("core.alternateRefsCommand", "diff.external", "diff.trap.command", "diff.trap.textconv", "pager.log"),
    *("filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "gpg.program", "credential.helper"),
)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.create(tmp_path / "repository")
    repository.commit("first", {"a/b/c.txt": "text"})
    return repository


class TestOpen:
    def test_any_folder_of_the_work_tree(self, repository: GitRepository) -> None:
        git = Git.open(repository.path / "a" / "b")
        assert (git.root, git.git_dir) == (repository.path.resolve(), repository.path.resolve() / ".git")
        assert git.common_dir == git.git_dir and not git.is_bare

    def test_hazard_32_a_symbolic_link_to_it_is_the_same_repository(
        self, repository: GitRepository, tmp_path: Path
    ) -> None:
        (tmp_path / "link").symlink_to(repository.path)
        assert Git.open(tmp_path / "link").common_dir == Git.open(repository.path).common_dir

    def test_hazard_53_worktrees_share_the_common_folder(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.git("worktree", "add", "-q", str(tmp_path / "one"), "-b", "one")
        repository.git("worktree", "add", "-q", str(tmp_path / "two"), "-b", "two")
        one, two, main = Git.open(tmp_path / "one"), Git.open(tmp_path / "two"), Git.open(repository.path)
        assert one.common_dir == two.common_dir == main.common_dir
        assert len({one.root, two.root, main.root}) == 3

    def test_hazard_129_an_agents_worktree_belongs_to_the_repository_around_it(self, repository: GitRepository) -> None:
        inside = repository.path / ".claude" / "worktrees" / "modest-burnell"
        repository.git("worktree", "add", "-q", str(inside), "-b", "claude/modest-burnell")
        assert Git.open(inside).common_dir == Git.open(repository.path).common_dir
        assert Git.open(inside).root == inside.resolve()

    def test_a_bare_repository(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.git("clone", "-q", "--bare", str(repository.path), str(tmp_path / "bare.git"))
        git = Git.open(tmp_path / "bare.git")
        assert git.is_bare and git.root == tmp_path.resolve() / "bare.git"
        assert git.default_branch(None).name == "main"

    def test_the_git_folder_itself(self, repository: GitRepository) -> None:
        assert Git.open(repository.path / ".git" / "refs").root == repository.path.resolve()

    def test_a_submodule_is_a_repository_of_its_own(self, repository: GitRepository, tmp_path: Path) -> None:
        outer = GitRepository.create(tmp_path / "outer")
        outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository.path), "inner")
        outer.commit("add a submodule")
        assert Git.open(outer.path / "inner").root == outer.path.resolve() / "inner"
        assert Git.open(outer.path).root == outer.path.resolve()

    def test_a_separate_git_folder(self, tmp_path: Path) -> None:
        GitRepository(tmp_path).git(
            "init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere"), str(tmp_path / "w")
        )
        assert Git.open(tmp_path / "w").git_dir == tmp_path.resolve() / "elsewhere"

    def test_git_variables_of_a_hook_do_not_lead_elsewhere(
        self, repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = GitRepository.create(tmp_path / "other")
        other.commit("other")
        monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
        git = Git.open(repository.path)
        assert git.root == repository.path.resolve()
        assert git.run("log", "-1", "--format=%s") == b"first\n"

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
    def test_a_repository_of_another_user(self, repository: GitRepository) -> None:
        for folder, _, names in os.walk(repository.path):
            for path in [folder, *(os.path.join(folder, name) for name in names)]:  # noqa: PTH118
                os.chown(path, 12345, 12345)
        assert Git.open(repository.path).head().oid

    def test_no_repository(self, tmp_path: Path) -> None:
        with pytest.raises(RepositoryError, match="is not inside a git repository"):
            Git.open(tmp_path)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(RepositoryError, match="is not a folder"):
            Git.open(tmp_path / "absent")

    def test_hazard_28_a_work_tree_that_lies_elsewhere(self, repository: GitRepository, tmp_path: Path) -> None:
        (tmp_path / "victim").mkdir()
        for elsewhere in (tmp_path / "victim", tmp_path, Path("/")):
            repository.git("config", "core.worktree", str(elsewhere))
            self._refused(repository)

    def _refused(self, repository: GitRepository) -> None:
        with pytest.raises(RepositoryError, match="does not belong to it"):
            Git.open(repository.path)

    def test_ids_of_another_length(self, tmp_path: Path) -> None:
        GitRepository(tmp_path).git("init", "-q", "--object-format=sha256", str(tmp_path / "long"))
        with pytest.raises(RepositoryError, match="only SHA-1"):
            Git.open(tmp_path / "long")


class TestHardening:
    @pytest.fixture
    def trap(self, repository: GitRepository, tmp_path: Path) -> Path:
        """A repository whose configuration tries to execute a script at every turn; the file that it would make."""
        sprung, script = tmp_path / "sprung", tmp_path / "script"
        script.write_text(f'#!/bin/sh\necho "$0 $@" >> {sprung}\ncat\n')
        script.chmod(0o755)
        (tmp_path / "included").write_text(f"[core]\n\tfsmonitor = {script}\n")
        hooks = tmp_path / "hooks"
        hooks.mkdir()
        for hook in ("post-index-change", "reference-transaction", "pre-commit", "post-checkout"):
            shutil.copy(script, hooks / hook)
        for key in _EXECUTABLE_SETTINGS:
            repository.git("config", key, str(script))
        repository.git("config", "core.hooksPath", str(hooks))
        repository.git("config", "log.showSignature", "true")
        repository.git("config", "include.path", str(tmp_path / "included"))
        repository.git("config", "filter.trap.required", "true")
        (repository.path / ".git" / "info" / "attributes").write_text("* diff=trap filter=trap\n")
        (repository.path / "a" / "b" / "c.txt").write_text("changed")
        return sprung

    @pytest.mark.parametrize(
        "call",
        [
            lambda git: git.run("log", "-p", "--format=%H %G?"),
            lambda git: git.run("diff", "HEAD"),
            lambda git: git.run("status", "--porcelain"),
            lambda git: git.run("add", "-v", "a"),
            lambda git: git.run("show", "HEAD"),
            lambda git: git.refs(),
            lambda git: git.head(),
            lambda git: git.store("rev-list", git.head().oid),
            lambda git: b"".join(git.stream("log", "-p", git.head().oid)),
        ],
        ids=[
            f"hazard-28-{call}" for call in ("log", "diff", "status", "add", "show", "refs", "head", "store", "stream")
        ],
    )
    def test_nothing_a_configuration_names_is_executed(
        self, repository: GitRepository, trap: Path, call: Callable[[Git], object]
    ) -> None:
        assert call(Git.open(repository.path))
        assert not trap.exists()

    def test_the_trap_works(self, repository: GitRepository, trap: Path) -> None:
        with suppress(subprocess.CalledProcessError):  # the script is no diff program
            repository.git("log", "-p", "--ext-diff")
        assert trap.exists()

    def test_no_transport_without_leave(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.git("clone", "-q", "--bare", str(repository.path), str(tmp_path / "remote.git"))
        git = Git.open(repository.path)
        with pytest.raises(RepositoryError, match="transport 'file' not allowed"):
            git.run("fetch", f"file://{tmp_path}/remote.git")
        address = f"file://{tmp_path}/remote.git"
        git.network("fetch", address, address=address)

    def test_replaced_objects_are_read_as_they_are(self, repository: GitRepository) -> None:
        real = repository.git("rev-parse", "HEAD")
        fake = repository.commit("fake")
        repository.git("replace", real, fake)
        assert Git.open(repository.path).run("log", "-1", "--format=%s", real) == b"first\n"

    def test_a_failure_is_one_sentence_with_gits_last_line(self, repository: GitRepository) -> None:
        with pytest.raises(RepositoryError) as caught:
            Git.open(repository.path).run("log", "no-such-branch", "--")
        assert "`git log" in str(caught.value) and "no-such-branch" in str(caught.value)
        assert "\n" not in str(caught.value) and "hooksPath" not in str(caught.value)

    def test_a_call_that_takes_too_long_is_stopped(self, repository: GitRepository) -> None:
        with pytest.raises(RepositoryError, match="took longer than"):
            Git.open(repository.path).run("log", timeout_s=0.0)

    def test_a_stream_that_fails_says_so(self, repository: GitRepository) -> None:
        with pytest.raises(RepositoryError, match=r"bad object|unknown revision|bad revision"):
            list(Git.open(repository.path).stream("log", "0" * 39 + "1"))


class TestDefaultBranch:
    def test_the_remotes_own_word_comes_first(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.git("branch", "-m", "trunk")
        clone = tmp_path / "clone"
        repository.git("clone", "-q", str(repository.path), str(clone))
        GitRepository(clone).git("checkout", "-q", "-b", "feature")
        found = Git.open(clone).default_branch("feature")
        assert (found.name, found.how, found.ref) == ("trunk", "origin/HEAD", "refs/remotes/origin/trunk")

    def test_the_local_branch_of_that_name_counts_too(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.git("clone", "-q", str(repository.path), str(tmp_path / "clone"))
        clone = GitRepository(tmp_path / "clone")
        remote = clone.git("rev-parse", "HEAD")
        local = clone.commit("not pushed yet")
        assert Git.open(clone.path).default_branch(None).tips == (remote, local)

    def test_then_the_configured_one(self, repository: GitRepository) -> None:
        repository.git("branch", "stable")
        repository.git("checkout", "-q", "-b", "feature")
        found = Git.open(repository.path).default_branch("stable")
        assert (found.name, found.how) == ("stable", "config.yaml")

    def test_a_configured_branch_that_does_not_exist(self, repository: GitRepository) -> None:
        with pytest.raises(ConfigurationError, match=r"`default_branch: trunk`.* names no branch"):
            Git.open(repository.path).default_branch("trunk")

    def test_then_the_branch_head_names_never_a_guess(self, repository: GitRepository) -> None:
        repository.git("checkout", "-q", "-b", "odd-name")
        found = Git.open(repository.path).default_branch(None)
        assert found.name == "odd-name" and "HEAD names" in found.how

    def test_hazard_45_detached(self, repository: GitRepository) -> None:
        repository.git("checkout", "-q", "--detach")
        found = Git.open(repository.path).default_branch(None)
        assert found.name is None and found.tips == (repository.git("rev-parse", "HEAD"),)

    def test_hazard_43_empty(self, tmp_path: Path) -> None:
        GitRepository.create(tmp_path / "empty", branch="trunk")
        git = Git.open(tmp_path / "empty")
        assert (git.default_branch(None).name, git.default_branch(None).tips) == ("trunk", ())
        assert git.default_branch("trunk").tips == ()
        assert git.head().oid == ""

    def test_a_remote_head_that_dangles_is_passed_over(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.git("clone", "-q", str(repository.path), str(tmp_path / "clone"))
        clone = GitRepository(tmp_path / "clone")
        clone.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
        assert Git.open(clone.path).default_branch(None).how.startswith("the branch HEAD names")

    def test_the_only_remote_may_have_another_name(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.git("clone", "-q", "-o", "upstream", str(repository.path), str(tmp_path / "clone"))
        assert Git.open(tmp_path / "clone").default_branch(None).how == "upstream/HEAD"
