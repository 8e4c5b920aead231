"""Caps hold whoever asks at once, and every request is written down to the token."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examples.sessions import GitRepository
from reflect.configuration import Config, ModelPrice
from reflect.errors import ConfigurationError, EngineError
from reflect.pipeline.bill import Bill
from reflect.pipeline.engine import engine_for
from reflect.settings import Settings
from reflect.triage.claude.fake_answers import Served
from reflect.triage.claude.fake_api import FakeApi
from reflect.triage.claude.faults import CapReached, ProviderFault, Refused
from reflect.triage.claude.money import estimate
from reflect.triage.claude.prices import Usage, cost, priced, published
from reflect.triage.engines import engine_named
from reflect.triage.premises import Premises
from reflect.workspace import Workspace
from tests.triage.claude.api import ASK, GOOD, asking, in_turn

HAIKU = published()["claude-haiku-5-5"]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = GitRepository.create(tmp_path / "shop")
    made.commit("feat: begin", {"a.txt": "a"})
    yield Workspace.open(made.path, Settings(state_dir=tmp_path / "state"))


def _capped(workspace: Workspace, **caps: float) -> Workspace:
    config = Config.model_validate({"claude": {"caps": caps}})
    return replace(workspace, config=config)


def test_prices_by_kind_of_token_and_by_length() -> None:
    assert cost(Usage(input=1_000_000), ModelPrice(input=2, output=10)) == pytest.approx(2)
    assert cost(Usage(cache_write=1_000_000), ModelPrice(input=2, output=10)) == pytest.approx(2.5)
    assert cost(Usage(cache_read=1_000_000), ModelPrice(input=2, output=10)) == pytest.approx(0.2)
    assert cost(Usage(output=1_000_000), ModelPrice(input=2, output=10)) == pytest.approx(10)
    assert cost(Usage(input=100_000), HAIKU) == pytest.approx(0.01)
    assert cost(Usage(input=100_000, cache_read=1), HAIKU) == pytest.approx(0.05, rel=1e-3)


def test_a_model_without_a_price_is_refused_before_anything_is_spent() -> None:
    config = Config.model_validate({"claude": {"models": {"write": "claude-new-9"}}})
    with pytest.raises(ConfigurationError, match="claude-new-9"):
        engine_named("claude", config, premises=Premises(api_key="k"))
    told = {"claude": {"models": {"write": "claude-new-9"}, "prices": {"claude-new-9": {"input": 1, "output": 2}}}}
    assert engine_named("claude", Config.model_validate(told), premises=Premises(api_key="k")).name == "claude"
    assert (
        priced(["claude-haiku-5-5"], {"claude-haiku-5-5": ModelPrice(input=7, output=7)})["claude-haiku-5-5"].input == 7
    )


def test_without_a_key_nothing_begins(workspace: Workspace) -> None:
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        engine_for(workspace, "claude")


def test_one_call_over_its_cap_is_not_made_and_stops_no_other() -> None:
    with FakeApi(in_turn(GOOD)) as api:
        messages = asking(api, caps={"call_usd": estimate(ASK, HAIKU)})
        with pytest.raises(CapReached, match="per call"):
            messages.ask(replace(ASK, content="x" * 10_000))
        assert messages.ask(ASK).data == GOOD
        assert len(api.asked) == 1


@pytest.mark.parametrize("whose", ["repository", "night"])
def test_hazard_91_four_at_once_do_not_pass_a_cap(workspace: Workspace, whose: str) -> None:
    one = estimate(ASK, HAIKU)
    bill = Bill(_capped(workspace, **{f"{whose}_usd": one * 4.5}))
    turned_away: list[CapReached] = []
    opened = threading.Event()

    def held(_: Mapping[str, Any]) -> Any:
        """No answer before four were turned away, so that all that were let through are on their way at once."""
        assert opened.wait(30)
        return GOOD

    with FakeApi(held) as api:
        messages = asking(api, calls=bill)

        def ask(_: int) -> str:
            try:
                messages.ask(ASK)
            except CapReached as reached:
                turned_away.append(reached)
                if len(turned_away) == 4:
                    opened.set()
                return str(reached)
            return ""

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(ask, range(8)))
        assert len(api.asked) == 4, "the fifth would have passed the cap while four were on their way"
        assert sum(f"per {whose}" in text for text in told) == 4
        with pytest.raises(CapReached):
            messages.ask(ASK)
    assert bill.spend.usd < one * 4.5


def test_two_repositories_keep_one_cap_for_the_night(workspace: Workspace, tmp_path: Path) -> None:
    other = GitRepository.create(tmp_path / "other")
    other.commit("feat: begin elsewhere", {"b.txt": "b"})
    one = estimate(ASK, HAIKU)
    bills = [
        Bill(_capped(each, night_usd=one * 1.01))
        for each in (workspace, Workspace.open(other.path, workspace.settings))
    ]
    with FakeApi(in_turn(GOOD)) as api:
        asking(api, calls=bills[0]).ask(ASK)
        with pytest.raises(CapReached, match="per night"):
            asking(api, calls=bills[1]).ask(ASK)


def test_the_ledger_equals_the_server_to_the_token(workspace: Workspace) -> None:
    served: list[Any] = [
        GOOD,
        Served(status=529),
        Served(status=429, headers={"retry-after": "1"}),
        Served("no", changes={"stop_reason": "refusal"}),
        Served(GOOD, cut=30),
        GOOD,
        Served('{"findings"', changes={"stop_reason": "max_tokens"}),
        Served(status=400),
        Served(body=b"<html>"),
        {"findings": [{"headline": "long " * 50}]},
    ]
    bill = Bill(workspace)
    with FakeApi(in_turn(*served)) as api:
        messages = asking(api, calls=bill)
        for number in range(7):
            try:
                messages.ask(replace(ASK, content=f"question {number}" * (number + 1)))
            except EngineError as error:
                assert isinstance(error, (ProviderFault, Refused)) or "complete" in str(error)
        with workspace.ledger() as ledger:
            rows = ledger.model_calls(workspace.project.project_id)
        assert len(rows) == len(api.asked) == len(served)
        assert [row.status for row in rows].count("ok") == 3
        for column, figure in (
            ("input_tokens", "input_tokens"),
            ("output_tokens", "output_tokens"),
            ("cache_read_tokens", "cache_read_input_tokens"),
            ("cache_write_tokens", "cache_creation_input_tokens"),
        ):
            assert sum(getattr(row, column) for row in rows) == api.total(figure)
        assert sorted(row.request_id for row in rows if row.status != "lost") == sorted(
            f"req_{number}" for number in range(1, 11) if number not in (5, 9)
        )
        assert sum(row.retries > 0 for row in rows) == 3, "the 529, the 429 and the cut one were tried again"


def test_what_a_killed_process_set_aside_still_counts(workspace: Workspace) -> None:
    one = estimate(ASK, HAIKU)
    capped = _capped(workspace, repository_usd=one * 1.5)

    class Killed(BaseException):
        pass

    class Dying(Bill):
        def settle(self, call: Any, ended: Any) -> None:
            raise Killed

    with FakeApi(in_turn(GOOD)) as api:
        with pytest.raises(Killed):
            asking(api, calls=Dying(capped)).ask(ASK)
        with pytest.raises(CapReached, match="per repository"):
            asking(api, calls=Bill(capped)).ask(ASK)


def test_a_settled_call_is_counted_once(workspace: Workspace) -> None:
    bill = Bill(workspace)
    with FakeApi(in_turn(GOOD)) as api:
        asking(api, calls=bill).ask(ASK)
    with workspace.ledger() as ledger:
        [row] = ledger.model_calls(workspace.project.project_id)
        ledger.settle_call(row)
        assert ledger.model_calls(workspace.project.project_id) == (row,)
        assert ledger.counts(workspace.project.project_id).spend.calls == 1
