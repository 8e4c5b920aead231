"""A repository with a wiki, a bare remote on this machine, and a forge beside it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from reflect.publish.policy import Published, PublishMode, PublishPolicy
from reflect.publish.publish import publish
from reflect.report import PageChange, RunReport
from reflect.settings import Settings
from reflect.workspace import Workspace
from tests.forge import TOKEN, LocalForge, local_forge

WIKI = "reflect/wiki"


def git(where: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(where), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.strip()


@dataclass
class Shop:
    """One clone of `remote`, and what an operator does with it."""

    root: Path
    remote: Path
    forge: LocalForge
    state: Path
    nights: int = 0

    def page(self, name: str, text: str) -> None:
        file = self.root / ".reflect" / "wiki" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def policy(self, mode: PublishMode, **more: object) -> PublishPolicy:
        known = {"mode": mode, "forge": "github", "api_url": f"{self.forge.address}/github"}
        return PublishPolicy.model_validate({**known, **more})

    def workspace(self) -> Workspace:
        settings = Settings(state_dir=self.state, source_date_epoch=1790000000, forge_token=SecretStr(TOKEN))
        return Workspace.open(self.root, settings)

    def publish(self, mode: PublishMode, *, dry_run: bool = False, **more: object) -> Published:
        self.nights += 1
        pages = (PageChange(path="decisions/a.md", action="create", reason="because"),)
        report = RunReport(project="shop", run=f"{self.nights:012x}", engine="extractive", pages=pages)
        return publish(self.workspace(), self.policy(mode, **more), report, dry_run=dry_run)

    def request(self, **more: object) -> Published:
        return self.publish(PublishMode.PULL_REQUEST, **more)  # type: ignore[arg-type]

    def there(self, branch: str = "main") -> str:
        return git(self.remote, "rev-parse", branch)

    def files(self, branch: str = "main") -> list[str]:
        return git(self.remote, "ls-tree", "-r", "--name-only", branch).splitlines()

    def text(self, path: str, branch: str = "main") -> str:
        return git(self.remote, "show", f"{branch}:{path}")

    def colleague(self, branch: str, path: str, text: str, start: str = "main") -> str:
        """Somebody else's commit on `branch` of the remote."""
        other = self.root.parent / "colleague"
        if not other.exists():
            clone(self.remote, other)
        git(other, "fetch", "-q", "origin")
        here = f"origin/{branch}" if git(other, "branch", "-r", "--list", f"origin/{branch}") else f"origin/{start}"
        git(other, "checkout", "-q", "-B", "work", here)
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_text(text, encoding="utf-8")
        git(other, "add", "-A")
        git(other, "commit", "-q", "-m", f"Change {path}")
        git(other, "push", "-q", "origin", f"HEAD:{branch}")
        return git(other, "rev-parse", "HEAD")


def clone(remote: Path, target: Path) -> Path:
    git(remote.parent, "clone", "-q", str(remote), str(target))
    git(target, "config", "user.name", "Ada")
    git(target, "config", "user.email", "ada@example.com")
    return target


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    remote = tmp_path / "acme" / "shop.git"
    remote.parent.mkdir()
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    root = clone(remote, tmp_path / "shop")
    git(root, "checkout", "-q", "-B", "main")
    (root / "code.py").write_text("x = 1\n", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Begin")
    git(root, "push", "-q", "-u", "origin", "main")
    git(root, "remote", "set-head", "origin", "main")
    with local_forge() as forge:
        shop = Shop(root, remote, forge, tmp_path / "state")
        (root / ".reflect").mkdir()
        (root / ".reflect" / ".gitignore").write_text(".last_run\n.staging/\n", encoding="utf-8")
        (root / ".reflect" / ".last_run").write_text("{}", encoding="utf-8")
        shop.page("index.md", "# Index\n")
        shop.page("decisions/a.md", "# A\n\nFirst.\n")
        yield shop
