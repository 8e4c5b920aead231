"""Projects, and which of them a directory belongs to.

Unknown is unknown: no project is ever guessed from a name, a remote or a neighbouring folder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, field_validator

from reflect.configuration import Config
from reflect.errors import ConfigurationError
from reflect.model import ProjectId
from reflect.scope.places import is_filesystem_root, is_inside, located, main_tree
from reflect.scope.vocabulary import ORGANISATION

_PROJECT_ID_LENGTH = 64
_NO_COMMIT = "0" * 6


class Project(BaseModel):
    """One project an operator registered, or the one of a repository that stands alone.

    `workspace_roots` are absolute directories; the first is the repository's own. A project with memory switched off is
    still recognised, so that its sessions are not taken for a neighbour's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    project_id: ProjectId
    display_name: str = ""
    workspace_roots: tuple[str, ...] = Field(min_length=1)
    memory_enabled: StrictBool = True

    @field_validator("project_id")
    @classmethod
    def _not_reserved(cls, project_id: str) -> str:
        if project_id == ORGANISATION:
            raise ValueError("the id is kept for what belongs to the organisation as a whole")
        return project_id

    @field_validator("workspace_roots")
    @classmethod
    def _usable(cls, roots: tuple[str, ...]) -> tuple[str, ...]:
        for root in roots:
            place = located(root)
            if place is None:
                raise ValueError(f"{root!r} is not an absolute path")
            if is_filesystem_root(place):
                raise ValueError(f"{root!r} would hold every other project too")
        return roots


@dataclass(frozen=True, slots=True)
class Detected:
    """The project a directory belongs to, by its longest containing root."""

    project: Project
    root: PurePath


@dataclass(frozen=True)
class Registry:
    """Every project of an organisation.

    `worktrees` maps the top of each linked git worktree to the top of its repository's main work tree, as git's common
    directory says; with it a worktree anywhere on the disk counts as its repository. Two projects that claim one id or
    one root are a ConfigurationError: neither could be told apart. A directory is looked up once: the answer stands for
    as long as the registry does.
    """

    projects: tuple[Project, ...]
    worktrees: Mapping[Path, Path] = field(default_factory=dict)
    _roots: tuple[tuple[PurePath, Project], ...] = field(init=False, repr=False, compare=False)
    _trees: tuple[tuple[PurePath, PurePath], ...] = field(init=False, repr=False, compare=False)
    _answers: dict[str, Detected | None] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_trees", _deepest_first(_placed_worktrees(self.worktrees)))
        object.__setattr__(self, "_roots", _deepest_first(self._placed_roots()))

    @classmethod
    def parse(cls, entries: Iterable[Any], worktrees: Mapping[Path, Path] | None = None) -> Registry:
        """The registry of `entries` as an organisation file lists them.

        One malformed entry is a ConfigurationError that names it. It is not skipped: its directories would silently
        belong to the project around it.
        """
        projects = tuple(_parsed(number, entry) for number, entry in enumerate(entries, start=1))
        return cls(projects, worktrees or {})

    def project(self, project_id: str) -> Project | None:
        return next((known for known in self.projects if known.project_id == project_id), None)

    def detect(self, path: str | PurePath | None) -> Detected | None:
        """The project that `path` lies in, switched off or not; None where no root holds it or it is not absolute."""
        if path is None:
            return None
        written = str(path)
        if written not in self._answers:
            place = located(written)
            self._answers[written] = self._holding(place) if place is not None else None
        return self._answers[written]

    def _holding(self, place: PurePath) -> Detected | None:
        tree = self._main(place)
        return next((Detected(project, root) for root, project in self._roots if is_inside(tree, root)), None)

    def below(self, place: PurePath) -> tuple[Detected, ...]:
        """The roots strictly inside `place`, deepest first."""
        return tuple(
            Detected(project, root) for root, project in self._roots if root != place and is_inside(root, place)
        )

    def _main(self, place: PurePath) -> PurePath:
        for top, main in self._trees:
            if is_inside(place, top):
                return main_tree(main / place.relative_to(top))
        return main_tree(place)

    def _placed_roots(self) -> Iterable[tuple[PurePath, Project]]:
        ids: set[str] = set()
        owners: dict[PurePath, Project] = {}
        for project in self.projects:
            if project.project_id in ids:
                raise ConfigurationError(f"Two projects are called `{project.project_id}`; nothing was read.")
            ids.add(project.project_id)
            for root in project.workspace_roots:
                place = located(root)
                if place is None:
                    raise ConfigurationError(f"`{project.project_id}` has the root {root!r}, which cannot be resolved.")
                owner = owners.setdefault(self._main(place), project)
                if owner is not project:
                    raise ConfigurationError(
                        f"`{owner.project_id}` and `{project.project_id}` both claim the root {root!r}; "
                        "nothing was read."
                    )
        return owners.items()


