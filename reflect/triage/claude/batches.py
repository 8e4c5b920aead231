"""Questions that need no answer at once, sent together for half the price; a later run reads what was answered.

What was asked is written down before it is sent, so that nothing is ever asked twice: not where the provider answers
badly, not where the process is killed in between, not from another machine. A question is named by the digest of its
request; that name comes back with its answer, and nothing else tells whose answer it is.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from threading import Lock
from typing import Any, Protocol
from urllib.parse import quote

from reflect.configuration import ModelPrice
from reflect.deadline import call_within
from reflect.errors import RepositoryBusy, TimeLimitReached
from reflect.triage.claude.asking import Messages
from reflect.triage.claude.faults import CapReached, Garbled, InBatch, Refused, Unreadable
from reflect.triage.claude.messages import Ask, Reply
from reflect.triage.claude.money import Call, Ended, estimate, over
from reflect.triage.claude.prices import cost, halved, published
from reflect.triage.claude.reading import FIGURES, Message
from reflect.triage.claude.sdk import Answered, BatchWire, Lost, Unsent

BATCHED = frozenset({"reflect", "write"})
"""What goes in batches. The plan is asked at once: it is the smallest question, and all pages wait for it."""

SETTLES = timedelta(minutes=10)
"""How long after it was sent a batch may still turn up at the provider: until then nothing in it is sent again."""

READABLE = timedelta(days=2)
"""How long after it was sent the results of a batch are read again where they break off; it ends within a day."""

_SKEW = timedelta(hours=1)
_PATH = "/v1/messages/batches"
_PAGE = 100
_MOST_PAGES = 20
_UNCLEAR = frozenset({408, 409})
_FREE = frozenset({"errored", "canceled", "expired"})


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `name` is the digest of its request, which only one that goes out still has; `usd` is set aside."""

    name: str
    call: Call
    usd: float
    request: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions that were sent together at `sent_at`. `id` is the provider's name for them, empty until it is known."""

    name: str
    sent_at: datetime
    size: int
    id: str = ""


class BatchLog(Protocol):
    """Where batches are written down, for every machine that works on the project."""

    def alone(self) -> AbstractContextManager[object]:
        """Let nobody else send or collect meanwhile. Raises RepositoryBusy."""

    def asked(self, name: str) -> str | None:
        """The answer to a question as JSON; empty where it waits for one, None where it never went out."""

    def claim(self, batch: Batch, questions: Sequence[Question]) -> frozenset[str]:
        """Write down that they go out now; the names of those that were not out already."""

    def known_as(self, batch: Batch, *, open: bool) -> None:
        """Write down the provider's name of a batch, or that there is nothing more to come of it."""

    def unended(self) -> Sequence[Batch]:
        """The batches that may still bring answers."""

    def waiting(self, batch: Batch) -> Mapping[str, Question]:
        """The questions of a batch that have no answer yet, by name."""

    def answered(self, question: Question, ended: Ended, answer: str | None = None) -> None:
        """Keep an answer and how its call ended. Without an answer the question may go out again."""

    def strangers(self, ids: Sequence[str]) -> Sequence[str]:
        """Those of the provider's names that no batch written down has."""


