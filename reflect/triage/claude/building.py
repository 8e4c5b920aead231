"""The engines that ask a model, put together out of configuration and premises."""

from __future__ import annotations

from collections.abc import Mapping

from reflect.configuration import Config
from reflect.errors import ConfigurationError
from reflect.triage.claude.answers import Kept, KeptInFolder, KeptInMemory
from reflect.triage.claude.asking import Messages, once
from reflect.triage.claude.batches import Batched
from reflect.triage.claude.command import ClaudeCommand
from reflect.triage.claude.engine import ClaudeEngine, Surroundings
from reflect.triage.claude.estimating import Estimating
from reflect.triage.claude.messages import Asking
from reflect.triage.claude.money import CallsInMemory
from reflect.triage.claude.prices import priced
from reflect.triage.claude.sdk import SdkWire
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.premises import Premises

COMMAND = "claude-command"


def command_engine(config: Config, premises: Premises) -> ClaudeEngine:
    """The engine that calls an installed `claude` command."""
    models: Mapping[str, str] = {}
    return engine_asking(ClaudeCommand.of_process(models), models, config, premises, name=COMMAND)


def engine_asking(
    asking: Asking,
    models: Mapping[str, str],
    config: Config,
    premises: Premises,
    *,
    prefilter: bool = False,
    name: str = "claude",
) -> ClaudeEngine:
    """The engine that puts its questions to `asking`; `models` names the model of each purpose."""
    surroundings = Surroundings(
        models=models,
        format=premises.format,
        redact=premises.redact,
        in_repository=premises.in_repository,
        shows=premises.shows,
        corrections=premises.corrections,
        prefilter=prefilter,
    )
    kept: Kept = KeptInMemory() if premises.answers is None else KeptInFolder(premises.answers)
    return ClaudeEngine(asking, surroundings, kept=kept, embedded=ExtractiveEngine(config.weights), name=name)


def messages_engine(config: Config, premises: Premises) -> ClaudeEngine:
    """The engine that asks the provider itself. Raises ConfigurationError where it has no key or knows no price."""
    claude = config.claude
    prices = priced(claude.model_of.values(), claude.prices)
    if premises.estimate is not None:
        counting = Estimating(claude, prices, premises.estimate)
        return engine_asking(counting, claude.model_of, config, premises, prefilter=claude.prefilter)
    if not premises.api_key and claude.provider == "anthropic":
        raise ConfigurationError(
            "The engine `claude` needs a key in ANTHROPIC_API_KEY; nothing was read; set it, or choose the engine "
            "`claude-command` or `extractive`."
        )
    wire = once(lambda: SdkWire(claude, premises.api_key, premises.base_url))
    calls = premises.calls or CallsInMemory(claude.caps)
    asking: Asking = Messages(wire, claude, prices, calls)
    if claude.mode == "batch":
        if premises.batches is None:
            raise ConfigurationError(
                "`claude.mode: batch` works in a run alone, which has a ledger; nothing was asked."
            )
        asking = Batched(Messages(wire, claude, prices, calls), premises.batches, premises.redact)
    return engine_asking(asking, claude.model_of, config, premises, prefilter=claude.prefilter)
