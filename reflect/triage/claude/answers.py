"""Questions that are asked once: the answer that was accepted is kept, one that was not is asked for again once."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from reflect.triage.claude.evidence_blocks import between, harmless
from reflect.triage.claude.faults import Unreadable
from reflect.triage.claude.messages import Ask, Asking

COMPLETE = "end_turn"
"""The one stop reason of an answer that is whole."""

_REASON_CHARS = 1_500

Answer = TypeVar("Answer", bound=BaseModel)


class Kept(Protocol):
    """Answers by the hash of everything they depend on."""

    def get(self, key: str) -> Any | None: ...

    def put(self, key: str, data: Any) -> None: ...


class KeptInMemory:
    """Answers of one process."""

    def __init__(self) -> None:
        self._data: dict[str, Any] = {}

    def get(self, key: str) -> Any | None:
        return self._data.get(key)

    def put(self, key: str, data: Any) -> None:
        self._data[key] = data


class KeptInFolder:
    """Answers as one file each in `folder`, put in place whole; a file that does not read is as good as none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Any | None:
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None

    def put(self, key: str, data: Any) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(data, stream, ensure_ascii=False)
        Path(name).replace(path)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


@dataclass(frozen=True, slots=True)
class Judged(Generic[Answer]):
    """An answer and what is still wrong with it, by the name of the part that is wrong; empty where nothing is."""

    answer: Answer
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Questioner:
    """Puts questions, and keeps what was answered.

    `models` names the model of each purpose: it is part of what an answer depends on. `redact` takes secrets out of an
    answer before anything sees it, so that none is kept, shown in a reason or asked about again.
    """

    asking: Asking
    models: Mapping[str, str]
    kept: Kept
    redact: Callable[[str], str]

    def ask(self, ask: Ask, kind: type[Answer], judge: Callable[[Answer], Mapping[str, str]]) -> Judged[Answer]:
        """The answer to `ask` as `kind`, with the faults that `judge` still finds in it when it was asked twice.

        Raises Unreadable where neither answer can be read, and what the asking raises.
        """
        key = self._key(ask)
        if (kept := self.kept.get(key)) is not None and (known := _parsed(kept, kind)) is not None:
            return Judged(known, judge(known))
        first, reasons = self._once(ask, kind, judge)
        if first is not None and not reasons:
            self.kept.put(key, first.answer.model_dump(mode="json"))
            return first
        second, again = self._once(_with_reasons(ask, reasons), kind, judge)
        best = second or first
        if best is None:
            raise Unreadable(f"{ask.purpose} on {ask.subject} gave no readable answer twice: {again[0]}.")
        self.kept.put(key, best.answer.model_dump(mode="json"))
        return best

    def _once(
        self, ask: Ask, kind: type[Answer], judge: Callable[[Answer], Mapping[str, str]]
    ) -> tuple[Judged[Answer] | None, Sequence[str]]:
        try:
            reply = self.asking.ask(ask)
        except Unreadable as error:
            return None, [str(error).rstrip(".")]
        if reply.stop_reason != COMPLETE:
            return None, [f"the answer is not complete (stop reason {reply.stop_reason!r})"]
        try:
            whole = kind.model_validate(reply.data).model_dump(mode="json")
            answer = kind.model_validate(_redacted(whole, self.redact))
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[:5]
            told = (f"the answer does not fit: {'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
            return None, [self.redact(reason) for reason in told]
        judged = Judged(answer, judge(answer))
        return judged, [f"{name}: {reason}" for name, reason in judged.faults.items()]

    def _key(self, ask: Ask) -> str:
        schema = json.dumps(ask.schema, sort_keys=True)
        parts = (self.models.get(ask.purpose, ""), ask.purpose, ask.prompt_version, schema, ask.system, ask.content)
        return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _redacted(data: Any, redact: Callable[[str], str]) -> Any:
    """`data`, of the depth of an answer's schema, with every text in it as `redact` leaves it."""
    if isinstance(data, str):
        return redact(data)
    if isinstance(data, list):
        return [_redacted(each, redact) for each in data]
    if isinstance(data, dict):
        return {name: _redacted(each, redact) for name, each in data.items()}
    return data


def _parsed(data: Any, kind: type[Answer]) -> Answer | None:
    try:
        return kind.model_validate(data)
    except ValidationError:
        return None


def _with_reasons(ask: Ask, reasons: Sequence[str]) -> Ask:
    """The same question with what was wrong with the first answer to it."""
    listed = harmless("\n".join(f"- {' '.join(reason.split())}" for reason in reasons))[:_REASON_CHARS]
    note = "Your first answer could not be used. Answer again, whole, without what is listed here.\n"
    return replace(ask, content=f"{ask.content}\n{note}{between('answer', [listed])}")
