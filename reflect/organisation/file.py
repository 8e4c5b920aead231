"""The organisation file: what an operator says of an organisation, checked as a whole before anything is started."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from pydantic import ConfigDict, Field, StrictBool, ValidationError, field_validator

from reflect.configuration import Caps, Config
from reflect.errors import ConfigurationError
from reflect.evidence.git import without_credentials
from reflect.evidence.redaction import Redactor
from reflect.model import ProjectId, Value
from reflect.organisation.discovery import Discovery
from reflect.organisation.nightly import Nightly
from reflect.publish.policy import PublishMode, PublishPolicy
from reflect.scope.places import is_filesystem_root, located
from reflect.scope.vocabulary import ORGANISATION
from reflect.settings import Settings

Path_ = tuple[str | int, ...]

_URL = re.compile(r"(?:https?|ssh|git|file)://\S+|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:\S+")
_LONGEST_USER = 20
"""A name before the host that is as long is a token: hosts take one there."""

_TRANSPORT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::?(?://|\S)")


class _Strict(Value):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Member(_Strict):
    """One project. `repository` is an absolute path after loading, or the address of a remote that is cloned.

    `overrides` are keys of `.reflect/config.yaml` in which the organisation has the last word.
    """

    id: ProjectId
    repository: str = Field(min_length=1)
    branch: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$")
    tags: tuple[str, ...] = ()
    workspace_roots: tuple[str, ...] = ()
    memory_enabled: StrictBool = True
    maintainers: tuple[str, ...] = ()
    trusted_authors: tuple[str, ...] | None = None
    bot_authors: tuple[str, ...] = ()
    publish: PublishPolicy = PublishPolicy()
    overrides: dict[str, Any] = Field(default_factory=dict)

    @field_validator("id")
    @classmethod
    def _not_reserved(cls, value: str) -> str:
        if value == ORGANISATION:
            raise ValueError("this id is kept for what belongs to the organisation as a whole")
        return value

    @field_validator("repository")
    @classmethod
    def _reachable(cls, value: str) -> str:
        return checked_address(value)

    @field_validator("overrides")
    @classmethod
    def _of_the_configuration(cls, value: dict[str, Any]) -> dict[str, Any]:
        if unknown := sorted(set(value) - (set(Config.model_fields) - {"project_id"})):
            raise ValueError(f"{', '.join(unknown)}: no such setting of .reflect/config.yaml, or not one to override")
        try:
            Config.model_validate(value)
        except ValidationError as error:
            raise ValueError(
                "; ".join(f"{_key(item['loc'])} {_in_words(item)}" for item in error.errors(include_url=False))
            ) from error
        return value

    @property
    def is_remote(self) -> bool:
        """Whether the repository is cloned, instead of used where it lies."""
        return is_address(self.repository)


class Organisation(_Strict):
    """An organisation as its file describes it. Paths are absolute once the file is loaded."""

    name: str = Field(min_length=1, max_length=200)
    home: Path | None = None
    state_dir: Path | None = None
    ledger: str | None = None
    engine: str | None = None
    caps: Caps | None = None
    nightly: Nightly = Nightly()
    discovery: Discovery | None = None
    projects: tuple[Member, ...] = ()

    @cached_property
    def members(self) -> Mapping[str, Member]:
        return {member.id: member for member in self.projects}


def is_address(repository: str) -> bool:
    """Whether `repository` names a remote (`https://…`, `ssh://…`, `git@host:path`) and not a folder."""
    return _URL.fullmatch(repository) is not None


def checked_address(repository: str) -> str:
    """`repository`, if git may be given it. Raises ValueError; a password in it is not repeated."""
    if is_address(repository):
        if "://" in repository:
            _check_credentials(repository)
        return repository
    if repository.startswith("-") or _TRANSPORT.match(repository):
        raise ValueError("neither a path nor an http, https, ssh, git or file address")
    return repository


def _check_credentials(address: str) -> None:
    parts = urlsplit(address)
    _ = parts.port  # ValueError where it is no number
    is_token = len(parts.username or "") >= _LONGEST_USER or bool(Redactor().finds(address))
    if parts.password is not None or parts.query or (parts.scheme.startswith("http") and is_token):
        raise ValueError("an address holds no password or token; set REFLECT_GIT_TOKEN or use git's credential helper")


def load_organisation(file: Path, settings: Settings | None = None) -> Organisation:
    """The organisation that `file` describes. Raises ConfigurationError that lists everything wrong, by line and key.

    Whether the repositories can be read is not asked here (`why_missing` does): a night goes on without one that is
    gone. A forge is asked what it lists, with the token of `settings`, the environment's where none are given.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        written = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} cannot be used: {_unreadable(error)}; nothing was started.") from error
    if node is None or not isinstance(written, dict):
        raise ConfigurationError(f"{file} cannot be used: it holds no mapping of settings; nothing was started.")
    try:
        lines, repeated = _lines(node)
    except RecursionError as error:
        raise ConfigurationError(f"{file} cannot be used: it holds itself; nothing was started.") from error
    wrong = [(line, key, "is given twice") for line, key in repeated]
    resolved = _resolved(written, file.parent)
    if isinstance(resolved.get("discovery"), dict) and not repeated:
        try:
            resolved = _with_discovered(resolved, file, settings or Settings.of_environment())
        except ConfigurationError as error:
            wrong.append((_line(lines, ("discovery", "forges")), "discovery.forges", str(error)))
    organisation: Organisation | None = None
    try:
        organisation = Organisation.model_validate(resolved)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            wrong.append((_line(lines, item["loc"]), _key(item["loc"]), _in_words(item)))
    wrong += [(_line(lines, place), _key(place), what) for place, what in _conflicts(resolved)]
    if wrong or organisation is None:
        listed = "\n".join(f"  {file}:{line}: {key}: {what}" for line, key, what in sorted(set(wrong)))
        raise ConfigurationError(f"{file} cannot be used; nothing was started:\n{listed}")
    return organisation


