"""The engines by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reflect.configuration import Config
from reflect.errors import ConfigurationError
from reflect.triage.engine import Engine
from reflect.triage.extractive.engine import ExtractiveEngine

ENGINES: dict[str, Callable[[Config, Sequence[str]], Engine]] = {
    "extractive": lambda config, corrections: ExtractiveEngine(config.weights),
}


def engine_named(name: str, config: Config, *, corrections: Sequence[str] = ()) -> Engine:
    """The engine called `name`, as `config` sets it up. Raises ConfigurationError for a name nobody knows.

    `corrections` are what an operator taught the triage step, for its own instructions and nothing else.
    """
    if name not in ENGINES:
        raise ConfigurationError(
            f"There is no engine {name!r}; the engines are {', '.join(ENGINES)}. Nothing was read."
        )
    return ENGINES[name](config, corrections)
