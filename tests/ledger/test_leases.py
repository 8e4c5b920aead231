"""Leases, on SQLite and on PostgreSQL: one holder at a time, and no holder for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from reflect.errors import RepositoryBusy
from reflect.ledger import leases as module
from reflect.ledger.database import Database
from reflect.ledger.ledger import Ledger
from reflect.ledger.tables import leases

_HOLD = """
import sys, time
from reflect.ledger.ledger import Ledger
with Ledger.open(sys.argv[1]) as ledger, ledger.lease("shop", "the other process"):
    print("held", flush=True)
    time.sleep(60)
"""


def expire(url: str) -> None:
    database = Database(url)
    with database.write() as connection:
        connection.execute(update(leases).values(expires_at=1.0))
    database.close()


def test_one_holder_at_a_time_and_the_next_when_it_ends(ledger: Ledger) -> None:
    with ledger.lease("shop", "one"):
        with pytest.raises(RepositoryBusy, match="held by one"), ledger.lease("shop", "two"):
            pass
        with ledger.lease("billing", "two"):
            assert ledger.lease_holders() == {"one", "two"}
    with ledger.lease("shop", "two") as lease:
        lease.check()
    assert ledger.lease_holders() == frozenset()


@pytest.mark.parametrize("elsewhere", ["another start of the machine", "pid:[1]"])
def test_a_process_of_another_container_is_not_taken_for_a_dead_one(url: str, elsewhere: str) -> None:
    with Ledger.open(url) as ledger, ledger.lease("shop", "one"):
        database = Database(url)
        with database.write() as connection:
            machine, _, number, started = connection.execute(select(leases.c.process)).scalar_one().split("/")
            gone = f"{machine}/{elsewhere}/{int(number) + 1}/{started}0"
            connection.execute(update(leases).values(process=gone))
        database.close()
        with pytest.raises(RepositoryBusy, match="held by one"), ledger.lease("shop", "two"):
            pass


def test_a_lease_is_free_again_after_an_error(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="stop"), ledger.lease("shop", "one"):
        raise ValueError("stop")
    with ledger.lease("shop", "two"):
        assert ledger.lease_holders() == {"two"}


def test_a_lease_that_ran_out_is_taken_over_and_its_holder_is_told_before_it_writes(url: str) -> None:
    with Ledger.open(url) as ledger, ledger.lease("shop", "slow") as slow:
        expire(url)
        with ledger.lease("shop", "quick") as quick:
            with pytest.raises(RepositoryBusy, match="taken by another run"):
                slow.check()
            quick.check()
        assert ledger.lease_holders() == frozenset()


def test_a_lease_that_ran_out_is_still_its_holders_while_nobody_took_it(url: str) -> None:
    with Ledger.open(url) as ledger, ledger.lease("shop", "slow") as slow:
        expire(url)
        slow.check()
        assert ledger.lease_holders() == {"slow"}


def test_a_lease_is_renewed_for_as_long_as_it_is_held(ledger: Ledger) -> None:
    with ledger.lease("shop", "one", ttl_s=0.6):
        time.sleep(1.5)
        with pytest.raises(RepositoryBusy), ledger.lease("shop", "two"):
            pass


def test_hazard_135_what_a_killed_process_held_is_free_at_once(url: str) -> None:
    with Ledger.open(url) as ledger:
        holder = subprocess.Popen([sys.executable, "-c", _HOLD, url], stdout=subprocess.PIPE, text=True)
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        assert ledger.lease_holders() == {"the other process"}
        with pytest.raises(RepositoryBusy), ledger.lease("shop", "two"):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
        assert ledger.lease_holders() == frozenset()
        with ledger.lease("shop", "two"):
            assert ledger.lease_holders() == {"two"}


def test_what_another_machine_holds_is_waited_for_until_it_runs_out(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(url) as ledger:
        monkeypatch.setattr(module, "_this_process", lambda: "another.example/1/1")
        with ledger.lease("shop", "far away"):
            with pytest.raises(RepositoryBusy, match=r"on another\.example"), ledger.lease("shop", "two"):
                pass
            expire(url)
            with ledger.lease("shop", "two"):
                assert "two" in ledger.lease_holders()


def test_of_many_that_ask_at_once_one_gets_it(ledger: Ledger) -> None:
    all_have_asked = threading.Barrier(6, timeout=60)

    def ask(number: int) -> bool:
        try:
            with ledger.lease("shop", str(number)):
                all_have_asked.wait()
                return True
        except RepositoryBusy:
            all_have_asked.wait()
            return False

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(ask, range(6))) == 1
