"""A local server that speaks the Messages API, for tests and demonstrations: scripted answers, figures, failures.

`python -m reflect.triage.claude.fake_api --script examples/obedient_model.py` answers by that file's
`answer(schema, content)`, and prints its address. Usage is computed from what was received: a token is four characters
of JSON text, rounded up; a system block marked for the cache is written the first time and read from then on. What is
counted is what was delivered whole, as a provider bills it.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reflect.triage.claude.fake_answers import (
    Request,
    Script,
    Served,
    as_error,
    as_message,
    as_served,
    text_of,
    wrong_with,
)
from reflect.triage.claude.fake_batches import BATCHES, BatchDesk

CHARS_PER_TOKEN = 4


class FakeApi:
    """The server, on a port of its own of the loopback; use it as a context manager.

    A batch ends when `batches.end()` is called, or as soon as it is asked about where `at_once` says so.
    """

    def __init__(self, script: Script, port: int = 0, *, at_once: bool = False) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.batches = BatchDesk(lambda body: self.script(body), self.usage, at_once=at_once)
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
        return [one for one in self.requests if one.path.endswith("/v1/messages") or _OF_A_CLOUD.search(one.path)]

    def total(self, name: str) -> int:
        """The sum of one figure over every answer that was delivered whole, and every one in a batch."""
        return sum(request.usage.get(name, 0) for request in (*self.requests, *self.batches.billed))

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
        headers = {name.lower(): value for name, value in self.headers.items()}
        number = self.server.api.record(Request(self.path, headers, None, {}))
        if self.path.startswith(BATCHES):
            return self._batches(headers, None, number)
        path = self.path.partition("?")[0]
        if path == "/v1/models":
            page = {"data": list(_MODELS.values()), "has_more": False, "first_id": None, "last_id": None}
            return self._give(200, json.dumps(page).encode(), f"req_{number}")
        if (model := _MODELS.get(path.removeprefix("/v1/models/"))) is not None:
            return self._give(200, json.dumps(model).encode(), f"req_{number}")
        self._give(404, as_error("not_found_error", self.path), f"req_{number}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        body = json.loads(raw or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.path.startswith(BATCHES):
            return self._batches(headers, body, self.server.api.record(Request(self.path, headers, body, {})))
        if (cloud := _OF_A_CLOUD.search(self.path)) is not None:
            body = {**body, "model": cloud["model"]}
            headers = {"anthropic-version": str(body.pop("anthropic_version", "")), **headers}
        if (wrong := wrong_with(headers, body)) is not None:
            number = self.server.api.record(Request(self.path, headers, body, {}))
            return self._give(wrong[0], as_error(wrong[1], wrong[2]), f"req_{number}")
        if self.path.endswith("/count_tokens"):
            figures = self.server.api.usage({**body, "system": str(body.get("system", ""))}, "")
            self.server.api.record(Request(self.path, headers, body, {}))
            return self._give(200, json.dumps({"input_tokens": figures["input_tokens"]}).encode(), "req_count")
        if not (cloud or self.path.endswith("/v1/messages")):
            return self._give(404, as_error("not_found_error", self.path), "req_none")
        self._answer(headers, body)

    def _answer(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        served = as_served(self.server.api.script(body))
        text = text_of(served)
        usage = self.server.api.usage(body, text) if served.status == 200 else {}
        message = as_message(body, text, usage, served)
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

    def _batches(self, headers: Mapping[str, str], body: Any, number: int) -> None:
        told = self.server.api.batches.answer(self.path, headers, body, self.server.api.url)
        time.sleep(told.slow_s)
        self._give(told.status, told.body or b"", f"req_{number}", told)

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


_OF_A_CLOUD = re.compile(r"/models?/(?P<model>[^/:]+)(?:/invoke|:rawPredict)$")
"""Where Bedrock and Vertex are asked: their paths name the model, and their bodies the version."""

_MODELS = {
    name: {"type": "model", "id": name, "display_name": name, "lifecycle": "active"}
    for name in ("claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5")
}


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
