"""The right to write one wiki, held in the ledger, so that two machines never write one at the same time.

A lease runs out unless it is renewed: what a dead machine held is free again after a while. What a dead process of this
machine held is free at once.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select, text, update

from reflect.errors import LedgerError, RepositoryBusy
from reflect.ledger.database import Database
from reflect.ledger.tables import leases

TTL_S = 120.0


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that was taken. `token` tells this taking from any other, also by the same holder."""

    database: Database
    name: str
    holder: str
    token: str
    ttl_s: float

    def renew(self) -> bool:
        """Hold it for another `ttl_s` seconds; False where somebody else holds it by now."""
        with self.database.write() as connection:
            held = (leases.c.name == self.name) & (leases.c.token == self.token)
            expires = _now(connection) + self.ttl_s
            return connection.execute(update(leases).where(held).values(expires_at=expires)).rowcount == 1

    def check(self) -> None:
        """Renew it. Raises RepositoryBusy where it ran out and somebody else took it: nothing may be written then."""
        if not self.renew():
            raise RepositoryBusy(
                f"The lease {self.name!r} ran out while {self.holder} held it and was taken by another run; nothing "
                "was written; that run does the work."
            )


@contextmanager
def held(database: Database, name: str, holder: str, ttl_s: float = TTL_S) -> Iterator[Lease]:
    """Hold the lease `name` for the length of a `with` block, renewed in the background.

    Raises RepositoryBusy, naming the holder, where another one holds it.
    """
    lease = Lease(database, name, holder, uuid.uuid4().hex, ttl_s)
    with database.write() as connection:
        _take(connection, lease)
    ended = threading.Event()
    threading.Thread(target=_renew_until, args=(lease, ended), name="reflect-lease", daemon=True).start()
    try:
        yield lease
    finally:
        ended.set()
        with suppress(LedgerError), database.write() as connection:  # one that is not freed runs out
            connection.execute(delete(leases).where(leases.c.name == name, leases.c.token == lease.token))


def holders(connection: Connection) -> frozenset[str]:
    """Who holds any lease now."""
    rows = connection.execute(select(leases.c.holder, leases.c.process).where(leases.c.expires_at > _now(connection)))
    return frozenset(row.holder for row in rows if not _is_dead(row.process))


def _take(connection: Connection, lease: Lease) -> None:
    """Insert the lease, in place of one that ran out or whose process is gone."""
    if connection.dialect.name == "postgresql":
        key = {"room": 8, "name": lease.name}
        connection.execute(text("SELECT pg_advisory_xact_lock(:room, hashtext(:name))"), key)
    now = _now(connection)
    row = connection.execute(select(leases).where(leases.c.name == lease.name)).one_or_none()
    if row is not None and row.expires_at > now and not _is_dead(row.process):
        raise RepositoryBusy(
            f"{lease.name!r} is held by {row.holder} on {row.process.split('/')[0]} for another "
            f"{row.expires_at - now:.0f} s at least; nothing was read or written; try again when it has ended."
        )
    connection.execute(delete(leases).where(leases.c.name == lease.name))
    values = {"name": lease.name, "holder": lease.holder, "token": lease.token, "process": _this_process()}
    connection.execute(insert(leases), values | {"expires_at": now + lease.ttl_s})


def _renew_until(lease: Lease, ended: threading.Event) -> None:
    while not ended.wait(lease.ttl_s / 3):
        with suppress(LedgerError):  # the next renewal may reach it again; `check` decides before anything is written
            if not lease.renew():
                return


def _now(connection: Connection) -> float:
    """Seconds since the epoch by the clock that every holder shares: the server's, or this machine's for a file."""
    if connection.dialect.name == "postgresql":
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
    return time.time()


def _this_process() -> str:
    """`machine/where its process ids count/process id/start of the process`."""
    return f"{socket.gethostname()}/{_numbering()}/{os.getpid()}/{_started(os.getpid())}"


def _numbering() -> str:
    """Where process ids mean what they mean here: this start of the machine, and this container's own processes.

    Containers on the host's network share its name, and cannot see one another's processes.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return "unknown"


def _is_dead(process: str) -> bool:
    """Whether `process` ran here and is gone; another machine's or container's cannot be told."""
    place, number, started = process.rsplit("/", 2)
    return place == f"{socket.gethostname()}/{_numbering()}" and _started(int(number)) != started


def _started(process: int) -> str:
    """When a process of this machine began, in ticks since the machine did; `gone` where there is none."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "gone" if Path("/proc/self/stat").exists() else "unknown"
    fields = stat.rsplit(")", 1)[1].split()
    return "gone" if fields[0] == "Z" else fields[19]
