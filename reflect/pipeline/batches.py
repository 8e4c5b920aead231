"""The batches of a run, in the ledger: what waits for an answer, on whichever machine it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from reflect.ledger.batches import BatchRow, BatchState, QuestionRow
from reflect.ledger.recording import instant
from reflect.pipeline.bill import Bill
from reflect.pipeline.write import Written
from reflect.triage.claude.batches import Batch, Batched, Question
from reflect.triage.claude.engine import ClaudeEngine
from reflect.triage.claude.money import Call, Ended
from reflect.triage.engine import Engine
from reflect.workspace import Workspace


@dataclass(frozen=True)
class BatchesInLedger:
    """The batches of the project that `bill` is for."""

    bill: Bill

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lease of the project's batches. Raises RepositoryBusy where another run has it."""
        with self.bill.workspace.ledger() as ledger, ledger.lease(f"batches of {self._project}", "batches"):
            yield

    def asked(self, name: str) -> str | None:
        with self.bill.workspace.ledger() as ledger:
            row = ledger.batches(self._project).question(name)
        return None if row is None else row.answer or ""

    def claim(self, batch: Batch, questions: Sequence[Question]) -> frozenset[str]:
        rows = [
            QuestionRow(
                self._project,
                one.name,
                batch.name,
                one.call.id,
                one.call.purpose,
                one.call.subject,
                one.call.model,
                one.usd,
            )
            for one in questions
        ]
        with self.bill.workspace.ledger() as ledger:
            return frozenset(row.question for row in ledger.batches(self._project).claim(self._row(batch), rows))

    def known_as(self, batch: Batch, *, open: bool) -> None:
        state = BatchState.OPEN if open else BatchState.CLOSED if batch.id else BatchState.VOID
        with self.bill.workspace.ledger() as ledger:
            ledger.batches(self._project).settle(replace(self._row(batch), state=state))

    def unended(self) -> tuple[Batch, ...]:
        with self.bill.workspace.ledger() as ledger:
            rows = ledger.batches(self._project).unended()
        return tuple(
            Batch(row.batch, datetime.fromisoformat(row.sent_at), row.requests, row.provider_id) for row in rows
        )

    def waiting(self, batch: Batch) -> Mapping[str, Question]:
        with self.bill.workspace.ledger() as ledger:
            rows = ledger.batches(self._project).waiting(batch.name)
        return {
            name: Question(name, Call(row.call_id, row.purpose, row.subject, row.model, 0), row.usd)
            for name, row in rows.items()
        }

    def answered(self, question: Question, ended: Ended, answer: str | None = None) -> None:
        call = question.call
        with self.bill.workspace.ledger() as ledger:
            ledger.batches(self._project).answer(question.name, answer, self.bill.row(call, ended))
        self.bill.note(call, ended)

    def strangers(self, ids: Sequence[str]) -> tuple[str, ...]:
        with self.bill.workspace.ledger() as ledger:
            known = ledger.batches(self._project).provider_ids()
        return tuple(one for one in ids if one not in known)

    @property
    def _project(self) -> str:
        return self.bill.workspace.project.project_id

    def _row(self, batch: Batch) -> BatchRow:
        return BatchRow(self._project, batch.name, instant(batch.sent_at), batch.size, batch.id)


def collect_answers(engine: Engine) -> tuple[str, ...]:
    """Read what earlier batches of the project have answered; what there is to say of those that have not."""
    batched = _batched(engine)
    return batched.collect() if batched is not None else ()


def send_questions(engine: Engine, workspace: Workspace, written: Written) -> tuple[str, ...]:
    """Send what the run could not do without an answer, in one batch; what there is to say of it.

    What was planned and waits to be written is kept first, so that the answers find the questions they belong to.
    """
    with workspace.ledger() as ledger:
        ledger.batches(workspace.project.project_id).keep_actions(written.waiting)
    batched = _batched(engine)
    return batched.send() if batched is not None else ()


def _batched(engine: Engine) -> Batched | None:
    asking = engine.asking if isinstance(engine, ClaudeEngine) else None
    return asking if isinstance(asking, Batched) else None
