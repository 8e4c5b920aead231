"""The repositories of an organisation as its forge lists them, asked over the REST API of GitHub or GitLab.

The last answer is kept below the state folder: every run of a night reads the organisation file, and a forge that
cannot be asked tonight must not keep a night from the repositories it listed before.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import ConfigDict, Field, StrictBool, ValidationError, field_validator

from reflect.errors import ConfigurationError, PublishError
from reflect.model import Value, digest
from reflect.publish.forge import Api, Kind, Place
from reflect.settings import Settings
from reflect.wiki.files import write_durably

logger = logging.getLogger("reflect.organisation")

FRESH_S = 900.0
"""For how long an answer is used without asking again: a night and its runs see one list."""

MOST_PAGES = 500

_PUBLIC = {"github": "https://api.github.com", "gitlab": "https://gitlab.com/api/v4"}
_CLONED = re.compile(r"(?:https?|ssh)://[^\s@]+(?:@[^\s@]+)?|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^\s:]+")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ForgeOrganisation(Value):
    """An organisation of GitHub or a group of GitLab, `api_url` where it is not the public one.

    Its repositories are cloned by `over`. Forks are left out unless `forks` says otherwise; archived and disabled ones
    always are, and empty ones where the forge says that they are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    forge: Kind
    organisation: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$")
    api_url: str | None = Field(default=None, pattern=r"^https?://[^@\s?#]+$")
    over: Literal["https", "ssh"] = "https"
    forks: StrictBool = False

    @field_validator("api_url")
    @classmethod
    def _keeps_the_token(cls, value: str | None) -> str | None:
        if value is not None and value.startswith("http:") and urlsplit(value).hostname not in _LOOPBACK:
            raise ValueError("a token would travel in the clear; use https")
        return value

    @property
    def place(self) -> Place:
        return Place(self.forge, (self.api_url or _PUBLIC[self.forge]).rstrip("/"), self.organisation)


class Listed(Value):
    """One repository; `name` is its path below the organisation, `left_out` why it is no project, if it is none."""

    name: str
    address: str
    left_out: str = ""


class Listing(Value):
    """What a forge answered."""

    repositories: tuple[Listed, ...]


def repositories_of(organisation: ForgeOrganisation, settings: Settings) -> tuple[Listed, ...]:
    """The repositories of `organisation`, by name: as the forge lists them, or listed them where it gives no answer.

    Raises ConfigurationError where it gives none and never gave one.
    """
    kept = settings.state / "discovery" / f"{digest(organisation.model_dump_json())}.json"
    known = _kept(kept)
    if known is not None and time.time() - kept.stat().st_mtime < FRESH_S:
        return known.repositories
    secret = settings.token_for(organisation.forge)
    api = Api(organisation.place, secret.get_secret_value() if secret is not None else None)
    try:
        listing = Listing(repositories=tuple(sorted(_listed(organisation, api), key=lambda one: one.name)))
    except PublishError as error:
        if known is None:
            raise ConfigurationError(
                f"The repositories of {organisation.organisation} could not be listed: {error}"
            ) from error
        logger.warning("discovery: %s; its last list of repositories is used", error)
        return known.repositories
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_durably(kept, listing.model_dump_json().encode())
    return listing.repositories


def _kept(file: Path) -> Listing | None:
    try:
        return Listing.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def _listed(organisation: ForgeOrganisation, api: Api) -> Iterator[Listed]:
    is_github, name = organisation.forge == "github", quote(organisation.organisation, safe="")
    path = f"/orgs/{name}/repos" if is_github else f"/groups/{name}/projects"
    query = {"type": "all"} if is_github else {"include_subgroups": "true", "with_shared": "false"}
    for row in api.pages(path, query, MOST_PAGES):
        try:
            yield (_of_github if is_github else _of_gitlab)(row, organisation)
        except (KeyError, TypeError, AttributeError, ValidationError) as error:
            host = urlsplit(organisation.place.api).netloc
            raise PublishError(f"{host} listed a repository in a form that is not known.") from error


def _of_github(row: Any, of: ForgeOrganisation) -> Listed:
    reasons = {
        "archived": row.get("archived"),
        "disabled": row.get("disabled"),
        "a fork": row.get("fork") and not of.forks,
    }
    return _one(row["name"], row["clone_url" if of.over == "https" else "ssh_url"], reasons)


def _of_gitlab(row: Any, of: ForgeOrganisation) -> Listed:
    reasons = {
        "archived": row.get("archived"),
        "to be deleted": row.get("marked_for_deletion_at") or row.get("marked_for_deletion_on"),
        "disabled": row.get("repository_access_level") == "disabled",
        "empty": row.get("empty_repo"),
        "a fork": row.get("forked_from_project") and not of.forks,
    }
    name = row["path_with_namespace"].removeprefix(f"{of.organisation}/")
    return _one(name, row["http_url_to_repo" if of.over == "https" else "ssh_url_to_repo"], reasons)


def _one(name: str, address: str, reasons: dict[str, Any]) -> Listed:
    if not _CLONED.fullmatch(address):
        reasons = {"without an address that can be cloned": True}
    return Listed(name=name, address=address, left_out=", ".join(reason for reason, holds in reasons.items() if holds))
