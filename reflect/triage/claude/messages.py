"""One question to a model, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Ask:
    """One question. `purpose` is reflect, plan or write; `subject` names what it is about in the ledger and in errors.

    `system` is the instructions, `content` the numbered data, `schema` the JSON schema of the answer.
    """

    purpose: str
    subject: str
    system: str
    content: str
    schema: Mapping[str, Any]
    max_tokens: int
    prompt_version: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer that was complete: `data` is its JSON, `usage` its tokens by kind."""

    data: Any
    stop_reason: str
    usage: Any = field(default_factory=dict)
    request_id: str = ""


class Asking(Protocol):
    """Whatever can put a question to a model.

    Raises ProviderFault, CapReached, Refused or Unreadable; an answer that comes back is whole JSON.
    """

    def ask(self, ask: Ask) -> Reply: ...
