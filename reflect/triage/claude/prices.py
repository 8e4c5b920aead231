"""What tokens cost. A model whose price nobody wrote down is not asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from reflect.configuration import ModelPrice, TokenPrice
from reflect.errors import ConfigurationError

_MILLION = 1_000_000
_CACHE_WRITE = 1.25
"""What writing five minutes of cache costs, as a multiple of plain input."""
_CACHE_READ = 0.1


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens by kind; `input` are those that came from no cache and went into none."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def sent(self) -> int:
        return self.input + self.cache_read + self.cache_write


def cost(usage: Usage, price: ModelPrice) -> float:
    """USD for `usage`; a request over a model's limit pays the higher price for every token."""
    rate: TokenPrice = price
    if price.above is not None and price.tokens is not None and usage.sent > price.tokens:
        rate = price.above
    read = rate.input * _CACHE_READ if rate.cache_read is None else rate.cache_read
    inward = usage.input * rate.input + usage.cache_write * rate.input * _CACHE_WRITE + usage.cache_read * read
    return (inward + usage.output * rate.output) / _MILLION


def halved(price: ModelPrice) -> ModelPrice:
    """What a model costs in a batch: half of each of its prices."""
    above = None if price.above is None else TokenPrice(**_halves(price.above))
    return ModelPrice(**_halves(price), tokens=price.tokens, above=above)


def _halves(price: TokenPrice) -> dict[str, float | None]:
    return {
        "input": price.input / 2,
        "output": price.output / 2,
        "cache_read": None if price.cache_read is None else price.cache_read / 2,
    }


def priced(models: Iterable[str], configured: Mapping[str, ModelPrice]) -> dict[str, ModelPrice]:
    """The price of each of `models`; what is configured comes first. Raises ConfigurationError for an unknown one."""
    table = {**published(), **configured}
    unknown = sorted({model for model in models if model not in table})
    if unknown:
        raise ConfigurationError(
            f"Nobody knows what {', '.join(unknown)} costs; nothing was asked; write `claude.prices` in config.yaml."
        )
    return {model: table[model] for model in models}


@cache
def published() -> Mapping[str, ModelPrice]:
    """The price table that comes with this version."""
    return {name: ModelPrice.model_validate(price) for name, price in _table()["models"].items()}


def published_at() -> str:
    """The day of the price table, in ISO 8601."""
    return str(_table()["as_of"])


@cache
def _table() -> Any:
    return yaml.safe_load(files("reflect.triage.claude").joinpath("prices.yaml").read_text(encoding="utf-8"))
