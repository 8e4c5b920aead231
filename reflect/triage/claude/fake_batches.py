"""The batches of the local server: taken, told of, ended and cancelled as the real ones are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

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

BATCHES = "/v1/messages/batches"
PER_PAGE = 3
"""Few, so that a short list of batches has pages; the real server lets who asks choose."""

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WITHOUT_MESSAGE = ("errored", "canceled", "expired")


@dataclass
class FakeBatch:
    """One batch as it was received; its results come in an order that is not that of the requests."""

    id: str
    created_at: datetime
    requests: Sequence[Mapping[str, Any]]
    status: str = "in_progress"
    counts: dict[str, int] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)

    def told(self, url: str) -> bytes:
        """What the server says of it."""
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        ended = self.status == "ended"
        return json.dumps(
            {
                "id": self.id,
                "type": "message_batch",
                "processing_status": self.status,
                "request_counts": counts | (self.counts if ended else {"processing": len(self.requests)}),
                "created_at": self.created_at.isoformat(),
                "expires_at": (self.created_at + timedelta(days=1)).isoformat(),
                "ended_at": datetime.now(UTC).isoformat() if ended else None,
                "cancel_initiated_at": None,
                "archived_at": None,
                "results_url": f"{url}{BATCHES}/{self.id}/results" if ended else None,
            }
        ).encode()


class BatchDesk:
    """Takes batches and tells of them. `taken` are those it has, `billed` the requests in them that were answered.

    A question ends as its script says by `Served.ended`: succeeded, errored, canceled, expired, anything else, or
    `missing`, which leaves it out of the results. `faults` answer the next requests to an endpoint (create, list,
    retrieve, results, cancel) in place of what would be said. What was asked for is done all the same, but for a batch
    that is refused by a status below 500 or by `ended="dropped"`.
    """

    def __init__(
        self, script: Script, usage: Callable[[Mapping[str, Any], str], Mapping[str, int]], *, at_once: bool
    ) -> None:
        self.taken: list[FakeBatch] = []
        self.billed: list[Request] = []
        self.faults: dict[str, list[Served]] = {}
        self.at_once = at_once
        self._script = script
        self._usage = usage
        self._lock = Lock()

    def end(self) -> None:
        """Answer what the batches hold that have not ended."""
        with self._lock:
            for batch in self.taken:
                if batch.status != "ended":
                    self._end(batch)

    def answer(self, path: str, headers: Mapping[str, str], body: Any, url: str) -> Served:
        """What a request is answered with, as a status and a body."""
        parts = urlsplit(path).path.removeprefix(BATCHES).strip("/").split("/")
        if parts == [""]:
            return self._take(headers, body, url) if body is not None else self._list(path, url)
        batch = next((one for one in self.taken if one.id == parts[0]), None)
        if batch is None:
            return Served(status=404, body=as_error("not_found_error", path))
        if parts[1:] == ["cancel"]:
            batch.status = "canceling" if batch.status == "in_progress" else batch.status
            return self._told("cancel", batch.told(url))
        if self.at_once:
            self.end()
        if parts[1:] == ["results"]:
            return self._told("results", "".join(json.dumps(each) + "\n" for each in batch.results).encode())
        return self._told("retrieve", batch.told(url))

    def _take(self, headers: Mapping[str, str], body: Any, url: str) -> Served:
        requests = body["requests"]
        names = [one["custom_id"] for one in requests]
        wrong = next((bad for one in requests if (bad := wrong_with(headers, one["params"]))), None)
        if wrong is None and (len(set(names)) < len(names) or not names or not all(map(_CUSTOM_ID.fullmatch, names))):
            wrong = 400, "invalid_request_error", "custom_id"
        if wrong is not None:
            return Served(status=wrong[0], body=as_error(wrong[1], wrong[2]))
        with self._lock:
            batch = FakeBatch(f"msgbatch_{len(self.taken) + 1}", datetime.now(UTC), requests)
            told = self._told("create", batch.told(url))
            if told.status >= 500 or told.status == 200:
                self.taken += [batch] if told.ended != "dropped" else []
        return told

    def _list(self, path: str, url: str) -> Served:
        newest = [json.loads(one.told(url)) for one in reversed(self.taken)]
        after = parse_qs(urlsplit(path).query).get("after_id", [""])[0]
        start = next((place for place, one in enumerate(newest, start=1) if one["id"] == after), 0)
        page = {"data": newest[start : start + PER_PAGE], "has_more": start + PER_PAGE < len(newest)}
        return self._told("list", json.dumps(page).encode())

    def _told(self, endpoint: str, body: bytes) -> Served:
        """`body`, or what the next fault of `endpoint` makes of it."""
        waiting = self.faults.get(endpoint, [])
        fault = waiting.pop(0) if waiting else Served()
        if fault.body is not None:
            return fault
        return replace(fault, body=body if fault.status == 200 else as_error("api_error", "scripted"))

    def _end(self, batch: FakeBatch) -> None:
        for one in reversed(batch.requests):
            canceled = batch.status == "canceling"
            served = Served(ended="canceled") if canceled else as_served(self._script(one["params"]))
            kind = served.ended or ("succeeded" if served.status == 200 else "errored")
            batch.counts[kind] = batch.counts.get(kind, 0) + 1
            if kind != "missing":
                batch.results.append(
                    {"custom_id": one["custom_id"], "result": self._result(one["params"], served, kind)}
                )
        batch.status = "ended"

    def _result(self, params: Mapping[str, Any], served: Served, kind: str) -> dict[str, Any]:
        if kind in _WITHOUT_MESSAGE:
            return {"type": kind, "error": json.loads(as_error("api_error", "scripted"))}
        text = text_of(served)
        usage = self._usage(params, text)
        message = as_message(params, text, usage, served)
        if kind == "succeeded" and message["usage"] == usage:
            self.billed.append(Request(BATCHES, {}, params, usage))
        return {"type": kind, "message": message}
