"""Settings of this machine: where state lives and what the clock says. The only place that reads the environment."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """`REFLECT_STATE_DIR`, `REFLECT_LEDGER_URL`, `XDG_STATE_HOME` and `SOURCE_DATE_EPOCH`."""

    model_config = SettingsConfigDict(env_prefix="REFLECT_", frozen=True, populate_by_name=True)

    state_dir: Path | None = None
    ledger_url: str | None = None
    xdg_state_home: Path | None = Field(default=None, validation_alias=AliasChoices("XDG_STATE_HOME"))
    source_date_epoch: int | None = Field(default=None, validation_alias=AliasChoices("SOURCE_DATE_EPOCH"))

    @property
    def state(self) -> Path:
        """The folder for the ledger and the results of model calls; not created here."""
        if self.state_dir is not None:
            return self.state_dir
        return (self.xdg_state_home or Path.home() / ".local" / "state") / "reflect"

    @property
    def ledger(self) -> str:
        """The SQLAlchemy address of the ledger."""
        return self.ledger_url or f"sqlite:///{self.state / 'ledger.db'}"

    def now(self) -> datetime:
        """The time, or `SOURCE_DATE_EPOCH` where a run must be repeatable to the byte."""
        if self.source_date_epoch is not None:
            return datetime.fromtimestamp(self.source_date_epoch, UTC)
        return datetime.now(UTC)
