"""The ledger as the rest of the product sees it. Every method names the project it is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import TypeVar

from sqlalchemy import Connection

from reflect.errors import LedgerError
from reflect.ledger import calls, health, keeping, leases, nights, reading, recording, reviewing
from reflect.ledger.batches import Batches
from reflect.ledger.database import Database
from reflect.ledger.entry import LedgerEntry
from reflect.ledger.reading import Account, LedgerCounts, RunSummary, SeenRows
from reflect.ledger.rebuild import Rebuilt, WikiSources, rebuild
from reflect.ledger.reviewing import Judge
from reflect.ledger.schema import prepare
from reflect.model import Finding
from reflect.scope.context import EpisodeScope
from reflect.scope.decided import Decided
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem, ReviewStatus

_A = TypeVar("_A")


class Ledger:
    """Durable state on one database, safe to use from several threads and processes at once.

    `landed_runs` are the ids of the runs that stand in the asking wiki's `log.md`: what a run wrote into a wiki counts
    only where that wiki still has it. Every method raises LedgerError, with nothing changed, when the database fails.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str) -> Ledger:
        """The ledger at `url` (SQLite or PostgreSQL), made or migrated where needed.

        Raises LedgerError, with everything left as it is, when the database cannot be reached or used, is not a
        ledger, or has a newer schema.
        """
        database = Database(url)
        try:
            prepare(database)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def name(self) -> str:
        """The file or the address, without a password."""
        return self._database.name

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def record(self, entry: LedgerEntry) -> bool:
        """Write everything `entry` says in one transaction; False where the ledger already said the same.

        Recording a run again replaces what that run said before, and never a decision taken on a review item or a
        reflexion since.
        """
        with self._database.write() as connection:
            return recording.record(connection, entry)

    def mark_archived(self, project: str, run_id: str) -> None:
        """Note that what the landed run retired has been moved."""
        with self._database.write() as connection:
            recording.mark_archived(connection, _named(project), run_id)

    def seen(self, project: str, landed_runs: Collection[str]) -> SeenRows:
        """What is settled for a wiki whose log names `landed_runs`."""
        return self._ask(project, lambda connection: reading.seen(connection, project, landed_runs))

    def accounts(self, project: str, landed_runs: Collection[str]) -> dict[str, Account]:
        """How every piece of evidence ended, by id, for a wiki whose log names `landed_runs`."""
        return self._ask(project, lambda connection: reading.accounts(connection, project, landed_runs))

    def pending_findings(self, project: str, landed_runs: Collection[str]) -> tuple[Finding, ...]:
        """The findings that wait for a run, ordered by id."""
        return self._ask(project, lambda connection: reading.pending_findings(connection, project, landed_runs))

    def pending_episodes(self, project: str, landed_runs: Collection[str]) -> tuple[EpisodeScope, ...]:
        """What scope knows of the evidence of the findings that wait for a run, ordered by id."""
        return self._ask(project, lambda connection: reading.pending_episodes(connection, project, landed_runs))

    def queue(self, project: str, status: str | None = None) -> tuple[ReviewItem, ...]:
        """The review items, oldest first; all of them or those with `status`."""
        return self._ask(project, lambda connection: reviewing.queue(connection, project, status))

    def decided_items(self, project: str) -> tuple[ReviewItem, ...]:
        """The review items on which anything was decided, as they stand, oldest first."""
        return self._ask(project, lambda connection: reviewing.decided_items(connection, project))

    def item(self, project: str, item_id: str) -> ReviewItem | None:
        """The review item with this whole id as it stands."""
        return self._ask(project, lambda connection: reviewing.item(connection, project, item_id))

    def decisions(self, project: str, item_id: str) -> tuple[Decided, ...]:
        """Everything decided on an item, oldest first."""
        return self._ask(project, lambda connection: reviewing.history(connection, project, item_id))

    def decide(self, project: str, item_id: str, judge: Judge) -> ReviewItem:
        """Let `judge` rule on an item and write the ruling down, in one transaction; the item as it stands then.

        Whoever decides at the same time is asked afterwards and sees this decision. What `judge` raises passes
        through, with nothing changed.
        """
        _named(project)
        with self._database.write() as connection:
            return reviewing.decide(connection, project, item_id, judge)

    def change_reflexions(self, project: str, changes: Mapping[str, keeping.Change]) -> tuple[str, ...]:
        """Change the records with these ids in one transaction; the ids of those that are different now."""
        _named(project)
        with self._database.write() as connection:
            return keeping.change(connection, project, changes)

    def take_over(self, project: str, rows: Collection[Reflexion], lines: Sequence[str] = ()) -> tuple[str, ...]:
        """Keep the records and the unreadable lines of a file; the ids that were new. Safe to repeat.

        A known record stays as it is, but one that the file says was dropped is dropped.
        """
        _named(project)
        with self._database.write() as connection:
            return keeping.take_over(connection, project, rows, lines)

    def carried_lines(self, project: str) -> tuple[str, ...]:
        """The lines of imported files that are no records, as they came."""
        return self._ask(project, lambda connection: keeping.carried(connection, project))

    def propose(self, project: str, items: Collection[ReviewItem]) -> tuple[str, ...]:
        """Ask what no run asked; the ids of the new questions. A known one stays as it was decided."""
        _named(project)
        with self._database.write() as connection:
            return keeping.propose(connection, project, items)

    def waiting_claims(self, project: str) -> int:
        """How many review items wait for an operator."""
        return self._ask(project, lambda connection: reading.waiting_claims(connection, project))

    def item_statuses(self, project: str) -> dict[str, ReviewStatus]:
        """What became of every review item, by id."""
        return self._ask(project, lambda connection: reading.item_statuses(connection, project))

    def oldest_waiting(self, project: str) -> datetime | None:
        """The time of the oldest question that is still open; None where nothing waits."""
        found = self._ask(project, lambda connection: reading.oldest_waiting(connection, project))
        return datetime.fromisoformat(found) if found else None

    def reflexion(self, project: str, reflexion_id: str) -> Reflexion | None:
        """The reflexion with this whole id, dropped or not."""
        return self._ask(project, lambda connection: reading.reflexion(connection, project, reflexion_id))

    def reflexions(self, project: str) -> tuple[Reflexion, ...]:
        """All reflexions, dropped ones included, oldest first."""
        return self._ask(project, lambda connection: reading.all_reflexions(connection, project))

    def last_run(self, project: str) -> RunSummary | None:
        """The run recorded last, whatever became of it."""
        return self._ask(project, lambda connection: reading.last_run(connection, project))

    def run(self, project: str, run_id: str) -> RunSummary | None:
        """The run called `run_id`, if it was recorded."""
        return self._ask(project, lambda connection: reading.run(connection, project, run_id))

    def counts(self, project: str, landed_runs: Collection[str] | None = None) -> LedgerCounts:
        """What `reflect status` shows; None counts the runs of every wiki of the project."""
        return self._ask(project, lambda connection: reading.counts(connection, project, landed_runs))

    @contextmanager
    def lease(self, name: str, holder: str, ttl_s: float = leases.TTL_S) -> Iterator[leases.Lease]:
        """Hold what `name` stands for, for the length of a `with` block. Raises RepositoryBusy where another does."""
        with leases.held(self._database, _named(name), holder, ttl_s) as lease:
            yield lease

    def lease_holders(self) -> frozenset[str]:
        """Who holds any lease now."""
        with self._database.read() as connection:
            return leases.holders(connection)

    def begin_night(self, organisation: str, night_id: str, started_at: str) -> None:
        """Note that a night has begun, at `started_at` in ISO 8601 and UTC."""
        with self._database.write() as connection:
            nights.begin(connection, _named(organisation), night_id, started_at)

    def settle_night(self, night: nights.NightRow, projects: Collection[nights.ProjectRow]) -> None:
        """Write down what a night came to and what became of each project."""
        _named(night.organisation)
        with self._database.write() as connection:
            nights.settle(connection, night, projects)

    def settle_project_night(self, organisation: str, night_id: str, project: nights.ProjectRow) -> None:
        """Write down what became of one project, while its night goes on."""
        with self._database.write() as connection:
            nights.settle_project(connection, _named(organisation), night_id, project)

    def project_nights(self, organisation: str, night_id: str) -> tuple[nights.ProjectRow, ...]:
        """What is known of the projects of one night."""
        return self._ask(organisation, lambda connection: nights.project_rows(connection, organisation, night_id))

    def give_up_nights(self, organisation: str, finished_at: str, *, but: str) -> tuple[str, ...]:
        """Close the nights that a crash left running, `but` one; their ids."""
        with self._database.write() as connection:
            return nights.give_up(connection, _named(organisation), finished_at, but=but)

    def recent_nights(self, organisation: str, limit: int = 10) -> tuple[nights.NightRow, ...]:
        """The last nights of an organisation, newest first."""
        return self._ask(organisation, lambda connection: nights.recent(connection, organisation, limit))

    def project_states(self, organisation: str, limit: int = 30) -> dict[str, tuple[str, ...]]:
        """Of each project, what became of it in the last settled nights, newest first."""
        return self._ask(organisation, lambda connection: nights.project_states(connection, organisation, limit))

    def reserve_call(self, row: calls.CallRow, since: str, project_usd: float, night_usd: float) -> calls.Full | None:
        """Set the cost of a call aside before it is made; or the cap that this would pass, with nothing set aside."""
        _named(row.project_id)
        with self._database.write() as connection:
            return calls.reserve(connection, row, since, project_usd, night_usd)

    def settle_call(self, row: calls.CallRow) -> None:
        """Write down how a call ended."""
        _named(row.project_id)
        with self._database.write() as connection:
            calls.settle(connection, row)

    def batches(self, project: str) -> Batches:
        """The questions of a project that went out in batches."""
        return Batches(self._database, _named(project))

    def model_calls(self, project: str) -> tuple[calls.CallRow, ...]:
        """The calls to a model for a project, in their order."""
        return self._ask(project, lambda connection: calls.rows(connection, project))

    def record_lint(self, lint: health.LintRow, found: Collection[health.FoundRow] = ()) -> None:
        """Add what lint found in one project to the history."""
        _named(lint.project_id)
        with self._database.write() as connection:
            health.record(connection, lint, found)

    def lint_history(self, projects: Sequence[str], since: str) -> health.LintHistory:
        """What is known of the lints of `projects`, with the counts of those since `since` (ISO 8601 in UTC)."""
        for project in projects:
            _named(project)
        with self._database.read() as connection:
            return health.history(connection, projects, since)

    def rebuild(self, wiki: WikiSources) -> Rebuilt:
        """Restore from a wiki's own sources what is missing, so that the next run does not write it again.

        Safe to repeat: the second time changes nothing.
        """
        _named(wiki.project)
        with self._database.write() as connection:
            return rebuild(connection, wiki)

    def _ask(self, project: str, question: Callable[[Connection], _A]) -> _A:
        _named(project)
        with self._database.read() as connection:
            return question(connection)


def _named(project: str) -> str:
    if not project:
        raise LedgerError("The ledger was asked without a project; nothing was read; name one.")
    return project
