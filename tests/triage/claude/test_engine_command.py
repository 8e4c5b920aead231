"""The installed `claude` command as an engine: bounded, without keys or tools, and typed in its failures."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from reflect.errors import EngineError
from reflect.triage.claude.command import ClaudeCommand
from reflect.triage.claude.faults import CapReached, ProviderFault, Refused, Unreadable
from reflect.triage.claude.messages import Ask
from reflect.triage.claude.schemas import reflect_schema
from tests.triage.claude.standing_in import StandIn

ASK = Ask(
    "reflect", "aaaaaaaaaaaa/0", "<reflect:task>\nDo it.", "<evidence>\n</evidence>\n", reflect_schema(), 100, "1"
)


def command(stand_in: StandIn, timeout_s: float = 30.0) -> ClaudeCommand:
    environment = {"PATH": f"{stand_in.folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(stand_in.folder)}
    return ClaudeCommand({"reflect": "small-1"}, environment, timeout_s=timeout_s)


def test_it_asks_without_tools_settings_or_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn.in_folder(tmp_path / "bin")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "CANARY")
    monkeypatch.setenv("PATH", f"{stand_in.folder}{os.pathsep}{os.environ['PATH']}")
    reply = ClaudeCommand.of_process({"reflect": "small-1"}).ask(ASK)
    assert reply.data == {"findings": []} and reply.stop_reason == "end_turn"
    (record,) = stand_in.records()
    told = json.loads(record)
    assert "CANARY" not in record and told["content"] == ASK.content
    arguments = told["arguments"]
    assert arguments[arguments.index("--tools") + 1] == "" and arguments[arguments.index("--setting-sources") + 1] == ""
    assert arguments[arguments.index("--model") + 1] == "small-1" and "--strict-mcp-config" in arguments
    assert Path(told["cwd"]).name.startswith("reflect-ask-") and not Path(told["cwd"]).exists()


SAYS = "print(json.dumps({%r: %r, 'subtype': 'success', 'result': '{}'})); sys.exit(0)"
FAILS = [
    ("print('<html>'); sys.exit(0)", Unreadable),
    ("print(''); sys.exit(0)", Unreadable),
    ("print('[]'); sys.exit(0)", Unreadable),
    ("print(json.dumps({'subtype': 'success', 'result': 'Sure! Here it is.'})); sys.exit(0)", Unreadable),
    ("print('Invalid API key', file=sys.stderr); sys.exit(1)", ProviderFault),
    ("os.abort()", ProviderFault),
    ("print(json.dumps({'subtype': 'error_max_budget_usd'})); sys.exit(1)", CapReached),
    ("print(json.dumps({'subtype': 'error_during_execution', 'is_error': True})); sys.exit(0)", ProviderFault),
    (SAYS % ("stop_reason", "refusal"), Refused),
    (SAYS % ("is_error", True), ProviderFault),
]


@pytest.mark.parametrize(("before", "fault"), FAILS)
def test_hazard_81_every_failure_has_a_type_and_none_is_empty_success(
    tmp_path: Path, before: str, fault: type[EngineError]
) -> None:
    with pytest.raises(fault, match="claude"):
        command(StandIn.in_folder(tmp_path / "bin", before)).ask(ASK)


def test_hazard_80_a_fenced_answer_is_read_and_a_cut_one_is_not_called_whole(tmp_path: Path) -> None:
    fenced = "print(json.dumps({'subtype': 'success', 'result': '```json\\n{\"findings\": []}\\n```'})); sys.exit(0)"
    assert command(StandIn.in_folder(tmp_path / "a", fenced)).ask(ASK).data == {"findings": []}
    cut = "print(json.dumps({'subtype': 'success', 'stop_reason': 'max_tokens', 'result': '{}'})); sys.exit(0)"
    assert command(StandIn.in_folder(tmp_path / "b", cut)).ask(ASK).stop_reason == "max_tokens"


def test_one_that_hangs_is_stopped_with_everything_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    code = "import subprocess; child = subprocess.Popen(['sleep', '300']); "
    code += f"open({str(mark)!r}, 'w').write(str(child.pid)); time.sleep(300)"
    with pytest.raises(ProviderFault, match="stopped"):
        command(StandIn.in_folder(tmp_path / "bin", code), timeout_s=2.0).ask(ASK)
    assert _ends(int(mark.read_text()))


def test_without_the_command_nothing_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ProviderFault, match="no `claude` command"):
        ClaudeCommand({}, {"PATH": str(tmp_path)}).ask(ASK)


def _ends(process: int) -> bool:
    for _ in range(50):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False
