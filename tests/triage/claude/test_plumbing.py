"""The SDK stays where it is put, and the local server refuses what the real one refuses."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from reflect.configuration import ClaudeConfig
from reflect.errors import ConfigurationError
from reflect.triage.claude.asking import Messages
from reflect.triage.claude.fake_answers import Served
from reflect.triage.claude.fake_api import FakeApi
from reflect.triage.claude.faults import ProviderFault
from reflect.triage.claude.money import CallsInMemory
from reflect.triage.claude.prices import priced
from reflect.triage.claude.schemas import plan_schema, reflect_schema, write_schema
from reflect.triage.claude.sdk import SdkWire
from tests.conftest import ROOT
from tests.triage.claude.api import ASK, GOOD, KEY, asking, in_turn


def test_the_sdk_is_imported_in_one_module() -> None:
    files = [path for path in (ROOT / "reflect").rglob("*.py") if "import anthropic" in path.read_text()]
    assert [path.name for path in files] == ["sdk.py"]


def test_an_engine_is_made_without_loading_the_sdk() -> None:
    program = (
        "import sys; from reflect.triage.engines import engine_named; from reflect.triage.premises import Premises;"
        "from reflect.configuration import Config; engine_named('claude', Config(), premises=Premises(api_key='k'));"
        "print('anthropic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"


def test_profiles_and_what_changes_them() -> None:
    assert set(ClaudeConfig(profile="cheap").model_of.values()) == {"claude-haiku-5-5"}
    assert ClaudeConfig(models={"plan": "claude-opus-5-5"}).model_of["plan"] == "claude-opus-5-5"
    for wrong in (
        {"models": {"judge": "x"}},
        {"profile": "rich"},
        {"mode": "batch", "provider": "vertex"},
        {"region": "evil.example/x"},
    ):
        with pytest.raises(ValidationError):
            ClaudeConfig.model_validate(wrong)


def test_an_empty_effort_is_not_sent() -> None:
    with FakeApi(in_turn(GOOD)) as api:
        asking(api, effort={"reflect": ""}).ask(ASK)
        asking(api).ask(ASK)
        assert "effort" not in api.asked[0].body["output_config"]
        assert api.asked[1].body["output_config"]["effort"] == "low"


def test_a_cloud_that_cannot_be_set_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="bedrock"):
        SdkWire(ClaudeConfig(provider="bedrock"), "")


def test_bedrock_is_asked_with_its_own_bearer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-token")
    with FakeApi(in_turn(GOOD)) as api:
        assert asking(api, provider="bedrock", region="eu-west-1").ask(ASK).data == GOOD
        (request,) = api.asked
        assert request.path == "/model/claude-haiku-5-5/invoke"
        assert request.headers["authorization"] == "Bearer bedrock-token" and KEY not in str(request.headers)


def test_vertex_is_asked_with_the_token_it_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    # How it finds one is the business of the cloud's own library, which asks the cloud.
    monkeypatch.setattr("anthropic.AnthropicVertex._ensure_access_token", lambda client: "vertex-token")
    with FakeApi(in_turn(Served(status=529), GOOD)) as api:
        assert asking(api, provider="vertex", region="europe-west1", project="shop-1").ask(ASK).data == GOOD
        assert len(api.asked) == 2
        assert api.asked[0].path.startswith("/projects/shop-1/locations/europe-west1/publishers/anthropic/models/")
        assert api.asked[0].headers["authorization"] == "Bearer vertex-token"


def test_a_model_is_told_of_alone_and_among_all() -> None:
    with FakeApi(in_turn(GOOD)) as api:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{api.url}/v1/models/claude-haiku-5-5") as answer:
            assert json.load(answer)["lifecycle"] == "active"
        with pytest.raises(urllib.error.HTTPError, match="404") as missing:
            opener.open(f"{api.url}/v1/models/claude-none-1")
        missing.value.close()


def test_a_cloud_without_credentials_ends_the_asking_unpaid() -> None:
    claude = ClaudeConfig(provider="vertex", region="us-east-1")
    calls = CallsInMemory()
    messages = Messages(lambda: SdkWire(claude, ""), claude, priced(claude.model_of.values(), {}), calls)
    with pytest.raises(ProviderFault, match="could not be asked") as caught:
        messages.ask(ASK)
    assert caught.value.hopeless and [(ended.status, ended.usd) for _, ended in calls.ended] == [("failed", 0.0)]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"temperature": 0}, 400),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "{"}]}, 400),
        ({"output_config": {"format": {"schema": {"type": "object", "properties": {"a": {"maxLength": 3}}}}}}, 400),
        *(({"output_config": {"format": {"schema": schema}}}, 200) for schema in (reflect_schema(), write_schema())),
        ({"output_config": {"format": {"schema": plan_schema(["gotchas"])}}}, 200),
    ],
)
def test_the_local_server_refuses_what_the_real_one_does(changes: Mapping[str, Any], status: int) -> None:
    body = {"model": "claude-haiku-5-5", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}], **changes}
    headers = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
    with FakeApi(in_turn(GOOD)) as api:
        request = urllib.request.Request(f"{api.url}/v1/messages", json.dumps(body).encode(), headers)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                assert answer.status == status
        except urllib.error.HTTPError as error:
            with error:
                assert error.code == status
