"""An organisation's repositories as a night meets them: which have news, held one at a time, opened, written back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reflect.deadline import within
from reflect.errors import ConfigurationError, ReflectError, RepositoryError
from reflect.freshness import find_root, fresh
from reflect.ledger.leases import Lease
from reflect.ledger.ledger import Ledger
from reflect.model import digest
from reflect.organisation.clones import Clone
from reflect.organisation.file import Member, Organisation, load_organisation, why_missing
from reflect.organisation.nightly import Nightly
from reflect.publish.policy import PublishPolicy
from reflect.publish.publish import starting_point
from reflect.review.bench import Bench
from reflect.scope.projects import Registry
from reflect.settings import Settings
from reflect.wiki.lock import repository_lock
from reflect.workspace import Membership, Workspace

_NAMING_S = 5
"""How long a name is waited for: a repository that hangs is called by its id."""

_SETTLING_S = 5
"""How long a clone that another process looks at is waited for; one that a run holds stays held."""


@dataclass(frozen=True, slots=True)
class News:
    """Whether a project has something new. What could not be told counts as new: the run finds out, and says why."""

    project: str
    name: str
    is_new: bool
    last_run: str = ""
    unknown: str = ""  # why it could not be told


@dataclass(frozen=True)
class Estate:
    """One organisation, loaded once and never changed."""

    file: Path
    organisation: Organisation
    settings: Settings

    @classmethod
    def load(cls, path: Path | None = None) -> Estate:
        """The organisation that `path` describes, or REFLECT_ORGANISATION. Raises ConfigurationError."""
        settings = Settings.of_environment()
        file = path or settings.organisation
        if file is None:
            raise ConfigurationError(
                "No organisation file is named; nothing was started; set REFLECT_ORGANISATION or give `--organisation`."
            )
        file = file.absolute()
        organisation = load_organisation(file, settings)
        update: dict[str, Any] = {"state_dir": organisation.state_dir, "ledger_url": organisation.ledger}
        return cls(
            file, organisation, settings.model_copy(update={key: value for key, value in update.items() if value})
        )

    @property
    def name(self) -> str:
        return self.organisation.name

    @property
    def nightly(self) -> Nightly:
        return self.organisation.nightly

    @property
    def engine(self) -> str | None:
        return self.organisation.engine

    @property
    def projects(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.organisation.projects)

    @property
    def awake(self) -> tuple[str, ...]:
        """The projects that a night ingests: those whose memory is not switched off."""
        return tuple(member.id for member in self.organisation.projects if member.memory_enabled)

    @cached_property
    def left_out(self) -> dict[str, str]:
        """What a forge lists and is no project, by name: why each was left out."""
        discovery = self.organisation.discovery
        return {} if discovery is None else discovery.left_out(self.settings)

    @property
    def home(self) -> Path | None:
        """The folder of the organisation's own wiki, where the file names one."""
        return self.organisation.home

    @property
    def maintainers(self) -> dict[str, tuple[str, ...]]:
        """Who answers for each project's wiki; nobody listed is everybody."""
        return {member.id: member.maintainers for member in self.organisation.projects}

    def registry(self) -> Registry:
        """Every project of the organisation with its workspace roots."""
        return self._registry

    @cached_property
    def _registry(self) -> Registry:
        return Registry.parse(
            {
                "project_id": member.id,
                "workspace_roots": (str(self._root(member)), *member.workspace_roots),
                "memory_enabled": member.memory_enabled,
            }
            for member in self.organisation.projects
        )

    def workspace(self, project: str) -> Workspace | None:
        """The project's repository as a member of the organisation; None where it is not on this machine."""
        member, registry = self._member(project), self.registry()
        root, known = self._root(member), registry.project(project)
        if known is None or not root.is_dir():
            return None
        membership = Membership(
            registry=registry,
            project=known,
            organisation_home=self.home,
            branch=member.branch,
            trusted_authors=member.trusted_authors,
            bot_authors=member.bot_authors,
            caps=self.caps,
            overrides=member.overrides,
        )
        return Workspace.open(root, self.settings, membership=membership)

    @property
    def caps(self) -> dict[str, float]:
        """The most that models may cost; the night's own cap holds in the middle of a project too, as for any call."""
        caps = {} if self.organisation.caps is None else self.organisation.caps.model_dump()
        night = self.nightly.cap_usd
        return caps if night is None else {**caps, "night_usd": min(night, caps.get("night_usd", night))}

    def clone(self, project: str) -> Clone | None:
        """The managed clone of `project`; None where its repository is used in place."""
        member = self._member(project)
        if not member.is_remote:
            return None
        return Clone(member.repository, self.settings.state / "clones" / _folder(member), member.branch)

    def _root(self, member: Member) -> Path:
        """The work tree a run reads and writes, whether or not it is there yet."""
        clone = self.clone(member.id)
        return Path(member.repository) if clone is None else clone.tree

    def tags(self, project: str) -> tuple[str, ...]:
        """What runs of `project` are found by: the project, and the teams it belongs to."""
        return (f"project:{project}", *(f"team:{tag}" for tag in self._member(project).tags))

    def news(self, project: str) -> News:
        """Whether anything happened in `project` since its last run; the remote of a clone is asked."""
        if (clone := self.clone(project)) is not None:
            try:
                clone.fetch()
            except ReflectError as error:
                return News(project, self.label(project), is_new=True, unknown=str(error))
        root = find_root(self._root(self._member(project)))
        if root is None and clone is None:
            where = self._member(project).repository
            return News(project, project, is_new=True, unknown=f"{where} is not in a git work tree.")
        last = fresh(root) if root is not None else None
        if last is None:
            name, unknown = self._named(project)
            return News(project, name, is_new=True, unknown=unknown)
        return News(project, f"{project}@{last.last_git_sha}" if last.last_git_sha else project, False, last.run)

    def label(self, project: str) -> str:
        """`project@short-sha`, or the id alone where the repository cannot be read."""
        return self._named(project)[0]

    def _named(self, project: str) -> tuple[str, str]:
        """The label of `project`, and why its repository cannot be read, empty where it can."""
        try:
            with within(_NAMING_S):
                workspace = self.workspace(project)
        except ReflectError as error:
            return project, str(error)
        return (project if workspace is None else workspace.run_name), ""

    @contextmanager
    def opened(self, project: str) -> Iterator[Workspace]:
        """The project's workspace, with its repository's lock held. Raises RepositoryBusy where another run has it."""
        with ExitStack() as held:
            clone, policy = self.clone(project), self.publish_policy(project)
            if clone is not None:
                clone.fetch()
                held.enter_context(repository_lock(clone.lock, _SETTLING_S))
                clone.checked_out(lambda git, tip: starting_point(git, policy, tip))
            workspace = self.workspace(project)
            if workspace is None:
                raise RepositoryError(
                    f"{self._member(project).repository} is not a folder, so there is no repository of {project} to "
                    f"read; nothing was changed; correct `repository` in {self.file}."
                )
            if clone is None:
                held.enter_context(repository_lock(workspace.lock))
            yield workspace

    @contextmanager
    def lease(self, name: str, holder: str) -> Iterator[Lease]:
        """Hold `name`, a project or a night of this organisation, for `holder`.

        Raises RepositoryBusy where another one holds it.
        """
        with self.ledger() as ledger, ledger.lease(f"{self.name}/{name}", holder) as lease:
            yield lease

    def holders(self) -> frozenset[str]:
        """Who holds a lease now."""
        with self.ledger() as ledger:
            return ledger.lease_holders()

    def ledger(self) -> Ledger:
        return Ledger.open(self.settings.ledger)

    @contextmanager
    def bench(self, by: str, opened: Callable[[str], Workspace | None] | None = None) -> Iterator[Bench]:
        """The bench of the whole organisation for an operator called `by`; `opened` opens a project's repository."""
        with self.ledger() as ledger:
            yield Bench.of_organisation(
                ledger,
                self.registry(),
                opened or self.workspace,
                self.settings,
                by,
                home=self.home,
                maintainers=self.maintainers,
            )

    def waiting(self, project: str) -> int:
        """How many claims of `project` wait for an operator."""
        with self.ledger() as ledger:
            return ledger.waiting_claims(project)

    def publish_policy(self, project: str) -> PublishPolicy:
        """How the pages of `project` are written back."""
        return self._member(project).publish

    def unreachable(self, project: str) -> str:
        """Why the repository of `project` cannot be read now; empty where it can."""
        if (clone := self.clone(project)) is None:
            return why_missing(self._member(project))
        try:
            clone.fetch()
        except ReflectError as error:
            return str(error)
        return ""

    def require(self, project: str) -> str:
        """`project`, if it is one of this organisation's. Raises ConfigurationError."""
        self._member(project)
        return project

    def _member(self, project: str) -> Member:
        if (member := self.organisation.members.get(project)) is not None:
            return member
        raise ConfigurationError(
            f"The organisation {self.name} has no project {project!r}; nothing was started; it has "
            f"{', '.join(self.projects)}."
        )


def _folder(member: Member) -> str:
    """The id, and what tells its address: another organisation may use the id, or this one for another repository."""
    return f"{member.id}-{digest(member.repository)}"
