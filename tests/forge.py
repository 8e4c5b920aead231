"""A local server that speaks the part of GitHub's and GitLab's REST API that this product uses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "local-forge-token"


@dataclass
class Request:
    """A pull or merge request, in neither forge's words."""

    number: int
    repository: str
    head: str
    base: str
    title: str
    body: str
    draft: bool = False
    state: str = "open"
    labels: list[str] = field(default_factory=list)


@dataclass
class Fault:
    """What the next answer is instead; `after` carries the request out first. `status` 0 closes the connection."""

    method: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: str = "<html><body>Unicorn!</body></html>"
    after: bool = False
    on: str = ""  # how the path ends, where not every request of the method is meant


@dataclass
class LocalForge:
    """What the server holds, and what it does wrong on purpose."""

    address: str = ""
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    repositories: list[dict[str, Any]] = field(default_factory=list)
    says_next: str = "link"  # how it tells that there is another page: `link`, `x-next-page`, or not at all
    asked: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fault_for(self, method: str, path: str) -> Fault | None:
        with self.lock:
            meant = (fault for fault in self.faults if fault.method == method and path.endswith(fault.on))
            found = next(meant, None)
            if found is not None:
                self.faults.remove(found)
            return found

    def open(self, repository: str) -> list[Request]:
        return [one for one in self.requests if one.repository == repository and one.state == "open"]


@contextmanager
def local_forge() -> Iterator[LocalForge]:
    """A forge on loopback. `<address>/github` and `<address>/gitlab` are the roots of the two APIs."""
    forge = LocalForge()

    class Handler(_Handler):
        state = forge

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    forge.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: LocalForge

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def do_PATCH(self) -> None:
        self._handle("PATCH")

    def do_PUT(self) -> None:
        self._handle("PUT")

    def _handle(self, method: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        sent = json.loads(self.rfile.read(length)) if length else {}
        fault = self.state.fault_for(method, self.path)
        if fault is None or fault.after:
            with self.state.lock:
                status, answer = self._answer(method, sent)
        if fault is None:
            self._send(status, json.dumps(answer), {"Content-Type": "application/json", **self._next_page(answer)})
        elif fault.status:
            self._send(fault.status, fault.body, {"Content-Type": "text/html", **fault.headers})
        else:
            self.close_connection = True

    def _next_page(self, answer: Any) -> dict[str, str]:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if not url.path.endswith(("/repos", "/projects")) or not isinstance(answer, list):
            return {}
        following = str(int(query["page"]) + 1)
        more = bool(_page(self.state.repositories, {**query, "page": following}))
        if self.state.says_next == "x-next-page":
            return {"X-Next-Page": following if more else ""}
        if self.state.says_next == "link":
            elsewhere = f'<http://elsewhere.example{url.path}?page={following}>; rel="next", ' if more else ""
            return {"Link": f'{elsewhere}<http://elsewhere.example{url.path}?page=1>; rel="first"'}
        return {}

    def _send(self, status: int, body: str, headers: dict[str, str]) -> None:
        content = body.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _answer(self, method: str, sent: dict[str, Any]) -> tuple[int, Any]:
        url = urlsplit(self.path)
        self.state.asked.append(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        kind, *parts = url.path.strip("/").split("/")
        if TOKEN not in (self.headers.get("Authorization", "").removeprefix("Bearer "), self.headers["PRIVATE-TOKEN"]):
            return 401, {"message": "Bad credentials"}
        answer = _github if kind == "github" else _gitlab
        return answer(self.state, method, parts, query, sent)


def _github(
    state: LocalForge, method: str, parts: list[str], query: dict[str, str], sent: dict[str, Any]
) -> tuple[int, Any]:
    match parts:
        case ["repos", owner, name, "pulls"] if method == "GET":
            found = [r for r in state.requests if r.repository == f"{owner}/{name}"]
            head = query.get("head", "").partition(":")[2]
            found = [r for r in found if r.head == head and query["state"] in ("all", r.state)]
            return 200, _page([_as_github(state, r) for r in found], query)
        case ["repos", owner, name, "pulls"]:
            return _create(state, f"{owner}/{name}", sent["head"], sent["base"], sent, 422, _as_github)
        case ["repos", owner, name, "pulls", number]:
            return _change(state, f"{owner}/{name}", number, sent, _as_github)
        case ["repos", owner, name, "issues", number, "labels"]:
            return _change(state, f"{owner}/{name}", number, sent, _as_github)
        case ["orgs", "harbour", "repos"]:
            return 200, _page(state.repositories, query)
    return 404, {"message": "Not Found"}


def _gitlab(
    state: LocalForge, method: str, parts: list[str], query: dict[str, str], sent: dict[str, Any]
) -> tuple[int, Any]:
    match parts:
        case ["projects", path, "merge_requests"] if method == "GET":
            found = [r for r in state.requests if r.repository == unquote(path) and r.head == query["source_branch"]]
            return 200, _page([_as_gitlab(state, r) for r in found], query)
        case ["projects", path, "merge_requests"]:
            told = {**sent, "body": sent["description"]}
            return _create(state, unquote(path), sent["source_branch"], sent["target_branch"], told, 409, _as_gitlab)
        case ["projects", path, "merge_requests", number]:
            return _change(state, unquote(path), number, {**sent, "body": sent["description"]}, _as_gitlab)
        case ["groups", "harbour%2Fgoods", "projects"]:
            return 200, _page(state.repositories, query)
    return 404, {"message": "404 Project Not Found"}


def _create(
    state: LocalForge, repository: str, head: str, base: str, sent: dict[str, Any], conflict: int, shown: Any
) -> tuple[int, Any]:
    if any(one.head == head and one.base == base for one in state.open(repository)):
        return conflict, {"message": "Another open request already exists for this branch"}
    number = 1 + len(state.requests)
    labels = [label for label in sent.get("labels", "").split(",") if label]
    made = Request(number, repository, head, base, sent["title"], sent["body"], bool(sent.get("draft")), labels=labels)
    state.requests.append(made)
    return 201, shown(state, made)


def _change(state: LocalForge, repository: str, number: str, sent: dict[str, Any], shown: Any) -> tuple[int, Any]:
    found = next((r for r in state.requests if r.repository == repository and r.number == int(number)), None)
    if found is None:
        return 404, {"message": "Not Found"}
    found.title, found.body = sent.get("title", found.title), sent.get("body", found.body)
    labels = sent.get("labels", [])
    found.labels = sorted({*found.labels, *(labels.split(",") if isinstance(labels, str) else labels)})
    return 200, shown(state, found)


def _page(rows: list[Any], query: dict[str, str]) -> list[Any]:
    size, page = min(100, int(query.get("per_page", "30"))), int(query.get("page", "1"))
    return rows[(page - 1) * size : page * size]


def _as_github(state: LocalForge, one: Request) -> dict[str, Any]:
    return {
        "number": one.number,
        "html_url": f"{state.address}/{one.repository}/pull/{one.number}",
        "body": one.body,
        "state": "open" if one.state == "open" else "closed",
        "merged_at": "2026-09-21T00:00:00Z" if one.state == "merged" else None,
    }


def _as_gitlab(state: LocalForge, one: Request) -> dict[str, Any]:
    return {
        "iid": one.number,
        "web_url": f"{state.address}/{one.repository}/-/merge_requests/{one.number}",
        "description": one.body,
        "state": "opened" if one.state == "open" else one.state,
    }
