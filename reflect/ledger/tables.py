"""The tables. Every key begins with the project, so no row of one project can be reached through another's id.

A run owns the rows it wrote: evidence, findings and pages are kept per run, because which runs count depends on the
wiki that asks. Reflexions, review items and model calls outlive their run. Texts and JSON are `SafeText`; times are
ISO 8601 in UTC, which sorts as text. `SCHEMA` names the newest migration.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from reflect.ledger.text import SafeText

SCHEMA = "0002"
OLDER_SCHEMAS: frozenset[str] = frozenset({"0001"})
VERSION_TABLE = "ledger_version"

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(column_0_label)s",
    }
)

_PROJECT = String(64)
_RUN = String(64)


def _owned_by_run() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project_id", "run_id"], ["runs.project_id", "runs.run_id"])


runs = Table(
    "runs",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("project_id", _PROJECT, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("state", String(16), nullable=False),
    Column("engine", SafeText, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("finished_at", String(40), nullable=False),
    Column("anchor", _RUN, nullable=True),
    Column("rebuilt", Boolean, nullable=False),
    Column("seeded", Boolean, nullable=False),
    Column("floor", SafeText, nullable=False),
    Column("pages_landed", Integer, nullable=False),
    Column("counts", SafeText, nullable=False),
    Column("report", SafeText, nullable=False),
    Column("entry_digest", String(64), nullable=False),
    UniqueConstraint("project_id", "run_id"),
)
"""`number` orders the runs as they were recorded. `anchor` is the run that has to stand in a wiki's log for the rows of
this one to count there; a run that landed no page has none and counts everywhere."""

evidence = Table(
    "evidence",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("evidence_id", SafeText, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("reason", SafeText, nullable=False),
    Column("content", SafeText, nullable=True),
    Column("turn_keys", LargeBinary, nullable=False),
    Column("mode", String(16), nullable=True),
    Column("tainted_by", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "run_id", "evidence_id"),
    _owned_by_run(),
)
"""`turn_keys` are 8-byte keys, one after another. A row without `content` says how its evidence ended and leaves what
earlier rows know of its content."""

findings = Table(
    "findings",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("finding_id", _RUN, nullable=False),
    Column("state", String(16), nullable=False),
    Column("evidence_ids", SafeText, nullable=False),
    Column("payload", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "run_id", "finding_id"),
    _owned_by_run(),
)
"""`pending`: the run left it for a later one. `taken`: the run took it up (no payload)."""

pages = Table(
    "pages",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("path", SafeText, nullable=False),
    Column("action", String(32), nullable=False),
    Column("sources", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "run_id", "path"),
    _owned_by_run(),
)

reflexions = Table(
    "reflexions",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("reflexion_id", SafeText, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("domain", SafeText, nullable=False),
    Column("origin", String(16), nullable=False),
    Column("evidence", String(16), nullable=False),
    Column("learnable", Boolean, nullable=False),
    Column("processed", Boolean, nullable=False),
    Column("dropped", Boolean, nullable=False),
    Column("created_at", SafeText, nullable=False),
    Column("payload", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "reflexion_id"),
)
"""Never deleted: dropping one is a flag."""

review_items = Table(
    "review_items",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("item_id", SafeText, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("status", String(32), nullable=False),
    Column("claim_sha256", String(64), nullable=False),
    Column("evidence_ids", SafeText, nullable=False),
    Column("created_at", SafeText, nullable=False),
    Column("payload", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "item_id"),
    Index("ix_review_items_status", "project_id", "status"),
)
"""`status` is what holds now, the payload's is what it was when the item was made."""

decisions = Table(
    "decisions",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("item_id", SafeText, nullable=False),
    Column("number", Integer, nullable=False),
    Column("verb", String(32), nullable=False),
    Column("status", String(32), nullable=False),
    Column("decided_by", SafeText, nullable=False),
    Column("decided_at", String(40), nullable=False),
    Column("payload", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "item_id", "number"),
)
"""Everything decided on a review item, in order; never changed. `status` is what the item is after it."""

episodes = Table(
    "episodes",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("evidence_id", SafeText, nullable=False),
    Column("payload", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "run_id", "evidence_id"),
    _owned_by_run(),
)
"""What scope must know of the evidence of findings that wait, and is not read again with them."""

carried_lines = Table(
    "carried_lines",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("line_id", String(64), nullable=False),
    Column("number", Integer, nullable=False),
    Column("line", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "line_id"),
)
"""Lines of imported files that are no records, by their digest: never read here, written back with every export."""