@dataclass
class Batched:
    """Puts what can wait into one batch a run, and asks `live` the rest. Safe for several threads.

    `redact` takes secrets out of an answer before it is kept. `now` is the time that a provider would agree on.
    """

    live: Messages
    log: BatchLog
    redact: Callable[[str], str]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _gathered: dict[str, Question] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, ask: Ask) -> Reply:
        """The answer of an earlier batch. Raises InBatch where there is none yet, CapReached, Refused or Unreadable."""
        if ask.purpose not in BATCHED:
            return self.live.ask(ask)
        request = self.live.request(ask)
        name = sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        answer = self.log.asked(name)
        if answer:
            return Message.of(Answered(200, answer.encode()), ask).reply(ask)
        if answer is None:
            self._gather(Question(name, _call(ask, request, name), self._most(ask), request), ask)
        where = "goes out in a batch at the end of this run" if answer is None else "is in a batch"
        raise InBatch(f"The question {ask.purpose} on {ask.subject} {where}; a later run finds its answer.")

    def send(self) -> tuple[str, ...]:
        """Send what was gathered, once; what there is to say of it. Questions that cannot go out are not paid for."""
        questions, self._gathered = self._gathered, {}
        if not questions:
            return ()
        batch = Batch(uuid.uuid4().hex, self.now(), len(questions))
        try:
            with self.log.alone():
                fresh = self.log.claim(batch, list(questions.values()))
                sent = [question for name, question in questions.items() if name in fresh]
                self._release(question for name, question in questions.items() if name not in fresh)
                return self._send(replace(batch, size=len(sent)), sent) if sent else ()
        except RepositoryBusy:
            self._release(questions.values())
            return (f"{len(questions)} questions were not sent: another run sends some now; a later run sends them.",)

    def collect(self) -> tuple[str, ...]:
        """Read what earlier batches have answered; what there is to say of those that have not."""
        try:
            if not self.log.unended():
                return ()
            with self.log.alone():
                return tuple(said for batch in self.log.unended() if (said := self._collect(batch)))
        except RepositoryBusy:
            return ("Another run collects the answers of a batch now; what they are about waits for the next run.",)

    def _gather(self, question: Question, ask: Ask) -> None:
        cap = self.live.config.caps.call_usd
        if question.usd > cap:
            raise CapReached(over("call", 0.0, question.usd, cap, ask.subject))
        with self._lock:
            if question.name in self._gathered:
                return
            self.live.calls.reserve(question.call, question.usd)
            self._gathered[question.name] = question

    def _most(self, ask: Ask) -> float:
        return estimate(ask, halved(self.live.prices[self.live.config.model_of[ask.purpose]]))

    def _release(self, questions: Iterable[Question]) -> None:
        for question in questions:
            self.live.calls.settle(question.call, Ended("failed"))

    def _send(self, batch: Batch, questions: Sequence[Question]) -> tuple[str, ...]:
        requests = [{"custom_id": one.name, "params": dict(one.request)} for one in questions]
        try:
            answered = self._within(lambda wire, limit: wire.send_batch(requests, limit))
        except (Lost, Unsent, TimeLimitReached) as error:
            if isinstance(error, Unsent) or (isinstance(error, Lost) and not error.sent):
                return self._not_taken(batch, questions, str(error))
            return (self._unclear(batch, str(error)),)
        told = _object(answered.body)
        identity = _identity(told)
        if answered.status == 200 and identity:
            self.log.known_as(replace(batch, id=identity), open=True)
            return (f"{len(questions)} questions went out as the batch {identity}; a later run collects its answers.",)
        if 400 <= answered.status < 500 and answered.status not in _UNCLEAR:
            return self._not_taken(batch, questions, f"{answered.status}{_request(answered)}")
        return (self._unclear(batch, f"{answered.status}{_request(answered)}"),)

    def _not_taken(self, batch: Batch, questions: Sequence[Question], why: str) -> tuple[str, ...]:
        self.log.known_as(batch, open=False)
        self._release(questions)
        return (f"The provider took no batch of {len(questions)} questions ({why}); a later run sends them.",)

    def _unclear(self, batch: Batch, why: str) -> str:
        return (
            f"Whether the provider took a batch of {batch.size} questions is not known ({why}); a later run looks for "
            "it before any of them is sent again."
        )

    def _collect(self, batch: Batch) -> str:
        """Read what `batch` has answered. What cannot be told is left to a later run, and said."""
        try:
            if not batch.id:
                return self._look_for(batch)
            answered = self._within(lambda wire, limit: wire.fetch(f"{_PATH}/{quote(batch.id, safe='')}", limit))
            if answered.status == 404:
                return self._lost(batch)
            status = _object(answered.body).get("processing_status")
            if answered.status != 200 or status not in ("in_progress", "canceling", "ended"):
                return self._unread(batch, f"{answered.status}{_request(answered)}")
            if status != "ended":
                return f"The batch {batch.id} of {batch.size} questions is still in progress; they wait for it."
            return self._read(batch, self._results(batch.id))
        except (Lost, Unsent, TimeLimitReached) as error:
            return self._unread(batch, str(error))

    def _results(self, identity: str) -> Answered:
        return self._within(lambda wire, limit: wire.fetch(f"{_PATH}/{quote(identity, safe='')}/results", limit))

    def _read(self, batch: Batch, answered: Answered) -> str:
        if answered.status != 200:
            return self._unread(batch, f"{answered.status}{_request(answered)}")
        waiting = dict(self.log.waiting(batch))
        lines, whole = _lines(answered)
        gone = 0
        for line in lines:
            name = line.get("custom_id")
            if not isinstance(name, str) or name not in waiting:
                continue
            gone += not self._settle(waiting.pop(name), line.get("result"))
        if not whole and waiting and self.now() < batch.sent_at + READABLE:
            return self._unread(batch, f"its results broke off, {len(waiting)} are missing")
        for question in waiting.values():
            self.log.answered(question, Ended("lost", usd=question.usd))
        self.log.known_as(batch, open=False)
        gone += len(waiting)
        return (
            f"{gone} of the {batch.size} questions of the batch {batch.id} got no answer; they go out again."
            if gone
            else ""
        )

    def _settle(self, question: Question, result: Any) -> bool:
        """Write down what became of one question; whether it was answered. Only what says that it succeeded was."""
        told = result if isinstance(result, dict) else {}
        if told.get("type") in _FREE:
            self.log.answered(question, Ended("failed"))
            return False
        message = told.get("message") if told.get("type") == "succeeded" else None
        kept = json.dumps(_message(message, self.redact) if isinstance(message, dict) else {})
        about = Ask(question.call.purpose, question.call.subject, "", "", {}, 0, "")
        try:
            read = Message.of(Answered(200, kept.encode()), about)
        except Garbled:
            self.log.answered(question, Ended("lost", usd=question.usd))
            return False
        paid = cost(read.usage, halved(self._price(question.call)))
        identity = self.redact(_identity(message))
        self.log.answered(question, Ended(_status(read, about), read.usage, paid, identity), kept)
        return True

    def _price(self, call: Call) -> ModelPrice:
        """The price of the model that was asked, also where another one would be asked by now."""
        config = self.live.config
        return {**published(), **config.prices}.get(call.model, self.live.prices[config.model_of[call.purpose]])

    def _look_for(self, batch: Batch) -> str:
        """Find out whether the provider has a batch that nobody heard of again."""
        perhaps = False
        for told in self._listed(batch.sent_at - _SKEW):
            identity = _identity(told)
            if _size(told) != batch.size or not self.log.strangers([identity]):
                continue
            if told.get("processing_status") != "ended":
                perhaps = True
                continue
            answered = self._results(identity)
            if answered.status != 200:
                perhaps = True
                continue
            names = {line.get("custom_id") for line in _lines(answered)[0]}
            if names & self.log.waiting(batch).keys():
                found = replace(batch, id=identity)
                self.log.known_as(found, open=True)
                return self._read(found, answered)
        if perhaps or self.now() < batch.sent_at + SETTLES:
            return f"A batch of {batch.size} questions may be at the provider; they wait until that is known."
        return self._lost(batch)

    def _listed(self, since: datetime) -> Iterator[dict[str, Any]]:
        """The provider's batches made after `since`, newest first. Raises Lost where they cannot be told."""
        after = ""
        for _ in range(_MOST_PAGES):
            path = f"{_PATH}?limit={_PAGE}" + (f"&after_id={quote(after, safe='')}" if after else "")
            answered = self._within(lambda wire, limit, path=path: wire.fetch(path, limit))  # type: ignore[misc]
            page = _object(answered.body)
            listed = page.get("data")
            if answered.status != 200 or not isinstance(listed, list):
                raise Lost(f"the list of batches cannot be read, {answered.status}{_request(answered)}")
            for told in listed:
                if not _identity(told) or _made(told) is None:
                    raise Lost("the list of batches cannot be read")
                if _made(told) < since:  # type: ignore[operator]  # it is no None
                    return
                yield told
            after = _identity(listed[-1]) if listed else ""
            if not page.get("has_more") or not after:
                return
        raise Lost("the list of batches has no end")

    def _lost(self, batch: Batch) -> str:
        for question in self.log.waiting(batch).values():
            self.log.answered(question, Ended("lost", usd=question.usd) if batch.id else Ended("failed"))
        self.log.known_as(batch, open=False)
        sent = f"{batch.sent_at:%Y-%m-%d %H:%M}"
        return f"The provider has no batch of {batch.size} questions that was sent at {sent}; they go out again."

    def _unread(self, batch: Batch, why: str) -> str:
        named = batch.id or f"of {batch.size} questions"
        return f"The answers of the batch {named} cannot be read yet ({why}); a later run reads them."

    def _within(self, ask: Callable[[BatchWire, float], Answered]) -> Answered:
        limit = self.live.config.deadline_s
        wire: Any = self.live.wire()
        return call_within(limit, lambda: ask(wire, limit))


