"""What alembic runs: the migrations, on the connection and in the transaction that `reflect.ledger.schema` holds."""

from __future__ import annotations

from alembic import context

from reflect.ledger.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
