"""The provider's own library, and the only place that knows it: a request goes out, an answer's bytes come back.

It is loaded when the first client is made. It neither retries nor reads answers here: its retries obey any Retry-After
up to 49 days, and what it makes of a page of HTML is a text.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

from reflect.configuration import ClaudeConfig
from reflect.errors import ConfigurationError

ADDRESS = "https://api.anthropic.com"
"""Said outright, so that no profile lying on the machine says another."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back, whatever it is. Header names are lower case; `whole` is false where the body broke off."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True

    @property
    def request_id(self) -> str:
        return self.headers.get("request-id", "")


class Lost(Exception):
    """Nothing came back, or not all of it; `sent` says whether the provider may have worked on it."""

    def __init__(self, reason: str, *, sent: bool = True) -> None:
        super().__init__(reason)
        self.sent = sent


class Unsent(Exception):
    """No request could be made: credentials, or a library that finds them, are not there."""


class Wire(Protocol):
    """The way to a provider. Raises Lost or Unsent."""

    def send(self, request: Mapping[str, Any], timeout_s: float) -> Answered: ...


class BatchWire(Wire, Protocol):
    """The way to a provider that takes batches. Raises Lost or Unsent."""

    def send_batch(self, requests: Sequence[Mapping[str, Any]], timeout_s: float) -> Answered:
        """Send requests together, each with a `custom_id` and its `params`."""

    def fetch(self, path: str, timeout_s: float) -> Answered:
        """What stands at `path` below the provider's address, as much of it as arrives."""


class SdkWire:
    """One client of the library, made at the first request and kept for the process."""

    def __init__(self, config: ClaudeConfig, api_key: str, base_url: str | None = None) -> None:
        self._client = _client(config, api_key, base_url)
        weakref.finalize(self, self._client.close)

    def send(self, request: Mapping[str, Any], timeout_s: float) -> Answered:
        create = self._client.messages.with_raw_response.create
        return _sent(lambda: _answered(create(**request, timeout=timeout_s).http_response))

    def send_batch(self, requests: Sequence[Mapping[str, Any]], timeout_s: float) -> Answered:
        create = self._client.messages.batches.with_raw_response.create
        return _sent(lambda: _answered(create(requests=requests, timeout=timeout_s).http_response))

    def fetch(self, path: str, timeout_s: float) -> Answered:
        """Only the configured address is asked: the one that a batch names for its results is never followed."""
        import httpx2

        def get() -> Answered:
            response = self._client.get(path, cast_to=httpx2.Response, stream=True, options={"timeout": timeout_s})
            with closing(response):
                body, whole = _arriving(response)
                return _answered(response, body, whole=whole)

        return _sent(get)

    def models(self) -> tuple[dict[str, Any], ...]:
        """What the provider says of the models it has. Raises Lost."""
        import anthropic

        try:
            return tuple(model.to_dict() for model in self._client.models.list(limit=100))
        except anthropic.AnthropicError as error:
            raise Lost(_reason(error)) from error


def _sent(send: Callable[[], Answered]) -> Answered:
    """What `send` brings back, with the library's errors told as ours. Raises Lost or Unsent."""
    import anthropic
    import httpx2

    try:
        return send()
    except anthropic.APIStatusError as error:
        return _answered(error.response)
    except anthropic.APITimeoutError as error:
        raise Lost("no answer in time") from error
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        refused = isinstance(error.__cause__, httpx2.ConnectError)
        raise Lost(_reason(error), sent=not refused) from error
    except Exception as error:  # each cloud's own library looks for credentials and raises errors of its own
        raise Unsent(_reason(error)) from error


def _answered(response: Any, body: bytes | None = None, *, whole: bool = True) -> Answered:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answered(response.status_code, response.content if body is None else body, headers, whole)


def _arriving(response: Any) -> tuple[bytes, bool]:
    """The body as far as it comes, and whether it came to its end."""
    import httpx2

    arrived = bytearray()
    try:
        for piece in response.iter_bytes():
            arrived += piece
    except httpx2.HTTPError:
        return bytes(arrived), False
    return bytes(arrived), True


def _reason(error: BaseException) -> str:
    return " ".join(str(error.__cause__ or error).split())[:200] or type(error).__name__


def _client(config: ClaudeConfig, api_key: str, base_url: str | None) -> Any:
    """The client of the configured provider. The key is handed over: the library looks for none of its own.

    It follows no redirect, which would carry the evidence to wherever an answer points, and sends no header that
    ANTHROPIC_CUSTOM_HEADERS names: one of those could be another's credential.
    """
    import anthropic

    try:
        with_ours: dict[str, Any] = {
            "base_url": base_url,
            "max_retries": 0,
            "http_client": anthropic.DefaultHttpxClient(follow_redirects=False),
        }
        client: Any
        if config.provider == "bedrock":
            client = anthropic.AnthropicBedrock(aws_region=config.region, **with_ours)
        elif config.provider == "vertex":
            where: dict[str, Any] = {"region": config.region, "project_id": config.project}
            client = anthropic.AnthropicVertex(**with_ours, **where)
        else:
            client = anthropic.Anthropic(api_key=api_key, **with_ours | {"base_url": base_url or ADDRESS})
        client._custom_headers = {}
        return client
    except (ImportError, anthropic.AnthropicError, ValueError, TypeError) as error:
        raise ConfigurationError(
            f"The client for `claude.provider` {config.provider!r} cannot be made ({_reason(error)}); nothing "
            "was asked."
        ) from error
