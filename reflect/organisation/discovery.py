"""Repositories an organisation file does not list one by one: the clones below a folder."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, field_validator

from reflect.model import Value, digest
from reflect.scope.projects import project_id_for


class Discovery(Value):
    """`clones` are patterns of folders, relative to the file; `include` and `exclude` patterns of folder names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    clones: tuple[str, ...] = Field(min_length=1)
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()

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

    def found(self, base: Path, listed: frozenset[str]) -> Iterator[dict[str, Any]]:
        """The projects below `base`, sorted by folder, without the repositories that are `listed` (absolute paths).

        The id is the folder's name; where two folders share one, a digest of the place tells them apart.
        """
        places = sorted({path.resolve() for pattern in self.clones for path in _matching(base, pattern)})
        chosen = [place for place in places if self._wants(place.name) and str(place) not in listed]
        for place in chosen:
            yield {"id": _id(place, chosen), "repository": str(place)}

    def _wants(self, name: str) -> bool:
        return any(fnmatchcase(name, one) for one in self.include) and not any(
            fnmatchcase(name, one) for one in self.exclude
        )


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


def _id(place: Path, among: list[Path]) -> str:
    plain = project_id_for(place.name, "").rstrip("-")
    if sum(project_id_for(other.name, "").rstrip("-") == plain for other in among) == 1:
        return plain
    return project_id_for(place.name, digest(str(place)))