def local_registry(
    top: Path, common_dir: Path, config: Config, *, root_commit: str | None, origin_url: str | None = None
) -> Registry:
    """The registry of one repository without an organisation file; `projects[0]` is its project.

    `top` is the work tree the caller stands in, `common_dir` git's common directory: a linked worktree is the
    repository it belongs to, under the same id.
    """
    main = common_dir.parent if common_dir.name == ".git" else top
    project = local_project(main, config, root_commit, name=repository_name(common_dir, origin_url))
    return Registry((project,), {} if main == top else {top: main})


def local_project(root: Path, config: Config, root_commit: str | None, *, name: str | None = None) -> Project:
    """The project of one repository without an organisation file.

    `root` is the top of its main work tree, also when the caller stands in a linked worktree. The id is the
    configuration's, else made of `name` (default: the folder's) and `root_commit`, and so the same on every machine
    that knows the repository by that name. Roots that the configuration adds are relative to `root` where they are
    not absolute.
    """
    name = name or main_tree(root).name
    added = tuple(_absolute(extra, root) for extra in config.workspace_roots)
    project_id = config.project_id or project_id_for(name, root_commit)
    entry = {"project_id": project_id, "display_name": name, "workspace_roots": (str(root), *added)}
    try:
        return Project.model_validate(entry)
    except ValidationError as error:
        raise ConfigurationError(
            f"The settings of {root} make no project: {_wrong(error)}; nothing was changed."
        ) from error


def project_id_for(name: str, root_commit: str | None) -> str:
    """`<name>-<first six digits of the root commit>`, so that two repositories called `api` are two projects.

    A repository without a commit ends in zeros. Letters beyond a to z are folded or left out.
    """
    suffix = (root_commit or _NO_COMMIT)[: len(_NO_COMMIT)].lower()
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9_]+", "-", folded).strip("-_")[: _PROJECT_ID_LENGTH - len(suffix) - 1].rstrip("-_")
    return f"{slug or 'repository'}-{suffix}"


def repository_name(common_dir: Path, origin_url: str | None) -> str:
    """What a repository is called: the last part of its origin, else the folder of its git directory.

    Never the folder of a worktree. `common_dir` is git's common directory.
    """
    if origin_url:
        place = re.sub(r"[\\/]\.git$", "", origin_url.split("?")[0].rstrip("/\\"))
        last = re.split(r"[\\/:]", place)[-1]
        if named := _without_suffix(last):
            return named
    folder = common_dir.parent.name if common_dir.name == ".git" else common_dir.name
    return _without_suffix(folder) or folder


def _without_suffix(name: str) -> str:
    return re.sub(r"\.(?:git|bundle)$", "", name)


def _absolute(extra: str, root: Path) -> str:
    return extra if located(extra) is not None else str(root / extra)


def _parsed(number: int, entry: Any) -> Project:
    try:
        return Project.model_validate(entry)
    except ValidationError as error:
        name = entry.get("project_id") if isinstance(entry, Mapping) else None
        called = f" ({name!r})" if name is not None else ""
        raise ConfigurationError(
            f"Project {number}{called} of the organisation cannot be used: {_wrong(error)}; no project was read."
        ) from error


def _wrong(error: ValidationError) -> str:
    return "; ".join(
        f"`{'.'.join(str(part) for part in item['loc'])}` is {item['input']!r}: {item['msg']}"
        for item in error.errors(include_url=False)
    )


def _placed_worktrees(worktrees: Mapping[Path, Path]) -> Iterable[tuple[PurePath, PurePath]]:
    placed = ((located(top), located(main)) for top, main in worktrees.items())
    return [(top, main) for top, main in placed if top is not None and main is not None]


def _deepest_first(places: Iterable[tuple[PurePath, Any]]) -> tuple[tuple[PurePath, Any], ...]:
    return tuple(sorted(places, key=lambda item: (-len(item[0].parts), str(item[0]))))
