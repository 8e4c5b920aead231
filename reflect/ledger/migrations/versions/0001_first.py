"""The first tables.

Written out rather than taken from the code, so that it stays what it was when the code moves on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _runs()
    _rows_of_a_run()
    _rows_that_outlive_a_run()


def downgrade() -> None:
    for table in ("spend", "review_items", "reflexions", "pages", "findings", "evidence", "runs"):
        op.drop_table(table)


def _project() -> sa.Column[str]:
    return sa.Column("project_id", sa.String(64), nullable=False)


def _run() -> sa.Column[str]:
    return sa.Column("run_id", sa.String(64), nullable=False)


def _owned_by_run(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["project_id", "run_id"], ["runs.project_id", "runs.run_id"], name=f"fk_{table}_runs"
    )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), autoincrement=True, nullable=False),
        _project(),
        _run(),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("started_at", sa.String(40), nullable=False),
        sa.Column("finished_at", sa.String(40), nullable=False),
        sa.Column("anchor", sa.String(64), nullable=True),
        sa.Column("rebuilt", sa.Boolean, nullable=False),
        sa.Column("seeded", sa.Boolean, nullable=False),
        sa.Column("floor", sa.Text, nullable=False),
        sa.Column("pages_landed", sa.Integer, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        sa.Column("entry_digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_runs"),
        sa.UniqueConstraint("project_id", "run_id", name="uq_runs_project_id"),
    )


def _rows_of_a_run() -> None:
    op.create_table(
        "evidence",
        _project(),
        _run(),
        sa.Column("evidence_id", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=True),
        sa.Column("turn_keys", sa.LargeBinary, nullable=False),
        sa.Column("mode", sa.String(16), nullable=True),
        sa.Column("tainted_by", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "run_id", "evidence_id", name="pk_evidence"),
        _owned_by_run("evidence"),
    )
    op.create_table(
        "findings",
        _project(),
        _run(),
        sa.Column("finding_id", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("evidence_ids", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "run_id", "finding_id", name="pk_findings"),
        _owned_by_run("findings"),
    )
    op.create_table(
        "pages",
        _project(),
        _run(),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("sources", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "run_id", "path", name="pk_pages"),
        _owned_by_run("pages"),
    )


def _rows_that_outlive_a_run() -> None:
    op.create_table(
        "reflexions",
        _project(),
        sa.Column("reflexion_id", sa.Text, nullable=False),
        _run(),
        sa.Column("domain", sa.Text, nullable=False),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("evidence", sa.String(16), nullable=False),
        sa.Column("learnable", sa.Boolean, nullable=False),
        sa.Column("processed", sa.Boolean, nullable=False),
        sa.Column("dropped", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "reflexion_id", name="pk_reflexions"),
    )
    op.create_table(
        "review_items",
        _project(),
        sa.Column("item_id", sa.Text, nullable=False),
        _run(),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("claim_sha256", sa.String(64), nullable=False),
        sa.Column("evidence_ids", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "item_id", name="pk_review_items"),
    )
    op.create_index("ix_review_items_status", "review_items", ["project_id", "status"])
    op.create_table(
        "spend",
        _project(),
        sa.Column("call_id", sa.Text, nullable=False),
        _run(),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("usd", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "call_id", name="pk_spend"),
    )
