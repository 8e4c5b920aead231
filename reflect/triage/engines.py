"""The engines by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from reflect.configuration import Config
from reflect.errors import ConfigurationError
from reflect.triage.engine import Engine
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.premises import Premises


def _extractive(config: Config, premises: Premises) -> Engine:
    return ExtractiveEngine(config.weights)


def _claude_command(config: Config, premises: Premises) -> Engine:
    from reflect.triage.claude.building import command_engine

    return command_engine(config, premises)


def _claude(config: Config, premises: Premises) -> Engine:
    from reflect.triage.claude.building import messages_engine

    return messages_engine(config, premises)


ENGINES: dict[str, Callable[[Config, Premises], Engine]] = {
    "extractive": _extractive,
    "claude": _claude,
    "claude-command": _claude_command,
}
"""An engine that asks a model is imported only where it is chosen."""

ESTIMATED = frozenset({"claude"})
"""Engines whose dry run asks nothing and counts what it would ask: what they answer then is no answer to keep."""


def engine_named(
    name: str, config: Config, *, corrections: Sequence[str] = (), premises: Premises | None = None
) -> Engine:
    """The engine called `name`, as `config` sets it up. Raises ConfigurationError for a name nobody knows.

    `corrections` are what an operator taught the triage step, for its own instructions and nothing else.
    """
    if name not in ENGINES:
        raise ConfigurationError(
            f"There is no engine {name!r}; the engines are {', '.join(ENGINES)}. Nothing was read."
        )
    told = premises or Premises()
    return ENGINES[name](config, replace(told, corrections=(*told.corrections, *corrections)))
