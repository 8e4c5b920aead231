"""What came back, read: an answer that is whole, or the fault that it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from reflect.triage.claude.answers import COMPLETE
from reflect.triage.claude.faults import Garbled, ProviderFault, Refused, SpendLimit, Unreadable
from reflect.triage.claude.messages import Ask, Reply
from reflect.triage.claude.prices import Usage
from reflect.triage.claude.sdk import Answered

_SPENT = frozenset({"enforced_spend_limit_reached", "contract_spend_limit_reached", "ramp_limit_exceeded"})
_SPENT_TYPES = frozenset({"billing_error"})
_AGAIN = frozenset({408, 409, 429})
_HOPELESS = frozenset({401, 402, 403})
_SHOWN = 200
_MOST_TOKENS = 10**9
"""More than any request can hold: a figure above it is none."""

FIGURES = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""What a message says it used; the last two may be missing."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A status that is no success. `again`: asking again may help. `wait_s`: the wait the provider asks for."""

    fault: ProviderFault
    again: bool
    wait_s: float | None = None


def failure(answered: Answered, ask: Ask) -> Failure | None:
    """The failure that the status of `answered` is; None where it is a success."""
    if answered.status == 200:
        return None
    error = _error(answered.body)
    kind, code = str(error.get("type", "")), str(_mapping(error.get("details")).get("error_code", ""))
    said = " ".join(str(error.get("message", "")).split())[:_SHOWN] or "no message that can be read"
    name = code or kind or "error"
    message = f"The provider answered {ask.purpose} on {ask.subject} with {answered.status} {name} ({said})"
    text = f"{message}{_named(answered)}; what it was about waits for the next run."
    if code in _SPENT or kind in _SPENT_TYPES or answered.status == 402:
        return Failure(SpendLimit(text, request_id=answered.request_id, hopeless=True), again=False)
    fault = ProviderFault(text, request_id=answered.request_id, hopeless=answered.status in _HOPELESS)
    told = answered.headers.get("x-should-retry", "").lower()
    again = told == "true" or (told != "false" and (answered.status in _AGAIN or answered.status >= 500))
    return Failure(fault, again, _wait(answered.headers))


@dataclass(frozen=True, slots=True)
class Message:
    """A message that says what it used; its answer may still be none."""

    content: list[Any]
    stop_reason: str
    usage: Usage
    request_id: str

    @classmethod
    def of(cls, answered: Answered, ask: Ask) -> Message:
        """Raises Garbled where `answered` does not even say what it used; what does is paid for, whatever it holds."""
        try:
            loaded = json.loads(answered.body)
        except (ValueError, RecursionError):
            raise _garbled(answered, ask, "its body is no whole JSON") from None
        told = _mapping(loaded)
        content, usage = told.get("content"), _usage(told.get("usage"))
        if usage is None:
            raise _garbled(answered, ask, "it does not say what it used")
        if told.get("type") != "message" or not isinstance(content, list):
            content = []
        return cls(content, str(told.get("stop_reason")), usage, answered.request_id)

    def reply(self, ask: Ask) -> Reply:
        """The answer. Raises Refused, or Unreadable where it is not whole JSON of the kind that was asked for."""
        about = f"{ask.purpose} on {ask.subject}{f' (request {self.request_id})' if self.request_id else ''}"
        if self.stop_reason == "refusal":
            raise Refused(f"The model declined to answer {about}.")
        if self.stop_reason != COMPLETE:
            raise Unreadable(f"The answer to {about} is not complete (stop reason {self.stop_reason!r}).")
        texts = [block.get("text") for block in map(_mapping, self.content) if block.get("type") == "text"]
        written = next((text for text in reversed(texts) if isinstance(text, str)), None)
        if written is None:
            raise Unreadable(f"The answer to {about} has no text.")
        try:
            data = json.loads(written)
        except (ValueError, RecursionError):
            raise Unreadable(f"The answer to {about} is not JSON.") from None
        if not isinstance(data, dict):
            raise Unreadable(f"The answer to {about} is not a JSON object.")
        return Reply(data, self.stop_reason, self.usage, self.request_id)


def _garbled(answered: Answered, ask: Ask, why: str) -> Garbled:
    return Garbled(
        f"What came back for {ask.purpose} on {ask.subject} is not an answer: {why}{_named(answered)}; what it was "
        "about waits for the next run.",
        request_id=answered.request_id,
    )


def _named(answered: Answered) -> str:
    return f", request {answered.request_id}" if answered.request_id else ""


def _usage(told: Any) -> Usage | None:
    usage = _mapping(told)
    counts = [usage.get(name) for name in FIGURES]
    stated = [count for count in counts if count is not None]
    if None in counts[:2] or not all(type(count) is int and 0 <= count <= _MOST_TOKENS for count in stated):
        return None
    inward, outward, read, write = (count or 0 for count in counts)
    return Usage(inward, outward, read, write)


def _error(body: bytes) -> Mapping[str, Any]:
    try:
        return _mapping(_mapping(json.loads(body)).get("error"))
    except (ValueError, RecursionError):
        return {}


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds the provider asks to wait, `inf` for one without end; None where it asks for nothing that can be read.

    A date is held against the answer's own `date`, so that no two clocks have to agree.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        if seconds >= 0:
            return seconds
    until, now = _moment(headers.get("retry-after")), _moment(headers.get("date"))
    return None if until is None or now is None else max(0.0, (until - now).total_seconds())


def _moment(header: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(header) if header else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
