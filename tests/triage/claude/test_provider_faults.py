"""Every way a provider can fail, over the real library and a real server: the right fault and number of tries."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from reflect.triage.claude.fake_answers import Served
from reflect.triage.claude.fake_api import FakeApi
from reflect.triage.claude.faults import Garbled, ProviderFault, Refused, SpendLimit, Stopped, Unreadable
from reflect.triage.claude.money import CallsInMemory
from tests.triage.claude.api import ASK, GOOD, KEY, Waits, asking, in_turn


def _failing(status: int, **more: Any) -> Served:
    return Served(status=status, **more)


@pytest.mark.parametrize(
    "served",
    [
        pytest.param((_failing(429), GOOD), id="scenario-11-429-once"),
        pytest.param((_failing(529), _failing(529), _failing(529), GOOD), id="scenario-11-529-burst"),
        pytest.param((_failing(408), _failing(409), GOOD), id="408-then-409"),
        pytest.param((_failing(500), _failing(503), _failing(504), GOOD), id="5xx"),
        pytest.param((_failing(502, body=b"<html>bad gateway</html>"), GOOD), id="html-502"),
        pytest.param((Served(GOOD, cut=20), GOOD), id="connection-dropped"),
        pytest.param((_failing(400, headers={"x-should-retry": "true"}), GOOD), id="told-to-retry"),
    ],
)
def test_what_may_pass_is_tried_again(served: tuple[Any, ...]) -> None:
    with FakeApi(in_turn(*served)) as api:
        waits = Waits()
        assert asking(api, waits=waits).ask(ASK).data == GOOD
        assert len(api.asked) == len(served)
        assert len(waits.slept) == len(served) - 1
        assert all(0 < wait <= 8 for wait in waits.slept)


@pytest.mark.parametrize(
    ("served", "kind", "hopeless"),
    [
        pytest.param(_failing(401), ProviderFault, True, id="scenario-13-401"),
        pytest.param(_failing(403), ProviderFault, True, id="403"),
        pytest.param(_failing(402), SpendLimit, True, id="402"),
        pytest.param(_failing(400), ProviderFault, False, id="400"),
        pytest.param(_failing(404), ProviderFault, False, id="404"),
        pytest.param(_failing(413), ProviderFault, False, id="413"),
        pytest.param(_failing(422), ProviderFault, False, id="422"),
        pytest.param(_failing(400, error={"type": "billing_error"}), SpendLimit, True, id="scenario-12-spend-400"),
        pytest.param(
            _failing(
                429, error={"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}
            ),
            SpendLimit,
            True,
            id="scenario-12-spend-429",
        ),
        pytest.param(
            _failing(429, headers={"retry-after": "3600"}), ProviderFault, False, id="scenario-10-wait-an-hour"
        ),
        pytest.param(
            _failing(
                429, headers={"retry-after": format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)}
            ),
            ProviderFault,
            False,
            id="scenario-10-wait-until-a-date",
        ),
        pytest.param(_failing(503, headers={"retry-after": "inf"}), ProviderFault, False, id="wait-for-ever"),
        pytest.param(_failing(500, headers={"x-should-retry": "false"}), ProviderFault, False, id="told-not-to-retry"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(served: Served, kind: type[ProviderFault], hopeless: bool) -> None:
    with FakeApi(in_turn(served)) as api:
        waits = Waits()
        with pytest.raises(kind) as caught:
            asking(api, waits=waits).ask(ASK)
        assert (len(api.asked), waits.slept) == (1, [])
        assert caught.value.request_id == "req_1"
        assert "req_1" in str(caught.value)
        assert caught.value.hopeless is hopeless


@pytest.mark.parametrize(
    ("served", "kind"),
    [
        pytest.param(
            Served(body=b"<html>sign in</html>", headers={"content-type": "text/html"}),
            Garbled,
            id="scenario-14-portal",
        ),
        pytest.param(Served(body=b'{"type": "message", "con'), Garbled, id="cut-json-of-full-length"),
        pytest.param(Served(body=b'{"hello": 1}'), Garbled, id="another-shape"),
        pytest.param(Served(body=b"[" * 100_000), Garbled, id="nested-too-deep"),
        pytest.param(Served(body=b""), Garbled, id="empty-body"),
        pytest.param(Served(GOOD, changes={"usage": None}), Garbled, id="no-usage"),
        pytest.param(Served(GOOD, changes={"usage": {"input_tokens": "many"}}), Garbled, id="usage-of-another-kind"),
        pytest.param(Served(GOOD, changes={"content": "text"}), Unreadable, id="content-of-another-kind"),
        pytest.param(
            Served("I cannot", changes={"stop_reason": "refusal", "content": []}), Refused, id="scenario-8-empty"
        ),
        pytest.param(Served("I would rather not", changes={"stop_reason": "refusal"}), Refused, id="scenario-8-prose"),
        pytest.param(Served('{"findings": [', changes={"stop_reason": "max_tokens"}), Unreadable, id="scenario-9-cut"),
        pytest.param(
            Served(GOOD, changes={"stop_reason": "max_tokens"}), Unreadable, id="scenario-9-whole-but-stopped"
        ),
        pytest.param(Served(GOOD, changes={"stop_reason": "tool_use"}), Unreadable, id="tool-use"),
        pytest.param(Served(GOOD, changes={"stop_reason": "new_in_2027"}), Unreadable, id="unknown-stop-reason"),
        pytest.param(Served(GOOD, changes={"stop_reason": None}), Unreadable, id="no-stop-reason"),
        pytest.param(Served("```json\n{}\n```"), Unreadable, id="fenced"),
        pytest.param(Served([1]), Unreadable, id="a-list"),
        pytest.param(
            Served(GOOD, changes={"content": [{"type": "tool_use", "input": GOOD}]}), Unreadable, id="no-text"
        ),
        pytest.param(Served(GOOD, changes={"content": []}), Unreadable, id="no-content"),
    ],
)
def test_what_is_no_answer_never_looks_like_one(served: Served, kind: type[Exception]) -> None:
    with FakeApi(in_turn(served)) as api:
        calls = CallsInMemory()
        with pytest.raises(kind, match="req_1" if kind is not Refused else "declined"):
            asking(api, calls=calls).ask(ASK)
        assert len(api.asked) == 1
        [(_, ended)] = calls.ended
        assert ended.status == {Garbled: "lost", Refused: "refused", Unreadable: "unusable"}[kind]
        assert ended.usage.output == api.total("output_tokens")


def test_blocks_nobody_knows_are_passed_over() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "new"},
        {"type": "text", "text": json.dumps(GOOD)},
        {"type": "x"},
    ]
    with FakeApi(in_turn(Served(GOOD, changes={"content": blocks}))) as api:
        assert asking(api).ask(ASK).data == GOOD


def test_a_wait_that_is_asked_for_is_kept() -> None:
    with FakeApi(
        in_turn(_failing(429, headers={"retry-after": "7"}), _failing(429, headers={"retry-after-ms": "250"}), GOOD)
    ) as api:
        waits = Waits()
        asking(api, waits=waits).ask(ASK)
        assert waits.slept == [7.0, 0.25]


def test_tries_end() -> None:
    with FakeApi(in_turn(_failing(529))) as api:
        with pytest.raises(ProviderFault, match="529"):
            asking(api, retries=2).ask(ASK)
        assert len(api.asked) == 3


def test_no_wait_goes_past_the_limit_of_a_call() -> None:
    with FakeApi(in_turn(_failing(429, headers={"retry-after": "20"}))) as api:
        waits = Waits()
        with pytest.raises(ProviderFault, match="429"):
            asking(api, waits=waits, deadline_s=50).ask(ASK)
        assert waits.slept == [20.0, 20.0]


def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    with FakeApi(in_turn(Served(GOOD, slow_s=1.5))) as api:
        calls = CallsInMemory()
        with pytest.raises(ProviderFault):
            asking(api, calls=calls, deadline_s=0.3, retries=0).ask(ASK)
        [(_, ended)] = calls.ended
        assert ended.status == "lost" and ended.usd > 0, "perhaps it was billed: what was set aside stays counted"


def test_nobody_listening_costs_nothing() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with FakeApi(in_turn(GOOD)) as api:
        calls = CallsInMemory()
        with pytest.raises(ProviderFault, match="no answer"):
            asking(api, calls=calls, url=url, retries=1).ask(ASK)
        assert [(ended.status, ended.usd) for _, ended in calls.ended] == [("failed", 0.0)] * 2


def test_hazard_91_three_failures_in_a_row_end_the_asking() -> None:
    with FakeApi(in_turn(_failing(500))) as api:
        messages = asking(api, retries=0)
        for _ in range(3):
            with pytest.raises(ProviderFault, match="500"):
                messages.ask(ASK)
        with pytest.raises(Stopped, match="500"):
            messages.ask(ASK)
        assert len(api.asked) == 3


def test_a_wrong_key_ends_the_asking_at_once() -> None:
    with FakeApi(in_turn(_failing(401))) as api:
        messages = asking(api)
        for kind in (ProviderFault, Stopped):
            with pytest.raises(kind):
                messages.ask(ASK)
        assert len(api.asked) == 1


def test_an_answer_between_failures_begins_the_count_anew() -> None:
    with FakeApi(in_turn(_failing(500), _failing(500), GOOD, _failing(500), _failing(500), GOOD)) as api:
        messages = asking(api, retries=0)
        outcomes = []
        for _ in range(6):
            try:
                outcomes.append(messages.ask(ASK).data == GOOD)
            except ProviderFault:
                outcomes.append(False)
        assert outcomes == [False, False, True] * 2


def test_only_our_own_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "ambient-token")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "ambient-key")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "ambient-profile")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer ambient\nx-other: ambient")
    with FakeApi(in_turn(GOOD)) as api:
        asking(api).ask(ASK)
        sent = api.asked[0]
        assert sent.headers["authorization"] == f"Bearer {KEY}"
        assert "ambient" not in str(sent.headers)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_evidence_goes_nowhere_that_an_answer_points_to(status: int) -> None:
    with FakeApi(in_turn(GOOD)) as elsewhere:
        moved = _failing(status, headers={"location": f"{elsewhere.url}/v1/messages"})
        with FakeApi(in_turn(moved)) as api, pytest.raises(ProviderFault, match=str(status)):
            asking(api).ask(ASK)
        assert len(api.asked) == 1
        assert elsewhere.asked == []


def test_the_instructions_are_read_from_the_cache_the_second_time() -> None:
    with FakeApi(in_turn(GOOD)) as api:
        messages = asking(api)
        first, second = messages.ask(ASK).usage, messages.ask(ASK).usage
        assert first.cache_write == second.cache_read > 0
        assert first.cache_read == second.cache_write == 0
