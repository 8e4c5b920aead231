"""The life of one sample repository: people, their sessions with agents, their commits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from inspect import cleandoc
from typing import Any

from examples.sessions import ClaudeTranscript, GeminiTranscript, GitRepository, StoredSession, ulid


def when(text: str) -> datetime:
    """`2026-03-02 09:10`, in UTC."""
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


@dataclass(frozen=True)
class Person:
    """Somebody who commits and talks to agents. `home` is where their clones lie on their own machine."""

    name: str
    email: str
    home: str = "/home/dev"

    def claude(self, repository: str, topic: str, start: str, branch: str = "main") -> ClaudeTranscript:
        return ClaudeTranscript(_session_id(topic), f"{self.home}/{repository}", branch, when(start))


MAYA = Person("Maya Lindqvist", "maya@harbour.example", "/Users/maya/src")
TOMAS = Person("Tomas Okafor", "tomas@harbour.example", "/home/tomas/code")
PRIYA = Person("Priya Raman", "priya@harbour.example", "/home/priya/git")
JONAS = Person("Jonas Weber", "jonas@harbour.example", "/home/jonas/code")
LEA = Person("Léa Fournier", "lea@harbour.example", "/Users/lea/dev")
INES = Person("Inês Duarte", "ines@harbour.example", "/home/ines/work")
BOT = Person("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.example")
OUTSIDER = Person("Kyle Vance", "kyle@freelance.example")


@dataclass(frozen=True)
class Talk:
    """One session as it stands at a checkpoint, with the files it touched."""

    transcript: ClaudeTranscript | GeminiTranscript
    files: Sequence[str] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def stored(self) -> StoredSession:
        transcript = self.transcript
        gemini = isinstance(transcript, GeminiTranscript)
        return StoredSession(
            transcript=transcript.encode(),
            session_id=transcript.session_id,
            created_at=transcript.at,
            branch="main" if isinstance(transcript, GeminiTranscript) else transcript.branch,
            agent="Gemini CLI" if gemini else "Claude Code",
            files_touched=self.files,
            prompts=_prompts(transcript),
            extra=self.extra,
        )


@dataclass(frozen=True)
class History:
    """Appends to one repository. `refs` says that its checkpoints live in one ref each, with ULIDs."""

    name: str
    repository: GitRepository
    refs: bool = False

    def checkpoint(self, *talks: Talk) -> str:
        """Store `talks` as they stand now as one checkpoint, and return its id."""
        at = max(talk.transcript.at for talk in talks)
        seed = f"{self.name} {at.isoformat()} {talks[0].transcript.session_id}"
        sessions = [talk.stored() for talk in talks]
        if self.refs:
            checkpoint = ulid(at, seed)
            self.repository.checkpoint_ref(checkpoint, sessions, at)
        else:
            checkpoint = hashlib.sha256(seed.encode()).hexdigest()[:12]
            self.repository.checkpoint_branch([(checkpoint, sessions)], at)
        return checkpoint

    def commit(self, at: str, who: Person, message: str, files: dict[str, str], *checkpoints: str) -> str:
        """Commit `files`; every checkpoint becomes a trailer, as Entire's hook writes it. Returns the commit's id."""
        for name, text in files.items():
            target = self.repository.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(cleandoc(text) + "\n", encoding="utf-8")
        self.repository.git("add", "--", *files)
        return self._record(at, who, _message(message, checkpoints))

    def revert(self, at: str, who: Person, commit: str, message: str) -> str:
        """Take `commit` back with `message`, whose body says why."""
        self.repository.git("revert", "--no-commit", commit)
        return self._record(at, who, cleandoc(message).replace("{commit}", commit))

    def commit_wiki(self, at: str, who: Person) -> None:
        """Commit the wiki as a team does in the morning; nothing where no night has run yet."""
        if (self.repository.path / ".reflect" / "wiki").is_dir():
            self.repository.git("add", "--", ".reflect/wiki")
            self._record(at, who, "docs: the wiki of the first night\n")

    def branch(self, name: str) -> None:
        self.repository.git("checkout", "-q", "-b", name)

    def merge(self, at: str, who: Person, branch: str, message: str, *checkpoints: str) -> None:
        """Go back to the default branch and merge `branch` with a merge commit."""
        self.repository.git("checkout", "-q", "main")
        text = _message(message, checkpoints)
        self.repository.git("merge", "-q", "--no-ff", "-m", text, branch, at=when(at), who=(who.name, who.email))
        self.repository.git("branch", "-q", "-d", branch)

    def _record(self, at: str, who: Person, message: str) -> str:
        identity = (who.name, who.email)
        self.repository.git("commit", "-q", "-F", "-", input=message.encode(), at=when(at), who=identity)
        return self.repository.git("rev-parse", "HEAD")


def gemini(topic: str, start: str) -> GeminiTranscript:
    return GeminiTranscript(_session_id(topic), when(start))


def _session_id(topic: str) -> str:
    digits = hashlib.sha256(topic.encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def _message(text: str, checkpoints: Sequence[str]) -> str:
    trailers = [f"Entire-Checkpoint: {checkpoint}" for checkpoint in checkpoints]
    return "\n\n".join([cleandoc(text), *(["\n".join(trailers)] if trailers else [])]) + "\n"


def _prompts(transcript: ClaudeTranscript | GeminiTranscript) -> list[str]:
    if isinstance(transcript, GeminiTranscript):
        return [message["content"] for message in transcript.messages if message["type"] == "user"]
    typed = [line for line in transcript.lines if line["type"] == "user" and "isCompactSummary" not in line]
    texts = [line["message"]["content"] for line in typed]
    return [text for text in texts if isinstance(text, str)]
