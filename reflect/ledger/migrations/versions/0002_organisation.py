"""What an organisation adds: leases, nights, decisions, paid calls in full, batches, and the history of lint.

Written out rather than taken from the code, so that it stays what it was when the code moves on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for make, _ in _STEPS:
        make()


def downgrade() -> None:
    for _, undo in reversed(_STEPS):
        undo()


def _drop(*tables: str) -> Callable[[], None]:
    def undo() -> None:
        for table in tables:
            op.drop_table(table)

    return undo


def _make_nights() -> None:
    op.create_table(
        "nights",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), autoincrement=True, nullable=False),
        sa.Column("organisation", sa.String(64), nullable=False),
        sa.Column("night_id", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("started_at", sa.String(40), nullable=False),
        sa.Column("finished_at", sa.String(40), nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_nights"),
        sa.UniqueConstraint("organisation", "night_id", name="uq_nights_organisation"),
    )
    op.create_table(
        "night_projects",
        sa.Column("organisation", sa.String(64), nullable=False),
        sa.Column("night_id", sa.String(64), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("organisation", "night_id", "project_id", name="pk_night_projects"),
        sa.ForeignKeyConstraint(
            ["organisation", "night_id"],
            ["nights.organisation", "nights.night_id"],
            name="fk_night_projects_nights",
        ),
    )


def _make_decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("verb", sa.String(32), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("decided_by", sa.Text, nullable=False),
        sa.Column("decided_at", sa.String(40), nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "item_id", "number", name="pk_decisions"),
    )


def _make_episodes() -> None:
    op.create_table(
        "episodes",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("evidence_id", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "run_id", "evidence_id", name="pk_episodes"),
        sa.ForeignKeyConstraint(["project_id", "run_id"], ["runs.project_id", "runs.run_id"], name="fk_episodes_runs"),
    )


def _make_leases() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("process", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )


def _make_carried_lines() -> None:
    op.create_table(
        "carried_lines",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("line_id", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("line", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "line_id", name="pk_carried_lines"),
    )


def _make_batches() -> None:
    op.create_table(
        "batches",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("batch", sa.String(64), nullable=False),
        sa.Column("provider_id", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("sent_at", sa.String(40), nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "batch", name="pk_batches"),
    )
    op.create_table(
        "batch_questions",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("question", sa.String(64), nullable=False),
        sa.Column("batch", sa.String(64), nullable=False),
        sa.Column("call_id", sa.Text, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("usd", sa.Float, nullable=False),
        sa.Column("answer", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("project_id", "question", name="pk_batch_questions"),
    )
    op.create_table(
        "waiting_actions",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("action_id", sa.String(64), nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "action_id", name="pk_waiting_actions"),
    )


def _make_lint() -> None:
    op.create_table(
        "lint_runs",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("lint_id", sa.String(64), nullable=False),
        sa.Column("linted_at", sa.String(40), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("pages", sa.Integer, nullable=False),
        sa.Column("errors", sa.Integer, nullable=False),
        sa.Column("warnings", sa.Integer, nullable=False),
        sa.Column("hints", sa.Integer, nullable=False),
        sa.Column("appeared", sa.Integer, nullable=False),
        sa.Column("gone", sa.Integer, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_lint_runs"),
        sa.UniqueConstraint("project_id", "lint_id", name="uq_lint_runs_project_id"),
    )
    op.create_table(
        "lint_findings",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("finding_id", sa.String(64), nullable=False),
        sa.Column("first_seen", sa.String(40), nullable=False),
        sa.Column("gone_at", sa.String(40), nullable=False),
        sa.Column("code", sa.String(64), nullable=False),
        sa.Column("severity", sa.String(16), nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("fixable", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "finding_id", "first_seen", name="pk_lint_findings"),
    )
    op.create_index("ix_lint_findings_open", "lint_findings", ["project_id", "gone_at"])


_CALL_COLUMNS: tuple[tuple[str, sa.types.TypeEngine[Any]], ...] = (
    ("purpose", sa.Text()),
    ("subject", sa.Text()),
    ("status", sa.String(16)),
    ("request_id", sa.Text()),
    ("cache_read_tokens", sa.BigInteger()),
    ("cache_write_tokens", sa.BigInteger()),
    ("called_at", sa.String(40)),
    ("retries", sa.Integer()),
)


def _widen_spend() -> None:
    for name, kind in _CALL_COLUMNS:
        op.add_column("spend", sa.Column(name, kind, nullable=True))


def _narrow_spend() -> None:
    for name, _ in reversed(_CALL_COLUMNS):
        op.drop_column("spend", name)


_STEPS: tuple[tuple[Callable[[], None], Callable[[], None]], ...] = (
    (_make_nights, _drop("night_projects", "nights")),
    (_make_leases, _drop("leases")),
    (_make_decisions, _drop("decisions")),
    (_make_episodes, _drop("episodes")),
    (_widen_spend, _narrow_spend),
    (_make_carried_lines, _drop("carried_lines")),
    (_make_batches, _drop("waiting_actions", "batch_questions", "batches")),
    (_make_lint, _drop("lint_findings", "lint_runs")),
)
"""Each step with what takes it back, in the order they are made."""
