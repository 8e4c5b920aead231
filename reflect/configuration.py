"""`.reflect/format.yaml` and `.reflect/config.yaml`, parsed once and frozen.

Source: sections 3 and 9 of the `.reflect/` specification; unknown keys are kept out of the way, never an error, because
other tools write these files too. A value that cannot be used is an error that names file, key and value.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator, model_validator

from reflect.errors import ConfigurationError
from reflect.model import ProjectId, digest

FORMAT_FILE = "format.yaml"
CONFIG_FILE = "config.yaml"

_F = TypeVar("_F", bound="_File")

_KNOWN_CATEGORIES = (
    ("decision", "decisions"),
    ("gotcha", "gotchas"),
    ("pitfall", "pitfalls"),
    ("open work", "open-work"),
    ("pattern", "patterns"),
    ("preference", "preferences"),
    ("architecture", "architecture"),
)
"""Words in a section's name that mean one of the folders the specification lays out."""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class FormatSection(_File):
    """One seed category."""

    name: str = Field(min_length=1)
    purpose: str = ""
    max_bullets: int = Field(default=8, ge=1)
    recency: str = Field(default="30d", pattern=r"^\d{1,4}d$")
    entry_fields: tuple[str, ...] = ()

    @property
    def recency_days(self) -> int:
        return int(self.recency[:-1])


class Format(_File):
    """The seed categories of a wiki. `categories` pairs each section with its folder, without collisions."""

    sections: tuple[FormatSection, ...] = ()
    citations: str = "required"
    max_lines: int = Field(default=150, ge=20)

    @field_validator("sections", mode="before")
    @classmethod
    def _none_is_empty(cls, value: Any) -> Any:
        return value or ()

    @property
    def categories(self) -> dict[str, FormatSection]:
        taken: dict[str, FormatSection] = {}
        for section in self.sections:
            slug = category_slug(section.name)
            if slug in taken:
                slug = slugify(section.name)
            if slug in taken:
                slug = f"{slug}-{digest(section.name)[:6]}"
            taken[slug] = section
        return taken


class TokenPrice(_File):
    """USD per million tokens. Reading a cache costs a tenth of input where nothing else is said."""

    input: FiniteFloat = Field(ge=0)
    output: FiniteFloat = Field(ge=0)
    cache_read: FiniteFloat | None = Field(default=None, ge=0)


class ModelPrice(TokenPrice):
    """The price of one model; `above` holds for a request that sends more than `tokens`."""

    tokens: int | None = Field(default=None, ge=1)
    above: TokenPrice | None = None


class Caps(_File):
    """The most, in USD, that one call, one repository in a night, and a whole night may cost."""

    call_usd: FiniteFloat = Field(default=0.10, ge=0)
    repository_usd: FiniteFloat = Field(default=0.50, ge=0)
    night_usd: FiniteFloat = Field(default=5.0, ge=0)


_PROFILES = {
    "cheap": {"reflect": "claude-haiku-5-5", "plan": "claude-haiku-5-5", "write": "claude-haiku-5-5"},
    "default": {"reflect": "claude-haiku-5-5", "plan": "claude-haiku-5-5", "write": "claude-sonnet-5-5"},
}
_EFFORTS = {"reflect": "low", "plan": "low", "write": "medium"}


