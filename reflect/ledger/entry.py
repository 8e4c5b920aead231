"""What one run leaves in the ledger, as one value that a landing's journal can hold and give back after a crash."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from reflect.ledger.text import dump, load
from reflect.model import (
    Accounted,
    CommitSha,
    EvidenceKind,
    EvidenceMode,
    Finding,
    Outcome,
    ProjectId,
    Source,
    Value,
)
from reflect.scope.context import EpisodeScope
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem

TURN_KEY_BYTES = 8

RunId = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$")]


class RunState(StrEnum):
    LANDED = "landed"  # its pages are in the wiki
    ARCHIVED = "archived"  # landed, and what it retired is moved
    EMPTY = "empty"  # it settled evidence and had no page to write
    FAILED = "failed"  # nothing of it counts but what it spent


class EvidenceRecord(Value):
    """How one piece of evidence ended in a run, and what a later run must know to leave it alone.

    `content` is the hash of what was read; without one the record changes the outcome alone, and evidence that never
    had one is read again. `turn_keys` is base64 of 8-byte keys, one after another. `mode` is set for sessions that were
    shown to an engine, and `tainted_by` says what narrowed it.
    """

    id: str
    kind: EvidenceKind
    outcome: Outcome
    reason: str = ""
    content: str | None = None
    turn_keys: str = ""
    mode: EvidenceMode | None = None
    tainted_by: str = ""

    @classmethod
    def of(
        cls,
        accounted: Accounted,
        *,
        content: str | None = None,
        turn_keys: Iterable[bytes] = (),
        mode: EvidenceMode | None = None,
        tainted_by: str = "",
    ) -> EvidenceRecord:
        """The record of `accounted`, with each of `turn_keys` 8 bytes long; repeated keys are stored once."""
        packed = base64.b64encode(pack(turn_keys)).decode("ascii")
        return cls(**accounted.model_dump(), content=content, turn_keys=packed, mode=mode, tainted_by=tainted_by)

    @property
    def packed_turn_keys(self) -> bytes:
        return base64.b64decode(self.turn_keys)

    @field_validator("turn_keys")
    @classmethod
    def _whole_keys(cls, value: str) -> str:
        if len(base64.b64decode(value, validate=True)) % TURN_KEY_BYTES:
            raise ValueError(f"turn keys are {TURN_KEY_BYTES} bytes each")
        return value


class PageRecord(Value):
    """One page a run landed."""

    path: str
    action: str
    sources: tuple[Source, ...] = ()


class ModelCall(Value):
    """One paid call. `id` is the provider's, so that a call written down twice is counted once."""

    id: str
    model: str
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    usd: float = Field(default=0.0, ge=0)


class LedgerEntry(Value):
    """Everything one run leaves behind.

    `taken` are the ids of the pending findings it took up, `pending` the findings it leaves; one that it took up and
    leaves again is in both. `episodes` is what scope knows of the evidence of those it leaves. `floor` and `seeded` say
    where the seed window ended, if this run opened one.
    """

    project: ProjectId
    run_id: RunId
    engine: str
    state: RunState
    started_at: datetime | None = None
    finished_at: datetime | None = None
    seeded: bool = False
    floor: tuple[CommitSha, ...] = ()
    evidence: tuple[EvidenceRecord, ...] = ()
    taken: tuple[str, ...] = ()
    pending: tuple[Finding, ...] = ()
    episodes: tuple[EpisodeScope, ...] = ()
    reflexions: tuple[Reflexion, ...] = ()
    review_items: tuple[ReviewItem, ...] = ()
    pages: tuple[PageRecord, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict)
    report: dict[str, Any] = Field(default_factory=dict)

    @field_validator("evidence")
    @classmethod
    def _one_outcome_each(cls, value: tuple[EvidenceRecord, ...]) -> tuple[EvidenceRecord, ...]:
        if len({record.id for record in value}) != len(value):
            raise ValueError("a piece of evidence has more than one outcome")
        return value

    @model_validator(mode="after")
    def _one_project(self) -> Self:
        named = {r.project_id for r in self.reflexions} | {item.project_id for item in self.review_items}
        if foreign := named - {None, self.project}:
            raise ValueError(f"rows of {sorted(map(str, foreign))} in an entry of {self.project!r}")
        return self

    @property
    def anchor(self) -> str | None:
        """The run that must stand in a wiki's log for this entry to count there; None where it wrote no page."""
        return self.run_id if self.pages else None

    @property
    def fingerprint(self) -> str:
        """A digest of what the entry says, whenever it was said."""
        timeless = self.model_copy(update={"started_at": None, "finished_at": None})
        return hashlib.sha256(timeless.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """The entry as text that encodes to UTF-8 whatever it quotes."""
        return dump(self)

    @classmethod
    def from_json(cls, text: str) -> LedgerEntry:
        """The entry `to_json` wrote."""
        return load(cls, text)


def pack(turn_keys: Iterable[bytes]) -> bytes:
    """Keys one after another, sorted, each once."""
    return b"".join(sorted(set(turn_keys)))


def unpack(packed: bytes) -> Iterable[bytes]:
    return (packed[start : start + TURN_KEY_BYTES] for start in range(0, len(packed), TURN_KEY_BYTES))
