"""Which project a directory belongs to, and what a repository is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples.sessions import GitRepository
from reflect.configuration import Config
from reflect.errors import ConfigurationError
from reflect.scope.projects import (
    Project,
    Registry,
    local_project,
    local_registry,
    project_id_for,
    repository_name,
)
from reflect.settings import Settings
from reflect.workspace import Workspace
from tests.scope.cases import CHILD, House, P, Q, project

ROOT_COMMIT = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678"


def found(home: House, path: Path | str | None) -> str | None:
    detected = home.registry.detect(path)
    return detected.project.project_id if detected else None


def test_exact_root(home: House) -> None:
    assert found(home, home.p) == P
    assert found(home, f"{home.p}/") == P


def test_child_path(home: House) -> None:
    assert found(home, home.p / "src" / "not-there-yet") == P


def test_uses_longest_matching_root(home: House) -> None:
    assert found(home, home.child / "src") == CHILD
    detected = home.registry.detect(home.child / "src")
    assert detected is not None
    assert detected.root == home.child


def test_rejects_string_prefix_match(home: House) -> None:
    assert found(home, f"{home.p}2") is None


def test_resolves_symlink_before_matching(home: House) -> None:
    (home.base / "link").symlink_to(home.q)
    assert found(home, home.base / "link") == Q
    assert found(home, home.p / ".." / Q) == Q


def test_hazard_32_root_reached_by_a_symlink_is_one_project(tmp_path: Path) -> None:
    (tmp_path / "private" / "checkout").mkdir(parents=True)
    (tmp_path / "tmp").symlink_to(tmp_path / "private")
    registry = Registry((project(P, tmp_path / "tmp" / "checkout"),))
    roots = set()
    for path in (tmp_path / "private" / "checkout", tmp_path / "tmp" / "checkout"):
        detected = registry.detect(path)
        assert detected is not None
        roots.add(detected.root)
    assert len(roots) == 1


@pytest.mark.parametrize("path", [None, "", "  ", "src", "./payments", "/srv/\x00", "/", "~nobody-here/x", "x" * 5000])
def test_unknown_workspace_returns_none(home: House, path: str | None) -> None:
    assert found(home, path) is None


def test_a_symlink_loop_is_unknown(home: House) -> None:
    (home.p / "loop").symlink_to(home.p / "loop")
    assert found(home, home.p / "loop" / "x") is None


def test_disabled_project_detected_but_not_allowed(home: House) -> None:
    detected = home.registry.detect(home.base / "retired")
    assert detected is not None
    assert not detected.project.memory_enabled


def test_empty_registry_returns_none(tmp_path: Path) -> None:
    assert Registry(()).detect(tmp_path) is None


def test_windows_roots_are_compared_as_windows_does() -> None:
    registry = Registry((Project(project_id=P, workspace_roots=(r"C:\Code\Payments",)),))
    assert registry.detect(r"c:\code\payments\src") is not None
    assert registry.detect("C:/Code/Payments/src") is not None
    assert registry.detect(r"C:\Code\Payments\..\Storefront") is None
    assert registry.detect(r"D:\Code\Payments") is None
    assert registry.detect("/Code/Payments") is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"memory_enabled": "true"}, "memory_enabled"),
        ({"memory_enabled": 1}, "memory_enabled"),
        ({"workspace_roots": []}, "workspace_roots"),
        ({"workspace_roots": ["relative/path"]}, "relative/path"),
        ({"workspace_roots": ["/"]}, "'/'"),
        ({"project_id": "Pay ments"}, "Pay ments"),
        ({"project_id": "x" * 65}, "project_id"),
        ({"project_id": None}, "project_id"),
        ({"default_scope": "global"}, "default_scope"),
    ],
)
def test_malformed_entry_fails_closed_and_is_named(tmp_path: Path, wrong: dict[str, Any], named: str) -> None:
    """Skipping it would hand its folders to the project around it."""
    good = {"project_id": P, "workspace_roots": [str(tmp_path)]}
    bad = {"project_id": CHILD, "workspace_roots": [str(tmp_path / "child")], **wrong}
    with pytest.raises(ConfigurationError, match="Project 2") as caught:
        Registry.parse([good, bad])
    assert named in str(caught.value)


@pytest.mark.parametrize("entry", ["payments", None, 3, ["payments"]])
def test_an_entry_that_is_no_mapping_is_named(entry: object) -> None:
    with pytest.raises(ConfigurationError, match="Project 1"):
        Registry.parse([entry])


def test_two_projects_cannot_share_an_id_or_a_root(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="called `payments`"):
        Registry((project(P, tmp_path / "a"), project(P, tmp_path / "b")))
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(ConfigurationError, match="both claim the root"):
        Registry((project(P, tmp_path / "a"), project(Q, tmp_path / "link")))


def test_hazard_31_two_repositories_called_api_are_two_projects() -> None:
    first, second = project_id_for("api", "1111111aaa"), project_id_for("api", "2222222bbb")
    assert (first, second) == ("api-111111", "api-222222")


@pytest.mark.parametrize(
    "name", ["api", "My Service", "日本語", "🚀", "Größe", "x" * 200, "--", "", "a.b/c", "_under", "API\n", "é-è"]
)
def test_every_name_makes_a_usable_id(name: str) -> None:
    made = project_id_for(name, ROOT_COMMIT)
    assert made.endswith("-a1b2c3")
    assert Project(project_id=made, workspace_roots=("/srv/x",)).project_id == made


def test_configured_id_wins(tmp_path: Path) -> None:
    assert local_project(tmp_path, Config(project_id="payments-api"), ROOT_COMMIT).project_id == "payments-api"


def test_configured_roots_are_relative_to_the_repository(tmp_path: Path) -> None:
    config = Config(workspace_roots=("../other-clone", r"C:\code\api", "/srv/api"))
    made = local_project(tmp_path / "api", config, ROOT_COMMIT, name="api")
    registry = Registry((made,))
    for inside in (tmp_path / "other-clone" / "src", r"C:\code\api\src", "/srv/api"):
        assert registry.detect(inside) is not None


def test_configured_root_that_holds_everything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="every other project"):
        local_project(tmp_path, Config(workspace_roots=("/",)), ROOT_COMMIT)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@example.com:org/api.git", "api"),
        ("https://example.com/org/api", "api"),
        ("https://example.com/org/api.git/", "api"),
        ("ssh://git@example.com:2222/org/api.git", "api"),
        ("/srv/git/api.git", "api"),
        ("/srv/clones/api/.git", "api"),
        (r"C:\repos\api", "api"),
        ("../api.bundle", "api"),
        (None, "checkout"),
        ("", "checkout"),
    ],
)
def test_a_repository_is_called_as_its_origin_is(url: str | None, name: str) -> None:
    assert repository_name(Path("/home/dev/checkout/.git"), url) == name


def test_a_bare_repository_is_called_as_its_folder() -> None:
    assert repository_name(Path("/srv/git/api.git"), None) == "api"


def repository_with_worktrees(tmp_path: Path) -> tuple[GitRepository, Path, Path]:
    repository = GitRepository.create(tmp_path / "payments")
    repository.commit("Start", {"a.txt": "a"})
    near, far = repository.path / ".claude" / "worktrees" / "modest-burnell", tmp_path / "elsewhere" / "wt"
    repository.git("worktree", "add", "-q", "-b", "one", str(near))
    repository.git("worktree", "add", "-q", "-b", "two", str(far))
    return repository, near, far


def registry_of(top: Path) -> Registry:
    repository = GitRepository(top)
    common = (top / repository.git("rev-parse", "--git-common-dir")).resolve()
    root_commit = repository.git("rev-list", "--max-parents=0", "HEAD")
    return local_registry(top.resolve(), common, Config(), root_commit=root_commit)


def test_hazard_53_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    repository, near, far = repository_with_worktrees(tmp_path)
    registries = [registry_of(top) for top in (repository.path, near, far)]
    assert len({registry.projects[0].project_id for registry in registries}) == 1
    assert registries[0].projects[0].project_id.startswith("payments-")
    for registry, top in zip(registries, (repository.path, near, far), strict=True):
        detected = registry.detect(top / "src")
        assert detected is not None
        assert detected.root == repository.path.resolve()


def test_hazard_129_worktree_name_is_never_the_project(tmp_path: Path) -> None:
    _, near, far = repository_with_worktrees(tmp_path)
    for top in (near, far):
        assert "burnell" not in registry_of(top).projects[0].project_id
        assert "wt" not in registry_of(top).projects[0].project_id
    assert local_project(near, Config(), ROOT_COMMIT).project_id == "payments-a1b2c3"


def test_hazard_105_a_configuration_further_down_changes_nothing(tmp_path: Path) -> None:
    repository = GitRepository.create(tmp_path / "payments")
    repository.commit("first", {"a.py": "1"})
    before = Workspace.open(repository.path, Settings(state_dir=tmp_path / "state"))
    for inside in ("src", "src/.reflect", ".git/.reflect"):
        folder = repository.path / inside / ("" if inside.endswith(".reflect") else ".reflect")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.yaml").write_text("project_id: somebody-else\n")
    for asked in (repository.path, repository.path / "src"):
        opened = Workspace.open(asked, before.settings)
        assert (opened.project, opened.config) == (before.project, before.config)


def test_worktree_inside_another_projects_root_is_its_own_repository(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "q" / "p-worktree").mkdir(parents=True)
    projects = (project(P, tmp_path / "p"), project(Q, tmp_path / "q"))
    mapped = Registry(projects, {tmp_path / "q" / "p-worktree": tmp_path / "p"})
    detected = mapped.detect(tmp_path / "q" / "p-worktree" / "src")
    assert detected is not None
    assert detected.project.project_id == P


def test_nested_project_is_found_in_a_worktree_too(home: House) -> None:
    inside = home.p / ".claude" / "worktrees" / "x"
    assert found(home, inside / "src") == P
    assert found(home, inside / "ledger" / "src") == CHILD


def test_hazard_95_two_clones_have_one_identity(tmp_path: Path) -> None:
    origin = GitRepository.create(tmp_path / "origin" / "api")
    origin.commit("Start", {"a.txt": "a"})
    ids = set()
    for number in (1, 2):
        clone = tmp_path / f"machine-{number}" / f"folder-{number}"
        origin.git("clone", "-q", str(origin.path), str(clone))
        url = GitRepository(clone).git("remote", "get-url", "origin")
        root_commit = GitRepository(clone).git("rev-list", "--max-parents=0", "HEAD")
        registry = local_registry(clone, clone / ".git", Config(), root_commit=root_commit, origin_url=url)
        ids.add(registry.projects[0].project_id)
    assert len(ids) == 1


def test_hazard_105_a_nested_settings_file_changes_no_identity(home: House) -> None:
    nested = home.p / "src" / ".reflect"
    nested.mkdir()
    (nested / "config.yaml").write_text("session_start: manual\nproject_id: storefront\n", encoding="utf-8")
    assert found(home, home.p / "src") == P
