"""Requests to a model, written down before they are sent: what is set aside counts as spent until it is settled."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, insert, select, text, update

from reflect.ledger.tables import spend

_LOCK = 0x5EF1EC7
"""What transactions on PostgreSQL that set money aside wait for, as those on SQLite do for its write lock."""

RESERVED = "asked"


@dataclass(frozen=True, slots=True)
class CallRow:
    """One request. `called_at` is ISO 8601 in UTC; `input_tokens` are those outside any cache."""

    project_id: str
    call_id: str
    model: str
    purpose: str
    subject: str
    called_at: str
    retries: int = 0
    status: str = RESERVED
    request_id: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Full:
    """A cap that the next call would pass: whose, and what is spent or set aside."""

    whose: str
    spent: float
    cap: float


def reserve(connection: Connection, row: CallRow, since: str, project_usd: float, night_usd: float) -> Full | None:
    """Set `row.usd` aside; or the cap that this would pass, with nothing set aside.

    `since` is when the night began, ISO 8601 in UTC: only later calls count.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    recent = spend.c.called_at >= since
    mine = _usd(connection, recent & (spend.c.project_id == row.project_id))
    if mine + row.usd > project_usd:
        return Full("repository", mine, project_usd)
    everyone = _usd(connection, recent)
    if everyone + row.usd > night_usd:
        return Full("night", everyone, night_usd)
    connection.execute(insert(spend), _values(row))
    return None


def settle(connection: Connection, row: CallRow) -> None:
    """Write down how a call ended, in place of what was set aside for it. Saying it again changes nothing.

    When it was made stays: what was set aside then counts for that night, however late its answer comes.
    """
    key = (spend.c.project_id == row.project_id) & (spend.c.call_id == row.call_id)
    ended = {name: value for name, value in _values(row).items() if name != "called_at"}
    if not connection.execute(update(spend).where(key).values(**ended)).rowcount:
        connection.execute(insert(spend), _values(row))


def rows(connection: Connection, project: str) -> tuple[CallRow, ...]:
    """The calls of a project that were written down in full, in their order."""
    columns = [spend.c[name] for name in CallRow.__dataclass_fields__]
    query = select(*columns).where(spend.c.project_id == project, spend.c.called_at.is_not(None))
    found = connection.execute(query.order_by(spend.c.called_at, spend.c.call_id))
    return tuple(CallRow(**dict(row._mapping)) for row in found)


def _usd(connection: Connection, where: ColumnElement[bool]) -> float:
    return float(connection.execute(select(func.coalesce(func.sum(spend.c.usd), 0.0)).where(where)).scalar_one())


def _values(row: CallRow) -> dict[str, object]:
    return {name: getattr(row, name) for name in CallRow.__dataclass_fields__} | {"run_id": ""}
