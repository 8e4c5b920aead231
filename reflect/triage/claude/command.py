"""Asking by an installed `claude` command, for people without an API key: one process per question, no tools, a limit.

The command is run in an empty folder with nobody's settings, so that no hook, memory or instruction of a project gets
between the question and the answer; and without any key, so that it uses the login it has and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from reflect.triage.claude.answers import COMPLETE
from reflect.triage.claude.faults import CapReached, ProviderFault, Refused, Unreadable
from reflect.triage.claude.messages import Ask, Reply

PROGRAM = "claude"
TIMEOUT_S = 180.0
MOST_OUTPUT = 8_000_000
_STOP_S = 2.0
_SHOWN = 200

_KEPT = ("HOME", "PATH", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR")
"""What the command gets of the environment: where it is logged in, and no key, token or address of a provider."""

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE")


@dataclass(frozen=True, slots=True)
class ClaudeCommand:
    """Puts questions to the program `program`, found on the search path of `environment`.

    `models` names the model by purpose; a purpose without one uses the command's own.
    """

    models: Mapping[str, str]
    environment: Mapping[str, str]
    program: str = PROGRAM
    timeout_s: float = TIMEOUT_S

    @classmethod
    def of_process(cls, models: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> ClaudeCommand:
        """The command as this process would find it."""
        kept = {name: os.environ[name] for name in (*_KEPT, *_PROXIES) if name in os.environ}
        return cls(models, kept, timeout_s=timeout_s)

    def ask(self, ask: Ask) -> Reply:
        """The command's answer. Raises ProviderFault, CapReached, Refused or Unreadable."""
        program = shutil.which(self.program, path=self.environment.get("PATH", os.defpath))
        if program is None:
            raise ProviderFault(f"There is no `{self.program}` command on the search path; nothing was asked.")
        with tempfile.TemporaryDirectory(prefix="reflect-ask-") as folder:
            out, err, code = self._run([program, *self._arguments(ask)], ask, folder)
        return _reply(ask, out, err, code)

    def _arguments(self, ask: Ask) -> list[str]:
        model = self.models.get(ask.purpose)
        schema = json.dumps(ask.schema, separators=(",", ":"))
        system = f"{ask.system}\nAnswer with one JSON object and nothing else, of this JSON schema:\n{schema}\n"
        arguments = ["-p", "--output-format", "json", "--max-turns", "1", "--tools", "", "--setting-sources", ""]
        arguments += ["--strict-mcp-config", "--no-session-persistence", "--system-prompt", system]
        return arguments + (["--model", model] if model else [])

    def _run(self, arguments: Sequence[str], ask: Ask, folder: str) -> tuple[bytes, bytes, int]:
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**self.environment},
                start_new_session=True,
            )
        except OSError as error:
            raise ProviderFault(f"`{self.program}` cannot be started ({error.strerror}); nothing was asked.") from error
        try:
            out, err = process.communicate(ask.content.encode("utf-8", "replace"), timeout=self.timeout_s)
        except subprocess.TimeoutExpired:
            raise ProviderFault(
                f"`{self.program}` gave no answer on {ask.subject} within {self.timeout_s:g} s and was stopped."
            ) from None
        finally:
            _stop(process)
        return out, err, process.returncode


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it started: they share a process group of their own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_S)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _reply(ask: Ask, out: bytes, err: bytes, code: int) -> Reply:
    about = f"`{PROGRAM}` on {ask.subject}"
    if len(out) > MOST_OUTPUT:
        raise Unreadable(f"{about} gave more than {MOST_OUTPUT} bytes.")
    told = _object(out)
    if told is None:
        said = " ".join((err or out).decode("utf-8", "replace").split())[:_SHOWN]
        if code:
            raise ProviderFault(f"{about} left with {code} ({said or 'no message'}).")
        raise Unreadable(f"{about} did not answer in JSON.")
    subtype, stop = str(told.get("subtype", "")), str(told.get("stop_reason") or COMPLETE)
    if subtype == "error_max_budget_usd":
        raise CapReached(f"{about} stopped at its budget.")
    if stop == "refusal":
        raise Refused(f"{about} declined to answer.")
    if code or told.get("is_error") or subtype not in ("", "success"):
        raise ProviderFault(f"{about} failed ({subtype or f'exit code {code}'}).")
    data = told.get("structured_output")
    if data is None:
        data = _object(_unfenced(str(told.get("result", ""))).encode())
    if data is None:
        raise Unreadable(f"{about} did not answer with a JSON object.")
    return Reply(data, stop, told.get("usage") or {}, str(told.get("session_id", "")))


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _unfenced(text: str) -> str:
    match = _FENCE.match(text)
    return match[1] if match else text
