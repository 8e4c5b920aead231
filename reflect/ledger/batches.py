"""Questions that went out in batches, and actions that wait for them: known before they are sent, on any machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from sqlalchemy import ColumnElement, delete, insert, select, update

from reflect.ledger import calls
from reflect.ledger.calls import CallRow
from reflect.ledger.database import Database
from reflect.ledger.tables import batch_questions, batches, waiting_actions
from reflect.ledger.text import dump, load
from reflect.model import Action


class BatchState(StrEnum):
    """What is known of a batch."""

    SENT = "sent"  # written down; whether the provider took it is not known yet
    OPEN = "open"  # the provider has it
    CLOSED = "closed"  # every question of it was answered or given up
    VOID = "void"  # the provider never had it


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One batch. `batch` is our name for it, `provider_id` the provider's; `sent_at` is ISO 8601 in UTC."""

    project_id: str
    batch: str
    sent_at: str
    requests: int
    provider_id: str = ""
    state: BatchState = BatchState.SENT


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question by its digest; `answer` is the message it got, as JSON, and None while it waits for one."""

    project_id: str
    question: str
    batch: str
    call_id: str
    purpose: str
    subject: str
    model: str
    usd: float
    answer: str | None = None


class Batches:
    """The batches of one project."""

    def __init__(self, database: Database, project: str) -> None:
        self._database = database
        self._project = project

    def claim(self, batch: BatchRow, questions: Sequence[QuestionRow]) -> tuple[QuestionRow, ...]:
        """Write down that `questions` go out with `batch`; those of them that no other batch holds already."""
        held = select(batch_questions.c.question).where(batch_questions.c.project_id == self._project)
        with self._database.write() as connection:
            known = set(connection.execute(held).scalars())
            fresh = tuple(row for row in questions if row.question not in known)
            if fresh:
                connection.execute(insert(batches), asdict(replace(batch, requests=len(fresh))))
                connection.execute(insert(batch_questions), [asdict(row) for row in fresh])
        return fresh

    def settle(self, batch: BatchRow) -> None:
        """Write down what is known of a batch. What one that ended left without an answer may go out again."""
        key = (batches.c.project_id == self._project) & (batches.c.batch == batch.batch)
        left = (batch_questions.c.project_id == self._project) & (batch_questions.c.batch == batch.batch)
        with self._database.write() as connection:
            connection.execute(update(batches).where(key).values(provider_id=batch.provider_id, state=batch.state))
            if batch.state in (BatchState.CLOSED, BatchState.VOID):
                connection.execute(delete(batch_questions).where(left, batch_questions.c.answer.is_(None)))

    def answer(self, digest: str, answer: str | None, call: CallRow) -> None:
        """Keep the answer to a question together with what it cost; without one it may go out again."""
        with self._database.write() as connection:
            if answer is None:
                gone = self._key(digest) & (batch_questions.c.call_id == call.call_id)
                connection.execute(delete(batch_questions).where(gone, batch_questions.c.answer.is_(None)))
            else:
                connection.execute(update(batch_questions).where(self._key(digest)).values(answer=answer))
            calls.settle(connection, call)

    def question(self, digest: str) -> QuestionRow | None:
        """The question of that digest, if it ever went out."""
        with self._database.read() as connection:
            row = connection.execute(select(batch_questions).where(self._key(digest))).one_or_none()
        return None if row is None else QuestionRow(**dict(row._mapping))

    def waiting(self, batch: str) -> dict[str, QuestionRow]:
        """The questions of a batch that have no answer yet, by digest."""
        mine = (batch_questions.c.project_id == self._project) & (batch_questions.c.batch == batch)
        query = select(batch_questions).where(mine, batch_questions.c.answer.is_(None))
        with self._database.read() as connection:
            found = connection.execute(query.order_by(batch_questions.c.question)).all()
        return {row.question: QuestionRow(**dict(row._mapping)) for row in found}

    def unended(self) -> tuple[BatchRow, ...]:
        """The batches that may still bring answers, oldest first."""
        live = (batches.c.project_id == self._project) & batches.c.state.in_([BatchState.SENT, BatchState.OPEN])
        with self._database.read() as connection:
            found = connection.execute(select(batches).where(live).order_by(batches.c.sent_at, batches.c.batch)).all()
        return tuple(BatchRow(**dict(row._mapping)) for row in found)

    def provider_ids(self) -> frozenset[str]:
        """The provider's names of all batches that are known here, those of other projects included."""
        query = select(batches.c.provider_id).where(batches.c.provider_id != "")
        with self._database.read() as connection:
            return frozenset(connection.execute(query).scalars())

    def keep_actions(self, actions: Iterable[Action]) -> None:
        """Let `actions` be what waits to be written, in place of what waited before."""
        rows = [
            {"project_id": self._project, "action_id": name, "payload": dump(action)}
            for name, action in {each.id: each for each in actions}.items()
        ]
        with self._database.write() as connection:
            connection.execute(delete(waiting_actions).where(waiting_actions.c.project_id == self._project))
            if rows:
                connection.execute(insert(waiting_actions), rows)

    def actions(self) -> tuple[Action, ...]:
        """What waits to be written. What another version wrote and this one cannot read is planned anew."""
        query = select(waiting_actions.c.payload).where(waiting_actions.c.project_id == self._project)
        with self._database.read() as connection:
            payloads = connection.execute(query.order_by(waiting_actions.c.action_id)).scalars().all()
        return tuple(action for action in map(_action, payloads) if action is not None)

    def _key(self, digest: str) -> ColumnElement[bool]:
        return (batch_questions.c.project_id == self._project) & (batch_questions.c.question == digest)


def _action(payload: str) -> Action | None:
    try:
        return load(Action, payload)
    except ValueError:
        return None