def why_missing(member: Member) -> str:
    """Why the repository of `member` is not where the file says; empty where it is, and for a remote."""
    place = Path(member.repository)
    if member.is_remote or (place / ".git").exists() or (place / "HEAD").is_file():
        return ""
    return f"{member.repository} is no git repository"


def _conflicts(written: Mapping[str, Any]) -> Iterator[tuple[Path_, str]]:
    """What is wrong between projects, also where single values are wrong too."""
    projects = written.get("projects")
    if not isinstance(projects, list | tuple):
        projects = []
    if not projects and not written.get("discovery"):
        yield ("projects",), "names no project, and nothing is discovered"
    ids: dict[str, int] = {}
    roots: dict[Any, str] = {}
    for number, project in enumerate(projects):
        if not isinstance(project, dict):
            continue
        name = str(project.get("id"))
        if "id" in project and ids.setdefault(name, number) != number:
            yield ("projects", number, "id"), f"{_told(name)} is the id of project {ids[name] + 1} too"
        yield from _roots(number, name, project, roots)
        yield from _unworkable(number, project)


def _roots(number: int, name: str, project: Mapping[str, Any], owners: dict[Any, str]) -> Iterator[tuple[Path_, str]]:
    repository, listed = project.get("repository"), project.get("workspace_roots") or ()
    claimed: list[tuple[Path_, str]] = []
    if isinstance(repository, str):
        claimed.append((("projects", number, "repository"), repository))
    if isinstance(listed, Sequence) and not isinstance(listed, str):
        claimed += [(("projects", number, "workspace_roots", n), root) for n, root in enumerate(listed)]
    for place, root in claimed:
        if not isinstance(root, str):
            continue
        where: Any = root.rstrip("/").removesuffix(".git") if is_address(root) else located(root)
        if where is None:
            continue
        if not is_address(root) and is_filesystem_root(where):
            yield place, f"{_told(root)} would hold every other project too"
        elif owners.setdefault(where, f"{name}#{number}") != f"{name}#{number}":
            yield place, f"{_told(root)} belongs to {owners[where].rsplit('#', 1)[0]!r} already"