class ClaudeConfig(_File):
    """How the `claude` engine asks. `models` and `effort` change a profile per purpose; an empty effort is not sent.

    Where it asks is not said here: whoever can write a repository's configuration could have the key sent to them.
    """

    profile: str = Field(default="default", pattern="^(cheap|default)$")
    models: dict[str, str] = Field(default_factory=dict)
    effort: dict[str, str] = Field(default_factory=dict)
    caps: Caps = Caps()
    prices: dict[str, ModelPrice] = Field(default_factory=dict)
    mode: str = Field(default="live", pattern="^(live|batch)$")
    provider: str = Field(default="anthropic", pattern="^(anthropic|bedrock|vertex)$")
    region: str | None = Field(default=None, pattern=r"^[a-z0-9-]+$")
    project: str | None = Field(default=None, pattern=r"^[a-z0-9:.-]+$")
    deadline_s: FiniteFloat = Field(default=180.0, gt=0)
    retries: int = Field(default=4, ge=0, le=10)
    prefilter: bool = False

    @field_validator("models", "effort")
    @classmethod
    def _of_a_purpose(cls, value: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(set(value) - set(_EFFORTS)):
            raise ValueError(f"{', '.join(unknown)}: the purposes are {', '.join(_EFFORTS)}")
        return value

    @model_validator(mode="after")
    def _batches_have_a_provider(self) -> ClaudeConfig:
        if self.mode == "batch" and self.provider != "anthropic":
            raise ValueError(f"{self.provider} takes no batches: `mode: batch` needs `provider: anthropic`")
        return self

    @property
    def model_of(self) -> dict[str, str]:
        """The model of each purpose."""
        return {**_PROFILES[self.profile], **self.models}

    @property
    def effort_of(self) -> dict[str, str]:
        """The effort of each purpose; empty where none is sent."""
        return {**_EFFORTS, **self.effort}


class Config(_File):
    """Operational choices of one repository."""

    project_id: ProjectId | None = None
    default_branch: str | None = None
    max_lines: int = Field(default=150, ge=20)
    session_start: str = Field(default="auto", pattern="^(auto|manual)$")
    engine: str = "extractive"
    max_new_pages: int = Field(default=40, ge=0)
    seed_commits: int = Field(default=1000, ge=0)
    trusted_authors: tuple[str, ...] = ()
    bot_authors: tuple[str, ...] = ()
    workspace_roots: tuple[str, ...] = ()
    redact: tuple[str, ...] = ()
    weights: dict[str, FiniteFloat] = Field(default_factory=dict)
    claude: ClaudeConfig = ClaudeConfig()

    @field_validator("redact")
    @classmethod
    def _patterns_compile(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression ({error})") from error
        return value


DEFAULT_FORMAT = """\
# What this wiki gathers. Sections seed the categories; new categories appear when sessions ask for them.
sections:
  - name: Key Decisions & Rationale
    purpose: why things are the way they are, not what they are
    max_bullets: 8
    recency: 30d

  - name: Gotchas & Friction
    purpose: things that burned time or surprised the agent
    max_bullets: 6
    recency: 14d

  - name: Open Work
    purpose: unfinished items a new session should pick up
    max_bullets: 5
    recency: 7d

  - name: Critical Pitfalls
    purpose: agent mistakes, reverted work, and failed approaches
    max_bullets: 8
    recency: 90d

citations: required
max_lines: 150
"""


def load_format(folder: Path) -> Format:
    """The format of the wiki in `folder` (`.reflect/`); the default where there is no file."""
    path = folder / FORMAT_FILE
    written = _written(path)
    return _validated(Format, _mapping(DEFAULT_FORMAT.encode() if written is None else written, path), path)


def load_config(folder: Path) -> Config:
    """The configuration in `folder` (`.reflect/`); the defaults where there is no file."""
    path = folder / CONFIG_FILE
    return _validated(Config, _mapping(_written(path) or b"", path), path)


def category_slug(name: str) -> str:
    """The folder for a section called `name`: one the specification knows, else its own slug in its own script."""
    folded = name.casefold()
    for word, slug in _KNOWN_CATEGORIES:
        if word in folded:
            return slug
    return slugify(name)


def slugify(text: str, limit: int = 60) -> str:
    """A safe file or folder name for `text`: letters and digits of any script, lower case, joined by hyphens.

    Text without a letter or digit, and text that had to be cut, gets a digest, so that two texts never share a slug
    only because they were shortened.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())
    slug = re.sub(r"[^\w]+|_+", "-", folded).strip("-")
    if not slug:
        return f"x-{digest(text)[:8]}"
    if len(slug) > limit or len(slug.encode()) > 2 * limit:
        cut = slug.encode()[: 2 * limit].decode("utf-8", "ignore")[:limit]
        return f"{cut.rsplit('-', 1)[0] if '-' in cut else cut}-{digest(text)[:6]}"
    return slug


def _written(path: Path) -> bytes | None:
    """The bytes of the file at `path`, None where there is none. No link is followed, and no pipe waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = "it is a symbolic link" if path.is_symlink() else error.strerror
        raise ConfigurationError(f"{path} cannot be read ({reason}); nothing was changed.") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ConfigurationError(f"{path} is not a regular file; nothing was changed; put a file there.")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def _mapping(written: bytes, path: Path) -> dict[str, Any]:
    try:
        loaded = yaml.safe_load(written.decode("utf-8-sig"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ConfigurationError(f"{path} is not readable YAML ({reason}); nothing was changed.") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        kind = type(loaded).__name__
        raise ConfigurationError(f"{path} holds a {kind} where a mapping of settings is needed; nothing was changed.")
    return loaded


def _validated(kind: type[_F], loaded: Any, path: Path) -> _F:
    try:
        return kind.model_validate(loaded)
    except ValidationError as error:
        wrong = "; ".join(
            f"`{'.'.join(str(part) for part in item['loc'])}` is {item['input']!r}: {item['msg']}"
            for item in error.errors(include_url=False)
        )
        raise ConfigurationError(f"{path} cannot be used: {wrong}; nothing was changed.") from error
