"""Everything a run needs to know about one repository, opened once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reflect.configuration import Config, Format, load_config, load_format
from reflect.errors import RepositoryError
from reflect.evidence.git import DefaultBranch, Git
from reflect.freshness import FOLDER
from reflect.ledger.ledger import Ledger
from reflect.scope.projects import Project, Registry, local_registry
from reflect.settings import Settings
from reflect.wiki.lock import repository_lock
from reflect.wiki.log import landed_runs
from reflect.wiki.store import Wiki


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository, its wiki, its project and the machine's settings. Frozen: a run never changes its mind."""

    git: Git
    folder: Path
    config: Config
    format: Format
    project: Project
    registry: Registry
    default: DefaultBranch
    settings: Settings

    @classmethod
    def open(cls, path: Path, settings: Settings | None = None) -> Workspace:
        """The repository around `path`.

        Raises RepositoryError where there is none and ConfigurationError where `.reflect/` cannot be used.
        """
        git = Git.open(path)
        folder = git.root / FOLDER
        config = load_config(folder)
        default = git.default_branch(config.default_branch)
        registry = local_registry(
            git.root, git.common_dir, config, root_commit=_root_commit(git, default), origin_url=_origin(git)
        )
        return cls(
            git=git,
            folder=folder,
            config=config,
            format=load_format(folder),
            project=registry.projects[0],
            registry=registry,
            default=default,
            settings=settings or Settings(),
        )

    @property
    def run_name(self) -> str:
        """`project@short-sha`, by which people find a run."""
        head = self.default.tips[0][:8] if self.default.tips else "no-commit"
        return f"{self.project.project_id}@{head}"

    @property
    def wiki(self) -> Wiki:
        return Wiki(self.folder)

    @property
    def lock(self) -> Path:
        """The file whose lock keeps a second run out, shared by all worktrees of the repository."""
        return self.git.common_dir / "reflect.lock"

    @property
    def journal(self) -> Path:
        """The file that survives a kill while files take their places: in git's folder, out of the work tree."""
        return self.git.git_dir / "reflect-landing.json"

    @property
    def ledger_file(self) -> str:
        """The ledger's file, empty where the ledger is a server."""
        prefix = "sqlite:///"
        return self.settings.ledger.removeprefix(prefix) if self.settings.ledger.startswith(prefix) else ""

    def require_free(self) -> None:
        """Raise RepositoryBusy where another run holds the repository."""
        with repository_lock(self.lock):
            return

    def ledger(self) -> Ledger:
        """The ledger, open; use it as a context manager."""
        return Ledger.open(self.settings.ledger)

    def log_text(self) -> str:
        """The wiki's log as it stands, empty where there is none."""
        try:
            return (self.folder / "wiki" / "log.md").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def landed_runs(self) -> frozenset[str]:
        """The runs whose pages stand in this wiki."""
        return landed_runs(self.log_text())


def _root_commit(git: Git, default: DefaultBranch) -> str | None:
    """The first commit of the default branch's history, None where this clone does not reach back to it."""
    if not default.tips or git.is_shallow():
        return None
    return git.store("rev-list", "--max-parents=0", default.tips[0]).decode().split()[-1]


def _origin(git: Git) -> str | None:
    try:
        return next(iter(git.lines("config", "--get", "remote.origin.url")), None)
    except RepositoryError:
        return None
