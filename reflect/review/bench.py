"""Where an operator works: whose queues are open, which repositories are at hand, and who decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reflect.errors import ConfigurationError, RepositoryError, ScopeError
from reflect.evidence.git import Git
from reflect.evidence.inventory import take_inventory
from reflect.ledger.ledger import Ledger
from reflect.pipeline.approved import Destination
from reflect.pipeline.recovery import finish_interrupted
from reflect.scope.projects import Registry
from reflect.scope.vocabulary import ORGANISATION
from reflect.settings import Settings
from reflect.wiki.landing import recover
from reflect.wiki.lock import repository_lock
from reflect.wiki.scaffold import scaffold
from reflect.wiki.store import WikiState
from reflect.workspace import Workspace


@dataclass(frozen=True)
class Bench:
    """One operator's place of work.

    `projects` are those whose queue is open here, ORGANISATION among them where its own is. `opened` gives a project's
    repository where this machine has it, else None. `maintainers` lists, by project, who may put something into its
    wiki; nobody listed is everybody.
    """

    ledger: Ledger
    registry: Registry
    projects: tuple[str, ...]
    opened: Callable[[str], Workspace | None]
    organisation: Destination
    by: str
    at: datetime
    maintainers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _repositories: dict[str, Workspace | None] = field(init=False, repr=False, compare=False, default_factory=dict)
    _contents: dict[str, Mapping[str, str]] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def of_repository(cls, workspace: Workspace, ledger: Ledger, by: str) -> Bench:
        """The bench of one repository that stands alone."""
        own = workspace.project.project_id
        return cls(
            ledger=ledger,
            registry=workspace.registry,
            projects=(own,),
            opened=lambda project: workspace if project == own else None,
            organisation=Destination.of_organisation(workspace.settings),
            by=by,
            at=workspace.settings.now(),
        )

    @classmethod
    def of_organisation(
        cls,
        ledger: Ledger,
        registry: Registry,
        opened: Callable[[str], Workspace | None],
        settings: Settings,
        by: str,
        *,
        home: Path | None = None,
        maintainers: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Bench:
        """The bench of a whole organisation: every project's queue and the organisation's own."""
        return cls(
            ledger=ledger,
            registry=registry,
            projects=(*(project.project_id for project in registry.projects), ORGANISATION),
            opened=opened,
            organisation=Destination.of_organisation(settings, home),
            by=by,
            at=settings.now(),
            maintainers=maintainers or {},
        )

    def repository(self, project: str) -> Workspace | None:
        """The repository of `project`; None where it is not on this machine or cannot be opened."""
        if project not in self._repositories:
            try:
                self._repositories[project] = self.opened(project)
            except RepositoryError:
                self._repositories[project] = None
        return self._repositories[project]

    def destination(self, project: str) -> Destination | None:
        """The wiki of `project`, or of the organisation; None where it is not on this machine."""
        if project == ORGANISATION:
            return self.organisation
        workspace = self.repository(project)
        return None if workspace is None else Destination.of_repository(workspace)

    def contents(self, project: str) -> Mapping[str, str] | None:
        """The content hash of every session and commit that exists in the repository of `project`, read once."""
        workspace = self.repository(project)
        if workspace is None:
            return None
        if project not in self._contents:
            found = take_inventory(workspace.git, workspace.default).contents
            self._contents[project] = {str(name): content for name, content in found.items()}
        return self._contents[project]

    def wiki(self, project: str) -> WikiState | None:
        place = self.destination(project)
        return None if place is None else place.wiki.read()

    @contextmanager
    def held(self, place: Destination) -> Iterator[None]:
        """Hold `place` for writing, what was interrupted there finished first. Raises RepositoryBusy where it is."""
        with repository_lock(place.lock):
            scaffold(place.folder)
            workspace = None if place.project_id == ORGANISATION else self.repository(place.project_id)
            if workspace is not None:
                finish_interrupted(workspace)
            elif (left := recover(place.folder, journal=place.journal)) is not None:
                left.finish()
            yield

    def require_authority(self, project: str) -> None:
        """Raise ScopeError where others than this operator answer for the wiki of `project`."""
        listed = self.maintainers.get(project, ())
        names = {part.strip(" >").casefold() for part in (self.by, *self.by.split("<"))}
        if listed and names.isdisjoint(name.casefold() for name in listed):
            raise ScopeError(
                f"{self.by} does not answer for `{project}` ({', '.join(listed)} do); nothing was changed."
            )


def git_user(git: Git) -> str:
    """`Name <address>` as git knows the person here. Raises ConfigurationError where it knows nobody."""
    name, address = (_configured(git, key) for key in ("user.name", "user.email"))
    said = f"{name} <{address}>" if name and address else name or address
    if not said:
        raise ConfigurationError(
            "Nobody is named as the one who decides; nothing was changed; pass `--by NAME` or set git's user.name."
        )
    return said


def _configured(git: Git, key: str) -> str:
    try:
        return next(iter(git.lines("config", "--get", key)), "").strip()
    except RepositoryError:
        return ""
