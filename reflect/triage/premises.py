"""What an engine is told of where it works, beside its configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflect.configuration import Format
from reflect.model import PageSummary


def _as_it_is(text: str) -> str:
    return text


def _is_nowhere(_: str) -> bool:
    return False


def _is_hidden(_: PageSummary) -> bool:
    return False


@dataclass(frozen=True)
class Premises:
    """The same for every engine; most need none of it.

    `redact` takes secrets out of a text, `in_repository` says whether an identifier occurs in the repository, `shows`
    whether a page may be seen here: no other is ever sent. `answers` is the folder where paid answers are kept.
    `corrections` are what an operator taught the triage step, for its own instructions and nothing else. `calls` is
    where every paid call is written down, `batches` what waits for an answer. `api_key` and `base_url` are the
    provider's. With `estimate` questions are counted there instead of asked.
    """

    format: Format = field(default_factory=Format)
    redact: Callable[[str], str] = _as_it_is
    in_repository: Callable[[str], bool] = _is_nowhere
    shows: Callable[[PageSummary], bool] = _is_hidden
    answers: Path | None = None
    corrections: tuple[str, ...] = ()
    calls: Any = None
    batches: Any = None
    api_key: str = field(default="", repr=False)
    base_url: str | None = None
    estimate: Any = None
