"""Writes coding-agent sessions the way agents and the Entire CLI store them, into real git repositories.

The sample organisation, the tests and the benchmarks are all made with it, so that none of them needs a recording of
real people. Times and ids come from the arguments: the same calls write the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada Example",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada Example",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}


@dataclass
class ClaudeTranscript:
    """A Claude Code session, line by line. Every method appends what one event writes and returns `self`."""

    session_id: str
    cwd: str = "/home/dev/project"
    branch: str = "main"
    at: datetime = START
    lines: list[dict[str, Any]] = field(default_factory=list)

    def prompt(self, text: str) -> ClaudeTranscript:
        return self._add("user", message={"role": "user", "content": text}, permissionMode="default")

    def reply(self, text: str) -> ClaudeTranscript:
        return self._assistant({"type": "text", "text": text})

    def tool(self, name: str, input: dict[str, Any], output: str = "ok", *, is_error: bool = False) -> ClaudeTranscript:
        call = self._call(name)
        self._assistant({"type": "tool_use", "id": call, "name": name, "input": input})
        return self._result(call, output, is_error=is_error)

    def denial(self, name: str, input: dict[str, Any], reason: str = "") -> ClaudeTranscript:
        """The person refuses a tool call, with or without a reason."""
        call = self._call(name)
        self._assistant({"type": "tool_use", "id": call, "name": name, "input": input})
        text = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
            "edit, the new_string was NOT written to the file)."
        )
        if reason:
            return self._result(call, f"{text} To tell you how to proceed, the user said:\n{reason}", is_error=True)
        self._result(call, text, is_error=True)
        return self.interruption(for_tool=True)

    def interruption(self, *, for_tool: bool = False) -> ClaudeTranscript:
        text = "[Request interrupted by user for tool use]" if for_tool else "[Request interrupted by user]"
        return self._add("user", message={"role": "user", "content": [{"type": "text", "text": text}]})

    def question(self, question: str, options: Sequence[str], answer: str) -> ClaudeTranscript:
        call = self._call("AskUserQuestion")
        asked = {
            "question": question,
            "header": "Choice",
            "options": [{"label": option, "description": option} for option in options],
        }
        self._assistant({"type": "tool_use", "id": call, "name": "AskUserQuestion", "input": {"questions": [asked]}})
        return self._result(
            call,
            f'User has answered your questions: "{question}"="{answer}". You can now continue.',
            extra={"questions": [asked], "answers": {question: answer}},
        )

    def plan(self, plan: str, *, approved: bool = True, reason: str = "") -> ClaudeTranscript:
        call = self._call("ExitPlanMode")
        self._assistant({"type": "tool_use", "id": call, "name": "ExitPlanMode", "input": {"plan": plan}})
        if approved:
            return self._result(call, f"User has approved your plan. You can now start coding.\n\n{plan}")
        return self._result(
            call,
            "The user doesn't want to proceed with this tool use. The tool use was rejected. "
            f"To tell you how to proceed, the user said:\n{reason}",
            is_error=True,
        )

    def steer(self, name: str, input: dict[str, Any], comment: str, output: str = "ok") -> ClaudeTranscript:
        """The person lets a tool call pass and types a comment beside its result."""
        call = self._call(name)
        self._assistant({"type": "tool_use", "id": call, "name": name, "input": input})
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        return self._add("user", message={"role": "user", "content": [result, {"type": "text", "text": comment}]})

    def compaction(self, summary: str) -> ClaudeTranscript:
        """The context was full: a boundary, then a summary written by the model."""
        self._add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 155_000})
        text = f"This session is being continued from a previous conversation that ran out of context.\n\n{summary}"
        return self._add(
            "user", message={"role": "user", "content": text}, isCompactSummary=True, isVisibleInTranscriptOnly=True
        )

    def queued(self, text: str) -> ClaudeTranscript:
        return self._add("attachment", attachment={"type": "queued_command", "prompt": text, "commandMode": "prompt"})

    def raw(self, line: dict[str, Any]) -> ClaudeTranscript:
        self.lines.append(line)
        return self

    def encode(self) -> bytes:
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.lines)

    def _call(self, name: str) -> str:
        return "toolu_" + hashlib.sha256(f"{self.session_id}{len(self.lines)}{name}".encode()).hexdigest()[:20]

    def _assistant(self, block: dict[str, Any]) -> ClaudeTranscript:
        message = {
            "id": f"msg_{len(self.lines)}",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [block],
        }
        return self._add("assistant", message=message)

    def _result(
        self, call: str, output: str, *, is_error: bool = False, extra: dict[str, Any] | None = None
    ) -> ClaudeTranscript:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": output}
        if is_error:
            block["is_error"] = True
        result: Any = extra if extra is not None else (f"Error: {output}" if is_error else {"stdout": output})
        return self._add("user", message={"role": "user", "content": [block]}, toolUseResult=result)

    def _add(self, kind: str, **keys: Any) -> ClaudeTranscript:
        self.at += timedelta(seconds=20)
        number = len(self.lines)
        self.lines.append(
            {
                "parentUuid": self.lines[-1].get("uuid") if self.lines else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.cwd,
                "sessionId": self.session_id,
                "version": "2.1.104",
                "gitBranch": self.branch,
                "type": kind,
                **keys,
                "uuid": f"{self.session_id}-{number:05d}",
                "timestamp": _stamp(self.at),
            }
        )
        return self


@dataclass
class GeminiTranscript:
    """A Gemini CLI session: one JSON document. Every method appends one message and returns `self`."""

    session_id: str
    at: datetime = START
    messages: list[dict[str, Any]] = field(default_factory=list)

    def prompt(self, text: str) -> GeminiTranscript:
        return self._add("user", text)

    def reply(self, text: str) -> GeminiTranscript:
        return self._add("gemini", text, model="gemini-3-pro", thoughts=[], toolCalls=[])

    def tool(self, name: str, args: dict[str, Any], output: str = "ok", status: str = "success") -> GeminiTranscript:
        call = f"{name}-{len(self.messages)}"
        response = {"functionResponse": {"id": call, "name": name, "response": {"output": output}}}
        used = {"id": call, "name": name, "args": args, "result": [response], "status": status}
        return self._add("gemini", "", model="gemini-3-pro", thoughts=[], toolCalls=[used])

    def encode(self) -> bytes:
        stamps = [message["timestamp"] for message in self.messages] or [_stamp(self.at)]
        whole = {
            "sessionId": self.session_id,
            "projectHash": hashlib.sha256(self.session_id.encode()).hexdigest(),
            "startTime": stamps[0],
            "lastUpdated": stamps[-1],
            "messages": self.messages,
        }
        return json.dumps(whole, ensure_ascii=False, indent=2).encode()

    def _add(self, kind: str, text: str, **keys: Any) -> GeminiTranscript:
        self.at += timedelta(seconds=20)
        number = f"{self.session_id}-{len(self.messages):05d}"
        self.messages.append({"id": number, "timestamp": _stamp(self.at), "type": kind, "content": text, **keys})
        return self


@dataclass(frozen=True)
class StoredSession:
    """What Entire writes into one session folder of a checkpoint."""

    transcript: bytes
    session_id: str
    created_at: datetime = START
    branch: str = "main"
    agent: str = "Claude Code"
    files_touched: Sequence[str] | None = ()
    prompts: Sequence[str] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def files(self, checkpoint: str) -> dict[str, bytes]:
        metadata = {
            "cli_version": "0.5.4",
            "checkpoint_id": checkpoint,
            "session_id": self.session_id,
            "strategy": "manual-commit",
            "created_at": self.created_at.isoformat().replace("+00:00", "Z"),
            "branch": self.branch,
            "checkpoints_count": 1,
            "files_touched": None if self.files_touched is None else list(self.files_touched),
            "agent": self.agent,
            **self.extra,
        }
        # The transcript comes last: `fast-import` may store a file as a delta of the one before it, and small files
        # would then be as slow to read as large ones.
        return {
            "metadata.json": json.dumps(metadata, indent=2).encode(),
            "prompt.txt": "\n\n---\n\n".join(self.prompts).encode(),
            "content_hash.txt": f"sha256:{hashlib.sha256(self.transcript).hexdigest()}".encode(),
            "full.jsonl": self.transcript,
        }


@dataclass(frozen=True)
class GitRepository:
    """A real repository that the caller fills."""

    path: Path

    @classmethod
    def create(cls, path: Path, branch: str = "main") -> GitRepository:
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git("init", "-q", "-b", branch)
        repository.git("config", "user.name", _ENVIRONMENT["GIT_AUTHOR_NAME"])
        repository.git("config", "user.email", _ENVIRONMENT["GIT_AUTHOR_EMAIL"])
        return repository

    def git(
        self,
        *arguments: str,
        input: bytes | None = None,
        at: datetime | None = None,
        who: tuple[str, str] | None = None,
    ) -> str:
        """Run git as `who` (name and address) at the time `at`; its output without surrounding white space."""
        outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = {**outside, **_ENVIRONMENT}
        if who is not None:
            environment |= {"GIT_AUTHOR_NAME": who[0], "GIT_COMMITTER_NAME": who[0]}
            environment |= {"GIT_AUTHOR_EMAIL": who[1], "GIT_COMMITTER_EMAIL": who[1]}
        if at is not None:
            environment |= {"GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            input=input,
            capture_output=True,
            check=True,
            env=environment,
        )
        return done.stdout.decode().strip()

    def commit(
        self,
        message: str,
        files: dict[str, str] | None = None,
        at: datetime = START,
        who: tuple[str, str] | None = None,
    ) -> str:
        """Write `files`, commit everything with `message`, and return the commit's id."""
        for name, text in (files or {}).items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-F", "-", input=message.encode(), at=at, who=who)
        return self.git("rev-parse", "HEAD")

    def checkpoint_branch(
        self, checkpoints: Iterable[tuple[str, Sequence[StoredSession]]], at: datetime = START
    ) -> None:
        """Add checkpoints to `entire/checkpoints/v1`, one commit each, in the branch backend's layout."""
        ref = "refs/heads/entire/checkpoints/v1"
        known = subprocess.run(
            ["git", "-C", str(self.path), "rev-parse", "-q", "--verify", ref],
            capture_output=True,
            check=False,
        ).stdout.strip()
        stream: list[bytes] = []
        for number, (checkpoint, sessions) in enumerate(checkpoints):
            parent = known if number == 0 else b""
            files = checkpoint_files(checkpoint, sessions, prefix=f"{checkpoint[:2]}/{checkpoint[2:]}/")
            stream.append(_fast_import_commit(ref, f"Checkpoint: {checkpoint}", files, at, parent))
        self.git("fast-import", "--quiet", "--force", input=b"".join(stream))

    def checkpoint_ref(self, checkpoint: str, sessions: Sequence[StoredSession], at: datetime = START) -> None:
        """Store one checkpoint in the refs backend: `refs/entire/checkpoints/<last two>/<id>`."""
        ref = f"refs/entire/checkpoints/{checkpoint[-2:]}/{checkpoint}"
        files = checkpoint_files(checkpoint, sessions, prefix="")
        commit = _fast_import_commit(ref, f"Checkpoint: {checkpoint}", files, at, b"")
        self.git("fast-import", "--quiet", "--force", input=commit)


