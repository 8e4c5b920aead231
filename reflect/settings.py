"""Settings of this machine: where state lives and what the clock says. The only place that reads the environment."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from reflect.errors import ConfigurationError


class Settings(BaseSettings):
    """`REFLECT_STATE_DIR`, `REFLECT_LEDGER_URL`, `REFLECT_QMD_DIR`, `REFLECT_QMD_MODEL`,
    `REFLECT_ORGANISATION`, `REFLECT_GIT_TOKEN`, `XDG_STATE_HOME`, `SOURCE_DATE_EPOCH`,
    `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`."""

    model_config = SettingsConfigDict(env_prefix="REFLECT_", env_ignore_empty=True, frozen=True, populate_by_name=True)

    state_dir: Path | None = None
    ledger_url: str | None = None
    organisation: Path | None = None
    git_token: SecretStr | None = None  # read by git's helper from the environment, never by us
    xdg_state_home: Path | None = Field(default=None, validation_alias=AliasChoices("XDG_STATE_HOME"))
    qmd_dir: Path | None = None
    qmd_model: Path | None = None
    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("ANTHROPIC_API_KEY"))
    anthropic_base_url: str | None = Field(default=None, validation_alias=AliasChoices("ANTHROPIC_BASE_URL"))
    forge_token: SecretStr | None = None
    github_token: SecretStr | None = Field(default=None, validation_alias=AliasChoices("GITHUB_TOKEN", "GH_TOKEN"))
    gitlab_token: SecretStr | None = Field(default=None, validation_alias=AliasChoices("GITLAB_TOKEN"))
    source_date_epoch: int | None = Field(default=None, validation_alias=AliasChoices("SOURCE_DATE_EPOCH"))

    @classmethod
    def of_environment(cls) -> Settings:
        """The settings of this process. Raises ConfigurationError for a variable that cannot be used."""
        try:
            return cls()
        except ValidationError as error:
            wrong = "; ".join(
                f"{_variable(item['loc'])} is {item['input']!r}: {item['msg']}" for item in error.errors()
            )
            raise ConfigurationError(f"The environment cannot be used: {wrong}; nothing was changed.") from error

    @property
    def state(self) -> Path:
        """The folder for the ledger and the results of model calls; not created here."""
        if self.state_dir is not None:
            return self.state_dir.expanduser().absolute()
        base = self.xdg_state_home
        if base is None or not base.is_absolute():  # the XDG specification: a relative one is to be ignored
            base = Path.home() / ".local" / "state"
        return base / "reflect"

    @property
    def ledger(self) -> str:
        """The SQLAlchemy address of the ledger."""
        return self.ledger_url or f"sqlite:///{self.state / 'ledger.db'}"

    def organisation_wiki(self, home: Path | None = None) -> Path:
        """The `.reflect/` folder of the organisation's own wiki; `home` is the one its file names, if there is one."""
        return (home or self.state / "organisation") / ".reflect"

    def token_for(self, forge: str) -> SecretStr | None:
        """The token for `github` or `gitlab`: REFLECT_FORGE_TOKEN before the forge's own variable."""
        return self.forge_token or {"github": self.github_token, "gitlab": self.gitlab_token}.get(forge)

    def now(self) -> datetime:
        """The time, or `SOURCE_DATE_EPOCH` where a run must be repeatable to the byte."""
        if self.source_date_epoch is not None:
            return datetime.fromtimestamp(self.source_date_epoch, UTC)
        return datetime.now(UTC)


def _variable(location: tuple[int | str, ...]) -> str:
    name = str(location[-1])
    return name if name.isupper() else f"REFLECT_{name.upper()}"
