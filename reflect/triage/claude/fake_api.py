"""A local server that speaks the Messages API, for tests and demonstrations: scripted answers, figures, failures.

`python -m reflect.triage.claude.fake_api --script examples/obedient_model.py` answers by that file's
`answer(schema, content)`, and prints its address. Usage is computed from what was received: a token is four characters
of JSON text, rounded up; a system block marked for the cache is written the first time and read from then on. What is
counted is what was delivered whole, as a provider bills it.
"""

from __future__ import annotations

import argparse
import json
import runpy
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHARS_PER_TOKEN = 4
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
    over the message.
    """

    data: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    cut: int | None = None
    slow_s: float = 0.0
    changes: Mapping[str, Any] = field(default_factory=dict)


Script = Callable[[Mapping[str, Any]], Served | Any]
"""Answers the body of a request with Served, or with the answer's JSON alone."""


@dataclass(frozen=True)
class Request:
    """One request as it was received, and the usage that its answer stated."""

    path: str
    headers: Mapping[str, str]
    body: Any
    usage: Mapping[str, int]


class FakeApi:
    """The server, on a port of its own of the loopback; use it as a context manager."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.script = script
        self.requests: list[Request] = []
        self._cached: set[str] = set()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeApi:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def asked(self) -> list[Request]:
        """The requests for a message."""
        return [request for request in self.requests if request.path.endswith("/v1/messages")]

    def total(self, name: str) -> int:
        """The sum of one figure over every answer that was delivered whole."""
        return sum(request.usage.get(name, 0) for request in self.requests)

    def usage(self, body: Mapping[str, Any], text: str) -> dict[str, int]:
        """The figures for an answer of `text` to `body`, by the rule above."""
        system = json.dumps(body.get("system", ""), sort_keys=True)
        rest = json.dumps([body.get("messages"), body.get("output_config")], sort_keys=True)
        figures = {"input_tokens": _tokens(rest), "output_tokens": _tokens(text)}
        with self._lock:
            key = f"{body.get('model')} {system}"
            if '"cache_control"' not in system:
                return {**figures, "input_tokens": figures["input_tokens"] + _tokens(system)}
            kind = "cache_read_input_tokens" if key in self._cached else "cache_creation_input_tokens"
            self._cached.add(key)
        return {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, **figures, kind: _tokens(system)}

    def record(self, request: Request) -> int:
        with self._lock:
            self.requests.append(request)
            return len(self.requests)


class _Server(ThreadingHTTPServer):
    api: FakeApi
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that went away is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed for a request."""

    def do_GET(self) -> None:
        self.server.api.record(Request(self.path, dict(self.headers), None, {}))
        if self.path.startswith("/v1/models"):
            listed = [{"type": "model", "id": name, "display_name": name, "lifecycle": "active"} for name in _MODELS]
            page = {"data": listed, "has_more": False, "first_id": _MODELS[0], "last_id": _MODELS[-1]}
            return self._give(200, json.dumps(page).encode(), "req_models")
        self._give(404, _error("not_found_error", self.path), "req_none")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        body = json.loads(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if (wrong := _wrong(headers, body)) is not None:
            number = self.server.api.record(Request(self.path, headers, body, {}))
            return self._give(wrong[0], _error(wrong[1], wrong[2]), f"req_{number}")
        if self.path.endswith("/count_tokens"):
            figures = self.server.api.usage({**body, "system": str(body.get("system", ""))}, "")
            self.server.api.record(Request(self.path, headers, body, {}))
            return self._give(200, json.dumps({"input_tokens": figures["input_tokens"]}).encode(), "req_count")
        if not self.path.endswith("/v1/messages"):
            return self._give(404, _error("not_found_error", self.path), "req_none")
        self._answer(headers, body)

    def _answer(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        told = self.server.api.script(body)
        served = told if isinstance(told, Served) else Served(told)
        text = served.data if isinstance(served.data, str) else json.dumps(served.data)
        usage = self.server.api.usage(body, text) if served.status == 200 else {}
        message = {
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
        whole = served.status == 200 and served.body is None and served.cut is None and message["usage"] == usage
        number = self.server.api.record(Request(self.path, headers, body, usage if whole else {}))
        raw = (
            json.dumps(message).encode()
            if served.status == 200
            else json.dumps(
                {"type": "error", "error": {"type": "api_error", "message": "scripted", **served.error}}
            ).encode()
        )
        time.sleep(served.slow_s)
        self._give(served.status, raw if served.body is None else served.body, f"req_{number}", served)

    def _give(self, status: int, body: bytes, request_id: str, served: Served | None = None) -> None:
        served = served or Served()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "request-id": request_id, **served.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if served.cut is None else body[: served.cut])
        if served.cut is not None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True


_MODELS = ("claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5")


def _wrong(headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[int, str, str] | None:
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


def _error(kind: str, message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


def _tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def by_answer(answer: Callable[[Mapping[str, Any], str], Any]) -> Script:
    """A script out of a function of the schema and the content of a question; what has no schema is told "ok"."""

    def script(body: Mapping[str, Any]) -> Any:
        schema = body.get("output_config", {}).get("format", {}).get("schema")
        return "ok" if schema is None else answer(schema, body["messages"][0]["content"])

    return script


def main() -> None:
    parser = argparse.ArgumentParser(description="A local server that speaks the Messages API.")
    parser.add_argument("--script", required=True, help="a Python file with a function answer(schema, content)")
    parser.add_argument("--port", type=int, default=0)
    told = parser.parse_args()
    with FakeApi(by_answer(runpy.run_path(told.script)["answer"]), told.port) as api:
        print(f"ANTHROPIC_BASE_URL={api.url}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
