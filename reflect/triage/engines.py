"""The engines by name."""

from __future__ import annotations

from collections.abc import Callable

from reflect.configuration import Config
from reflect.errors import ConfigurationError
from reflect.triage.engine import Engine
from reflect.triage.extractive.engine import ExtractiveEngine

ENGINES: dict[str, Callable[[Config], Engine]] = {
    "extractive": lambda config: ExtractiveEngine(config.weights),
}


def engine_named(name: str, config: Config) -> Engine:
    """The engine called `name`, as `config` sets it up. Raises ConfigurationError for a name nobody knows."""
    if name not in ENGINES:
        raise ConfigurationError(
            f"There is no engine {name!r}; the engines are {', '.join(ENGINES)}. Nothing was read."
        )
    return ENGINES[name](config)