spend = Table(
    "spend",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("call_id", SafeText, nullable=False),
    Column("run_id", _RUN, nullable=False),
    Column("model", SafeText, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("usd", Float, nullable=False),
    Column("purpose", SafeText, nullable=True),
    Column("subject", SafeText, nullable=True),
    Column("status", String(16), nullable=True),
    Column("request_id", SafeText, nullable=True),
    Column("cache_read_tokens", BigInteger, nullable=True),
    Column("cache_write_tokens", BigInteger, nullable=True),
    Column("called_at", String(40), nullable=True),
    Column("retries", Integer, nullable=True),
    PrimaryKeyConstraint("project_id", "call_id"),
)
"""One row for each request to a model, a failed run's included. It is made before the request is sent, with what was
set aside as its cost, and settled when it has ended. `retries` counts the tries before it; `run_id` may be empty: a
call ends before its run has a name."""

batches = Table(
    "batches",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("batch", String(64), nullable=False),
    Column("provider_id", SafeText, nullable=False),
    Column("state", String(16), nullable=False),
    Column("sent_at", String(40), nullable=False),
    Column("requests", Integer, nullable=False),
    PrimaryKeyConstraint("project_id", "batch"),
)
"""Questions that were sent together. `provider_id` is empty until the provider's own name for them is known: the row is
made before they are sent."""

batch_questions = Table(
    "batch_questions",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("question", String(64), nullable=False),
    Column("batch", String(64), nullable=False),
    Column("call_id", SafeText, nullable=False),
    Column("purpose", SafeText, nullable=False),
    Column("subject", SafeText, nullable=False),
    Column("model", SafeText, nullable=False),
    Column("usd", Float, nullable=False),
    Column("answer", SafeText, nullable=True),
    PrimaryKeyConstraint("project_id", "question"),
)
"""A question by its digest, in the one batch it went out with; an `answer` stays, for every machine. `call_id` is its
row of `spend`, `usd` what was set aside for it."""

waiting_actions = Table(
    "waiting_actions",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("action_id", String(64), nullable=False),
    Column("payload", SafeText, nullable=False),
    PrimaryKeyConstraint("project_id", "action_id"),
)
"""What the last run planned and could not write yet, so that the next one writes it instead of planning anew."""

nights = Table(
    "nights",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("organisation", String(64), nullable=False),
    Column("night_id", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("finished_at", String(40), nullable=False),
    Column("report", SafeText, nullable=False),
    UniqueConstraint("organisation", "night_id"),
)
"""`number` orders the nights as they began. One whose `finished_at` is empty is running, or was killed."""

night_projects = Table(
    "night_projects",
    metadata,
    Column("organisation", String(64), nullable=False),
    Column("night_id", String(64), nullable=False),
    Column("project_id", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", SafeText, nullable=False),
    Column("payload", SafeText, nullable=False),
    PrimaryKeyConstraint("organisation", "night_id", "project_id"),
    ForeignKeyConstraint(["organisation", "night_id"], ["nights.organisation", "nights.night_id"]),
)
"""What became of each project in each night."""

lint_runs = Table(
    "lint_runs",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("project_id", _PROJECT, nullable=False),
    Column("lint_id", String(64), nullable=False),
    Column("linted_at", String(40), nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", SafeText, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("warnings", Integer, nullable=False),
    Column("hints", Integer, nullable=False),
    Column("appeared", Integer, nullable=False),
    Column("gone", Integer, nullable=False),
    Column("details", SafeText, nullable=False),
    UniqueConstraint("project_id", "lint_id"),
)
"""One lint of one wiki. `number` orders them as they were recorded; only the newest keeps its `details`."""

lint_findings = Table(
    "lint_findings",
    metadata,
    Column("project_id", _PROJECT, nullable=False),
    Column("finding_id", String(64), nullable=False),
    Column("first_seen", String(40), nullable=False),
    Column("gone_at", String(40), nullable=False),
    Column("code", String(64), nullable=False),
    Column("severity", String(16), nullable=False),
    Column("path", SafeText, nullable=False),
    Column("line", Integer, nullable=False),
    Column("title", SafeText, nullable=False),
    Column("detail", SafeText, nullable=False),
    Column("fixable", Boolean, nullable=False),
    PrimaryKeyConstraint("project_id", "finding_id", "first_seen"),
    Index("ix_lint_findings_open", "project_id", "gone_at"),
)
"""A finding from the lint that first had it to the first that no longer did; `gone_at` is empty while it is open."""

leases = Table(
    "leases",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("holder", SafeText, nullable=False),
    Column("token", String(32), nullable=False),
    Column("process", SafeText, nullable=False),
    Column("expires_at", Float, nullable=False),
)
"""Who may write what, until when in seconds since the epoch; one row for each thing that is held."""
