"""Generates repositories of sessions with the proportions measured in real ones, the same bytes every time.

Tool output is most of a transcript and dialogue one or two percent of it. Two of three checkpoints belong to sessions
that go on, so that each repeats all that the one before held: 44 of 100 lines, where a real repository had 47.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession

_VERSION = "2"
_WORDS = (
    "account amount archive assert await backend batch branch buffer cache charge client column commit config count "
    "cursor customer date decide default delete deploy domain encode engine entry error event field filter format "
    "handle index insert invoice ledger limit locale logger margin merge migrate module network number object offset "
    "order parse patch payload period policy prefix price queue query record refund region render report request "
    "retry round route schema scope secret server session shard signal snapshot source status stream string table "
    "target tenant thread timeout token trace update upload value vendor version wallet window worker writer zone"
).split()
_COMMANDS = (
    "pytest tests -q",
    "ls -la src",
    "git status",
    "git diff --stat",
    "grep -rn retry src",
    "cat src/ledger.py",
)
_OPENINGS = ("We should", "No, please", "Use", "I want you to", "Why does it", "Do not", "Always", "Next,", "Let us")
_CODE_CHARS = 3 << 20


@dataclass(frozen=True, slots=True)
class Shape:
    """How much to generate: checkpoints, the size of a session that is not continued, and how often one goes on."""

    checkpoints: int
    session_bytes: int
    steps_of_a_long_session: int = 5

    @property
    def name(self) -> str:
        return f"sessions-{_VERSION}-{self.checkpoints}x{self.session_bytes}x{self.steps_of_a_long_session}"


def generated(shape: Shape, folder: Path) -> Path:
    """The repository of that shape below `folder`, made where it is not there yet."""
    path = folder / shape.name
    if (path / "complete").exists():
        return path
    shutil.rmtree(path, ignore_errors=True)
    repository = GitRepository.create(path)
    repository.commit("Start\n\nAn empty place to begin with.", {"README.md": "# Sample\n"})
    for batch in _batches(_checkpoints(shape)):
        repository.checkpoint_branch(batch)
    (path / "complete").touch()
    return path


def transcript_objects(path: Path) -> tuple[list[str], int]:
    """The ids of the transcripts' blobs in tree order, and their bytes in all."""
    command = ["git", "-C", str(path), "ls-tree", "-r", "-l", "entire/checkpoints/v1"]
    shown = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    rows = [line.split() for line in shown.splitlines() if line.endswith("/full.jsonl")]
    return [row[2] for row in rows], sum(int(row[3]) for row in rows)


def _batches(
    checkpoints: Iterator[tuple[str, list[StoredSession]]], size: int = 25
) -> Iterator[list[tuple[str, list[StoredSession]]]]:
    batch: list[tuple[str, list[StoredSession]]] = []
    for checkpoint in checkpoints:
        batch.append(checkpoint)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _checkpoints(shape: Shape) -> Iterator[tuple[str, list[StoredSession]]]:
    dice = random.Random(shape.name)
    code = _source_code(dice)
    made = 0
    while made < shape.checkpoints:
        long = (made // shape.steps_of_a_long_session) % 3 < 2
        steps = shape.steps_of_a_long_session if long else 1
        session = ClaudeTranscript(f"session-{made:06d}", at=START + timedelta(hours=made))
        for _ in range(min(steps, shape.checkpoints - made)):
            # A session of n steps holds 1/n, 2/n … of its final size: the mean is about that of a single one.
            share = 2 * shape.session_bytes // (steps + 1) if long else shape.session_bytes
            _talk(session, dice, code, share)
            identity = hashlib.sha256(f"{shape.name}/{made}".encode()).hexdigest()[:12]
            yield identity, [StoredSession(session.encode(), session.session_id, created_at=session.at)]
            made += 1


def _talk(session: ClaudeTranscript, dice: random.Random, code: str, share: int) -> None:
    """Add about `share` bytes: a prompt, then calls and their output with a reply now and then."""
    written, dialogue = 0, 0
    session.prompt(_sentence(dice))
    while written < share:
        start = len(session.lines)
        _call(session, dice, code)
        written += sum(len(str(line)) for line in session.lines[start:])
        if dialogue < written * 0.012:
            text = " ".join(_sentence(dice) for _ in range(dice.randint(1, 6)))
            session.reply(text)
            dialogue += len(text)
        if dice.random() < 0.06:
            text = _sentence(dice)
            session.prompt(text)
            dialogue += len(text)


def _call(session: ClaudeTranscript, dice: random.Random, code: str) -> None:
    size = min(int(dice.lognormvariate(8.0, 1.1)), 30_000)
    at = dice.randrange(len(code) - size)
    output = code[at : at + size]
    kind = dice.random()
    if kind < 0.02:
        session.tool("WebFetch", {"url": "https://example.com/docs", "prompt": "summarise"}, output[:4000])
    elif kind < 0.55:
        failed = dice.random() < 0.04
        command = dice.choice(_COMMANDS)
        session.tool("Bash", {"command": command}, output[:2000] if failed else output, is_error=failed)
    elif kind < 0.8:
        session.tool("Read", {"file_path": f"{session.cwd}/src/{dice.choice(_WORDS)}.py"}, output)
    else:
        path = f"{session.cwd}/src/{dice.choice(_WORDS)}.py"
        session.tool("Edit", {"file_path": path, "old_string": output[:300], "new_string": output[300:700]}, output)


def _sentence(dice: random.Random) -> str:
    return f"{dice.choice(_OPENINGS)} {' '.join(dice.choices(_WORDS, k=dice.randint(6, 24)))}."


def _source_code(dice: random.Random) -> str:
    """Text with the look of source code: what `cat` and `grep` print."""
    lines: list[str] = []
    size = 0
    while size < _CODE_CHARS:
        name, *arguments = dice.choices(_WORDS, k=dice.randint(2, 7))
        indent = "    " * dice.randint(0, 3)
        line = f'{indent}{name}_{dice.choice(_WORDS)}({", ".join(arguments)}, key="{dice.randrange(10**6)}")  # {name}'
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)