def _unworkable(number: int, project: Mapping[str, Any]) -> Iterator[tuple[Path_, str]]:
    policy, repository = project.get("publish"), project.get("repository")
    if not isinstance(policy, dict) or not isinstance(repository, str):
        return
    mode, place = policy.get("mode", PublishMode.NONE), ("projects", number, "publish", "mode")
    if mode == PublishMode.COMMIT and is_address(repository):
        yield place, "a commit in a managed clone reaches nobody; use `push`, `pull-request` or `none`"
    if mode == PublishMode.PULL_REQUEST and repository.startswith("file://"):
        yield place, "a repository on this disk has no forge to open a pull request at"


def _resolved(written: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The same with its relative paths made absolute, from the file's own folder."""
    resolved = {**written}
    for key in ("home", "state_dir"):
        if isinstance(resolved.get(key), str):
            resolved[key] = str(_absolute(resolved[key], base))
    if isinstance(resolved.get("projects"), list):
        resolved["projects"] = [_resolved_member(one, base) for one in resolved["projects"]]
    return resolved


def _resolved_member(one: Any, base: Path) -> Any:
    if not isinstance(one, dict):
        return one
    repository, roots = one.get("repository"), one.get("workspace_roots")
    update: dict[str, Any] = {}
    if isinstance(repository, str) and repository and not is_address(repository) and not _TRANSPORT.match(repository):
        update["repository"] = str(_absolute(repository, base))
    if isinstance(roots, list):
        update["workspace_roots"] = [
            str(_absolute(root, base)) if isinstance(root, str) and located(root) is None else root for root in roots
        ]
    return {**one, **update}


def _absolute(path: str, base: Path) -> Path:
    return Path(str((base / Path(path).expanduser()).absolute())).resolve()


def _with_discovered(written: Mapping[str, Any], file: Path, settings: Settings) -> dict[str, Any]:
    """The same with the repositories that its `discovery` finds and it does not list itself."""
    try:
        discovery = Discovery.model_validate(written["discovery"])
    except ValidationError:
        return {**written}  # told with everything else that is wrong
    listed = [one for one in written.get("projects") or () if isinstance(one, dict)]
    if isinstance(state := written.get("state_dir"), str):
        settings = settings.model_copy(update={"state_dir": Path(state)})
    found = discovery.found(file.parent, {str(one.get("id")): str(one.get("repository")) for one in listed}, settings)
    return {**written, "projects": [*(written.get("projects") or ()), *found]}


def _lines(node: yaml.Node) -> tuple[dict[Path_, int], list[tuple[int, str]]]:
    """The line of every key and item, from 1, and the keys that one mapping holds twice."""
    lines: dict[Path_, int] = {}
    repeated: list[tuple[int, str]] = []

    def walk(node: yaml.Node, path: Path_) -> None:
        lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                place = (*path, str(key.value))
                if place in lines:
                    repeated.append((key.start_mark.line + 1, _key(place)))
                lines[place] = key.start_mark.line + 1
                walk(value, place)
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                walk(item, (*path, number))

    walk(node, ())
    return lines, repeated


def _line(lines: Mapping[Path_, int], place: Path_) -> int:
    while place not in lines:
        place = place[:-1]
    return lines[place]


def _key(place: Path_) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".") or "the file"


def _in_words(item: Any) -> str:
    """What is wrong with a value. What holds other values, or could be a secret, is not repeated."""
    message = item["msg"].removeprefix("Value error, ")
    if item["type"] in ("extra_forbidden", "missing"):
        return {"extra_forbidden": "no such setting", "missing": "is missing"}[item["type"]]
    told = "" if "password" in message else _told(item["input"])
    return f"is {told}: {message}" if told else message


def _told(value: Any) -> str:
    """`value` as it stands in an error, without what could be a secret; empty for what holds other values."""
    if isinstance(value, str):
        return repr(Redactor().redact(without_credentials(value))[:200])
    return repr(value) if value is None or isinstance(value, bool | int | float | date) else ""


def _unreadable(error: Exception) -> str:
    """Why a file is no YAML, without the lines that YAML's own words repeat."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())
