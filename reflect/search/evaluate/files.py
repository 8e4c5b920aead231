"""The two files an evaluation reads: probes (JSON lines) and questions with their answers (YAML)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from reflect.errors import ConfigurationError

_Id = Annotated[str, Field(min_length=1, pattern=r"\S")]


class Probe(BaseModel):
    """One question asked from a workspace, with what it must find, and what it must not.

    `workspace` is a directory, or None for a question that belongs to no project. An id is a page's path, a session's
    or a commit's id, with `project:` before it where two projects have the same.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: _Id
    workspace: str | None = None
    expected_fact_id: _Id | None = None
    expected_excluded_fact_ids: tuple[_Id, ...] = ()
    notes: str = ""
    where: str = ""

    @model_validator(mode="after")
    def _expects_something(self) -> Probe:
        if self.expected_fact_id is None and not self.expected_excluded_fact_ids:
            raise ValueError("it expects nothing: give expected_fact_id or expected_excluded_fact_ids")
        return self


class Question(BaseModel):
    """A question and the pages that answer it, any of which will do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: _Id
    pages: Annotated[tuple[_Id, ...], Field(min_length=1)]


def read_probes(file: Path) -> tuple[Probe, ...]:
    """The probes of `file`; lines that begin with `#` are notes. Raises ConfigurationError that names file and line."""
    probes: list[Probe] = []
    for number, line in enumerate(_text(file).splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            written = json.loads(line)
            if not isinstance(written, dict):
                raise ValueError(f"{line.strip()[:40]!r} is no object")
            probes.append(Probe.model_validate({**written, "where": f"{file.name}:{number}"}))
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"{file}:{number}: {_reason(error)}; nothing was evaluated.") from error
    if not probes:
        raise ConfigurationError(f"{file} holds no probe; nothing was evaluated.")
    return tuple(probes)


def read_questions(file: Path) -> tuple[Question, ...]:
    """The questions of `file`. Raises ConfigurationError that names the file and what is wrong."""
    try:
        found = TypeAdapter(tuple[Question, ...]).validate_python(yaml.safe_load(_text(file)))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}: {_reason(error)}; nothing was evaluated.") from error
    if not found:
        raise ConfigurationError(f"{file} holds no question; nothing was evaluated.")
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} cannot be read ({error}); nothing was evaluated.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(_one(item) for item in error.errors(include_url=False))
    return " ".join(str(error).split())


def _one(item: Any) -> str:
    place = ".".join(str(part) for part in item["loc"])
    return f"`{place}`: {item['msg']}" if place else str(item["msg"])
