"""The planted sessions and decoys, written into a real repository as agents, the Entire CLI and people store them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession

HALVES = ("tuning", "test")
NEVER = frozenset({"finished to-do", "joke", "harness text", "the wiki itself"})
"""Families of decoys that may stand nowhere: on no page of any kind and in no question to an operator."""

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Lesson:
    """What must be found: a part of its words, its kind, and the categories of pages that it may stand on."""

    words: str
    kind: str
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Decoy:
    """What must not be published: a part of its words, and its family."""

    words: str
    family: str


@dataclass(frozen=True)
class Half:
    """One half of the corpus."""

    name: str
    lessons: Sequence[Lesson]
    decoys: Sequence[Decoy]
    entries: Sequence[Mapping[str, Any]]

    @classmethod
    def load(cls, name: str) -> Half:
        loaded = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
        lessons = [Lesson(one["lesson"], one["kind"], tuple(one["categories"])) for one in loaded["lessons"]]
        decoys = [Decoy(one["text"], one["decoy"]) for one in loaded["decoys"]]
        return cls(name, lessons, decoys, _mixed(loaded["lessons"], loaded["decoys"]))

    def plant(self, folder: Path) -> GitRepository:
        """Write all of it into a new repository at `folder`, an hour between one entry and the next."""
        repository = GitRepository.create(folder)
        repository.commit("feat: begin", {"README.md": f"# {folder.name}\n"}, START - timedelta(hours=1))
        checkpoints = []
        for number, entry in enumerate(self.entries):
            at = START + timedelta(hours=number)
            if "commits" in entry:
                _commit(repository, entry["commits"], number)
                continue
            talk = _transcript(entry["turns"], f"{self.name}-{number}", folder)
            name = hashlib.sha256(f"{self.name} {number}".encode()).hexdigest()[:12]
            checkpoints.append((name, [StoredSession(talk.encode(), talk.session_id, at)]))
        repository.checkpoint_branch(checkpoints)
        return repository


def _mixed(lessons: Sequence[Any], decoys: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Lessons and decoys in turn, as they come in life."""
    longest = max(len(lessons), len(decoys))
    pairs = [(*lessons[number : number + 1], *decoys[number : number + 1]) for number in range(longest)]
    return [entry for pair in pairs for entry in pair]


def _transcript(turns: Sequence[Mapping[str, Any]], name: str, folder: Path) -> ClaudeTranscript:
    talk = ClaudeTranscript(name, cwd=str(folder))
    for turn in turns:
        kind = next(iter(turn))
        text = turn[kind]
        match kind:
            case "prompt":
                talk.prompt(text)
            case "reply":
                talk.reply(text)
            case "tool":
                talk.tool(text, turn["input"], turn["output"])
            case "denial":
                talk.denial(turn["tool"], {"command": "…"}, text)
            case "steer":
                talk.steer(turn["tool"], {"file_path": "src/app.py"}, text)
            case "interruption":
                talk.interruption()
            case "plan_rejected":
                talk.plan(turn["about"], approved=False, reason=text)
            case "question":
                talk.question(text, turn["options"], turn["answer"])
            case "compaction":
                talk.compaction(text)
            case "raw_user":
                talk.prompt(text)
            case _:
                raise ValueError(f"{kind!r} is no kind of turn")
    return talk


def _commit(repository: GitRepository, commits: Sequence[Mapping[str, Any]], number: int) -> None:
    shas: list[str] = []
    for step, one in enumerate(commits):
        message = f"{one['subject']}\n\n"
        if "reverts" in one:
            message += f"This reverts commit {shas[one['reverts']]}.\n\n"
        at = START + timedelta(hours=number, minutes=step)
        shas.append(repository.commit(message + one["body"], {f"src/{number}.py": f"step = {step}\n"}, at))
