"""Repositories an organisation file does not list one by one: clones below a folder, and what a forge lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, field_validator, model_validator

from reflect.model import Value, digest
from reflect.organisation.listing import ForgeOrganisation, Listed, repositories_of
from reflect.publish.policy import PublishPolicy
from reflect.scope.projects import project_id_for
from reflect.scope.vocabulary import ORGANISATION
from reflect.settings import Settings


class Discovery(Value):
    """`clones` are patterns of folders, relative to the file, `forges` organisations whose forge lists repositories.

    `include` and `exclude` are patterns of names: of the folder, or of the repository with or without its groups.
    `publish` and `tags` hold for every project that is found.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    clones: tuple[str, ...] = ()
    forges: tuple[ForgeOrganisation, ...] = ()
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    publish: PublishPolicy | None = None
    tags: tuple[str, ...] = ()

    @field_validator("clones")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            try:
                start, relative = _split(Path(), pattern)
                next(start.glob(relative), None)
            except (IndexError, RuntimeError, ValueError, NotImplementedError) as error:
                raise ValueError(f"{pattern!r} is no pattern of folders ({error})") from error
        return value

    @model_validator(mode="after")
    def _looks_somewhere(self) -> Discovery:
        if not self.clones and not self.forges:
            raise ValueError("names neither `clones` nor `forges`")
        return self

    def found(self, base: Path, listed: Mapping[str, str], settings: Settings) -> Iterator[dict[str, Any]]:
        """The projects below `base` and on the forges, sorted, without the repositories that are `listed` by their ids.

        The id is the folder's or the repository's name; where that is taken, a digest of the place tells them apart.
        Raises ConfigurationError where a forge cannot be asked and never could.
        """
        known = {_same(one) for one in listed.values()}
        places = sorted({path.resolve() for pattern in self.clones for path in _matching(base, pattern)})
        found = [_Found(place.name, str(place)) for place in places if self._wants(place.name)]
        found += [_Found(one.name, one.address) for one in self._on_forges(settings) if not one.left_out]
        chosen = [one for one in dict.fromkeys(found) if _same(one.repository) not in known]
        more: dict[str, Any] = {"tags": list(self.tags)}
        if self.publish is not None:
            more["publish"] = self.publish.model_dump(mode="json", exclude_defaults=True)
        named = Counter([ORGANISATION, *listed, *(one.plain for one in chosen)])
        for one in chosen:
            unique = one.plain if named[one.plain] == 1 else project_id_for(one.last, digest(one.repository))
            yield {"id": unique, "repository": one.repository, **more}

    def left_out(self, settings: Settings) -> dict[str, str]:
        """The repositories that a forge lists and that are no projects, each with the reason."""
        return {one.name: one.left_out for one in self._on_forges(settings) if one.left_out}

    def _on_forges(self, settings: Settings) -> list[Listed]:
        return [one for forge in self.forges for one in repositories_of(forge, settings) if self._wants(one.name)]

    def _wants(self, name: str) -> bool:
        names = (name, name.rpartition("/")[2])
        return any(fnmatchcase(one, pattern) for one in names for pattern in self.include) and not any(
            fnmatchcase(one, pattern) for one in names for pattern in self.exclude
        )


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    repository: str

    @property
    def last(self) -> str:
        return self.name.rpartition("/")[2]

    @property
    def plain(self) -> str:
        """The name as an id, without the digits that tell two of a name apart."""
        return project_id_for(self.last, None).rpartition("-")[0]


def _matching(base: Path, pattern: str) -> Iterator[Path]:
    start, relative = _split(base, pattern)
    for match in start.glob(relative):
        if (match / ".git").exists():
            yield match


def _split(base: Path, pattern: str) -> tuple[Path, str]:
    """Where to look, and the pattern from there. Raises ValueError or RuntimeError for what names no folder."""
    path = Path(pattern).expanduser()
    start = Path(path.anchor) if path.is_absolute() else base
    relative = path.relative_to(path.anchor)
    if not relative.parts or "\0" in pattern:
        raise ValueError("it names no folder below another")
    return start, str(relative)


def _same(repository: str) -> str:
    return repository.rstrip("/").removesuffix(".git")
