"""A repository to search in, and what is written into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.search.answer import Answer, Hit, Query
from reflect.search.find import search
from reflect.settings import Settings
from reflect.workspace import Workspace


@dataclass(frozen=True)
class Searched:
    """A real repository with a wiki, and the state folder its index lies in."""

    repository: GitRepository
    settings: Settings

    @property
    def root(self) -> Path:
        return self.repository.path

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.root, self.settings)

    @property
    def project(self) -> str:
        return self.workspace.project.project_id

    def page(self, path: str, text: str, title: str = "A page", **keys: str) -> Path:
        """Write a page with the scope keys of this project, unless `keys` say otherwise."""
        stated = {"memory_type": "fact", "scope": "project", "project_id": self.project, "workspace_root": '"."'}
        stated |= {"scope_confidence": "0.9", "scope_source": "extraction_default", "origin": "clean"} | keys
        head = "".join(f"{key}: {value}\n" for key, value in stated.items() if value)
        file = self.root / ".reflect" / "wiki" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nstatus: active\n{head}---\n# {title}\n\n{text}\n", encoding="utf-8")
        return file

    def ask(self, text: str, **options: Any) -> Answer:
        return search(self.workspace, Query(text)._replace(**options))

    def hits(self, text: str, **options: Any) -> list[Hit]:
        return list(self.ask(text, **options).hits)

    def found(self, text: str, **options: Any) -> list[str]:
        return [hit.id for hit in self.hits(text, **options)]


@pytest.fixture(autouse=True)
def _no_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("REFLECT_QMD_DIR", "REFLECT_QMD_MODEL", "REFLECT_ORGANISATION", "REFLECT_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    yield


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Searched]:
    """A repository with one commit, in a folder of the given name below the test's own."""
    monkeypatch.setenv("REFLECT_STATE_DIR", str(tmp_path / "state"))

    def made(folder: str) -> Searched:
        repository = GitRepository.create(tmp_path / folder)
        repository.commit(f"feat: begin {folder}", {"main.py": "print()\n"})
        return Searched(repository, Settings(state_dir=tmp_path / "state"))

    return made


@pytest.fixture
def shop(make: Callable[[str], Searched]) -> Searched:
    return make("shop")


def with_session(searched: Searched, *prompts: str, checkpoint: str = "aaaaaaaaaaaa") -> None:
    """Put one session with these prompts on the checkpoint branch."""
    transcript = ClaudeTranscript(f"s-{checkpoint}", cwd=str(searched.root))
    for prompt in prompts:
        transcript.prompt(prompt).reply("Done: webhooksecretreply.")
    searched.repository.checkpoint_branch([(checkpoint, [StoredSession(transcript.encode(), transcript.session_id)])])