def checkpoint_files(checkpoint: str, sessions: Sequence[StoredSession], prefix: str) -> dict[str, bytes]:
    """Every file of one checkpoint's folder, by path."""
    files: dict[str, bytes] = {}
    listed: list[dict[str, str]] = []
    for number, session in enumerate(sessions):
        for name, content in session.files(checkpoint).items():
            files[f"{prefix}{number}/{name}"] = content
        listed.append({"metadata": f"/{prefix}{number}/metadata.json", "transcript": f"/{prefix}{number}/full.jsonl"})
    root = {
        "checkpoint_id": checkpoint,
        "strategy": "manual-commit",
        "branch": sessions[0].branch if sessions else "",
        "checkpoints_count": len(sessions),
        "files_touched": sorted({name for session in sessions for name in session.files_touched or ()}),
        "sessions": listed,
    }
    files[f"{prefix}metadata.json"] = json.dumps(root, indent=2).encode()
    return files


def ulid(at: datetime, seed: str) -> str:
    """A 26-character id of the refs backend: the time in milliseconds, then digits made from `seed`."""
    number = int(at.timestamp() * 1000) << 80 | int.from_bytes(hashlib.sha256(seed.encode()).digest()[:10], "big")
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> shift & 31] for shift in range(125, -1, -5))


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _fast_import_commit(ref: str, message: str, files: dict[str, bytes], at: datetime, parent: bytes) -> bytes:
    who = f"Ada Example <ada@example.com> {int(at.timestamp())} +0000"
    parts = [f"commit {ref}\ncommitter {who}\n".encode(), _data(message.encode())]
    if parent:
        parts.append(b"from " + parent + b"\n")
    for name, content in files.items():
        parts.append(f"M 100644 inline {name}\n".encode() + _data(content))
    return b"".join(parts) + b"\n"


def _data(content: bytes) -> bytes:
    return f"data {len(content)}\n".encode() + content + b"\n"