def _call(ask: Ask, request: Mapping[str, Any], name: str) -> Call:
    return Call(f"{name[:16]}-{uuid.uuid4().hex}", ask.purpose, ask.subject, str(request["model"]), 0)


def _message(message: Mapping[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    """What is kept of a message: its texts without secrets, how it stopped and what it used."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    usage = message.get("usage")
    return {
        "type": "message",
        "content": [{"type": "text", "text": redact(text)} for text in texts],
        "stop_reason": redact(str(message.get("stop_reason"))),
        "usage": {name: usage.get(name) for name in FIGURES} if isinstance(usage, dict) else None,
    }


def _status(message: Message, ask: Ask) -> str:
    try:
        message.reply(ask)
    except Refused:
        return "refused"
    except Unreadable:
        return "unusable"
    return "ok"


def _lines(answered: Answered) -> tuple[list[dict[str, Any]], bool]:
    """The objects of a body of JSON lines, and whether it came whole: a line that does not read is a piece of one."""
    raw = [line for line in answered.body.split(b"\n") if line.strip()]
    read = [_object(line) for line in raw]
    return [line for line in read if line], answered.whole and all(read)


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _identity(told: Any) -> str:
    identity = told.get("id") if isinstance(told, dict) else None
    return identity if isinstance(identity, str) else ""


def _size(told: Mapping[str, Any]) -> int:
    counts = told.get("request_counts")
    return sum(count for count in counts.values() if isinstance(count, int)) if isinstance(counts, dict) else 0


def _made(told: Mapping[str, Any]) -> datetime | None:
    try:
        made = datetime.fromisoformat(str(told.get("created_at")))
    except ValueError:
        return None
    return made if made.tzinfo is not None else made.replace(tzinfo=UTC)


def _request(answered: Answered) -> str:
    return f", request {answered.request_id}" if answered.request_id else ""
