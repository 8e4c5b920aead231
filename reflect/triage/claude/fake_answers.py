"""What the local server is told to answer, how that looks on the wire, and what it refuses as the real one does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_VERSIONS = ("2026-10-21", "2023-06-01")
_REFUSED_KEYS = ("temperature", "top_p", "top_k", "budget_tokens")
_SCHEMA_KEYS = frozenset(
    "type properties required items enum const anyOf allOf $ref $defs title description additionalProperties "
    "minItems format".split()
)


@dataclass(frozen=True)
class Served:
    """What one request is answered with.

    `data` is the answer's JSON (or its text, where it is one), `status` and `headers` make a failure, `body` replaces
    the whole body. `cut` ends the connection after so many bytes, `slow_s` waits before the body, `changes` is laid
    over the message. `ended` is how its question ends in a batch: errored where `status` is a failure, else succeeded
    where nothing else is said; `missing` leaves it out of the results.
    """

    data: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    cut: int | None = None
    slow_s: float = 0.0
    changes: Mapping[str, Any] = field(default_factory=dict)
    ended: str = ""


Script = Callable[[Mapping[str, Any]], Served | Any]
"""Answers the body of a request with Served, or with the answer's JSON alone."""


@dataclass(frozen=True)
class Request:
    """One request as it was received, and the usage that its answer stated."""

    path: str
    headers: Mapping[str, str]
    body: Any
    usage: Mapping[str, int]


def as_served(told: Served | Any) -> Served:
    """What a script told, as Served."""
    return told if isinstance(told, Served) else Served(told)


def text_of(served: Served) -> str:
    """The text of the answer."""
    return served.data if isinstance(served.data, str) else json.dumps(served.data)


def as_message(body: Mapping[str, Any], text: str, usage: Mapping[str, int], served: Served) -> dict[str, Any]:
    """The message that answers `body`."""
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
        **served.changes,
    }


def as_error(kind: str, message: str) -> bytes:
    """The body of a failure."""
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


def wrong_with(headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[int, str, str] | None:
    """What the real server would refuse in a request."""
    if not (headers.get("authorization", "").startswith("Bearer ") or headers.get("x-api-key")):
        return 401, "authentication_error", "no key"
    if headers.get("anthropic-version") not in _VERSIONS:
        return 400, "invalid_request_error", "anthropic-version"
    if wrong := [key for key in _REFUSED_KEYS if key in body]:
        return 400, "invalid_request_error", f"{wrong[0]} is not supported"
    if body["messages"][-1]["role"] != "user":
        return 400, "invalid_request_error", "prefill is not supported"
    schema = body.get("output_config", {}).get("format", {}).get("schema", {})
    if unsupported := sorted(_keys(schema) - _SCHEMA_KEYS):
        return 400, "invalid_request_error", f"schema keyword {unsupported[0]} is not supported"
    return None


def _keys(schema: Any) -> set[str]:
    """Every keyword in `schema`; the names of properties are none."""
    if isinstance(schema, list):
        return set().union(*map(_keys, schema))
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            found |= set().union(*map(_keys, value.values()))
        elif key not in ("enum", "const", "required"):
            found |= _keys(value)
    return found
