"""Everything a run needs to know about one repository, opened once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reflect.configuration import Caps, Config, Format, load_config, load_format
from reflect.errors import ConfigurationError, RepositoryError
from reflect.evidence.git import DefaultBranch, Git
from reflect.freshness import FOLDER
from reflect.ledger.ledger import Ledger
from reflect.model import digest
from reflect.scope.projects import Project, Registry, local_registry
from reflect.settings import Settings
from reflect.wiki.lock import repository_lock
from reflect.wiki.log import landed_runs
from reflect.wiki.paths import LOG
from reflect.wiki.store import Wiki


@dataclass(frozen=True)
class Membership:
    """What an organisation says of one of its repositories; it has the last word over the repository's own files.

    `trusted_authors` replace the repository's (None leaves them), `bot_authors` are added to its own, `caps`, by
    their names, only lower its own, and `overrides` are keys of `.reflect/config.yaml`.
    """

    registry: Registry
    project: Project
    organisation_home: Path | None = None
    branch: str | None = None
    trusted_authors: tuple[str, ...] | None = None
    bot_authors: tuple[str, ...] = ()
    caps: Mapping[str, float] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, config: Config) -> Config:
        """`config` as the organisation lets it stand. Raises ConfigurationError where an override cannot be used."""
        values = {**config.model_dump(), **self.overrides}
        if self.branch is not None:
            values["default_branch"] = self.branch
        if self.trusted_authors is not None:
            values["trusted_authors"] = self.trusted_authors
        values["bot_authors"] = tuple(dict.fromkeys((*values["bot_authors"], *self.bot_authors)))
        try:
            changed = Config.model_validate(values)
        except ValidationError as error:
            raise ConfigurationError(
                f"The organisation's settings of {self.project.project_id} cannot be used: {error.errors()[0]['msg']}."
            ) from error
        lower = {key: min(own, self.caps.get(key, own)) for key, own in changed.claude.caps.model_dump().items()}
        return changed.model_copy(update={"claude": changed.claude.model_copy(update={"caps": Caps(**lower)})})


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
    organisation_home: Path | None = None

    @classmethod
    def open(cls, path: Path, settings: Settings | None = None, *, membership: Membership | None = None) -> Workspace:
        """The repository around `path`, alone or as a member of an organisation.

        Raises RepositoryError where there is none and ConfigurationError where `.reflect/` cannot be used.
        """
        git = Git.open(path)
        folder = git.root / FOLDER
        config = load_config(folder)
        if membership is not None:
            return cls(
                git=git,
                folder=folder,
                config=(config := membership.applied(config)),
                format=load_format(folder),
                project=membership.project,
                registry=membership.registry,
                default=_default_of_member(git, config, membership),
                settings=settings or Settings.of_environment(),
                organisation_home=membership.organisation_home,
            )
        default = git.default_branch(config.default_branch)
        origin = _origin(git)
        registry = local_registry(
            git.root, git.common_dir, config, root_commit=_identity(git, default, origin), origin_url=origin
        )
        return cls(
            git=git,
            folder=folder,
            config=config,
            format=load_format(folder),
            project=registry.projects[0],
            registry=registry,
            default=default,
            settings=settings or Settings.of_environment(),
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
        return (self.wiki.content(LOG) or b"").decode("utf-8", "replace")

    def landed_runs(self) -> frozenset[str]:
        """The runs whose pages stand in this wiki."""
        return landed_runs(self.log_text())


def _default_of_member(git: Git, config: Config, membership: Membership) -> DefaultBranch:
    """The branch the organisation names before the one the remote does."""
    if membership.branch is None:
        return git.default_branch(config.default_branch)
    refs = git.refs("refs/heads", "refs/remotes")
    return git.default_branch(membership.branch, [ref for ref in refs if not ref.target])


def _identity(git: Git, default: DefaultBranch, origin: str | None) -> str | None:
    """What tells this repository from another of its name, in hex: the first commit of the default branch's history.

    A shallow clone does not reach back to it and is told by its origin: two of one name must not share a project.
    """
    if not default.tips:
        return None
    if git.is_shallow():
        return None if origin is None else digest(_place(origin))
    return git.store("rev-list", "--max-parents=0", default.tips[0]).decode().split()[-1]


def _place(origin: str) -> str:
    """`host/path` of an origin, however it is reached and by whom."""
    address = re.sub(r"^[a-z+]+://", "", origin.strip().rstrip("/"), flags=re.IGNORECASE)
    address = re.sub(r"^[^/@]+@", "", address)
    return re.sub(r"^([^/:]+):(?:\d+/)?/?", r"\1/", address).removesuffix(".git").casefold()


def _origin(git: Git) -> str | None:
    try:
        return next(iter(git.lines("config", "--get", "remote.origin.url")), None)
    except RepositoryError:
        return None
