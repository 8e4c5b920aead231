"""A repository full of planted secrets, one night over it, and every place in which that night left something."""

from __future__ import annotations

import hashlib
import io
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.evidence import ROOT
from examples.obedient_model import answer
from examples.secret_families import FAMILIES, Maker
from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.pipeline.engine import premises_of
from reflect.pipeline.intake import take_in
from reflect.pipeline.triage import gather, plan_pages, reflect_on_session
from reflect.settings import Settings
from reflect.triage.claude.building import engine_asking
from reflect.triage.claude.messages import Ask, Reply
from reflect.workspace import Workspace

EACH = 10
PARTS = 12
"""Letters from which on a line of a secret of several lines is looked for by itself."""


@dataclass(frozen=True)
class Planted:
    """One secret, and the line it stands in."""

    family: str
    secret: str
    line: str

    def shown_in(self, text: str) -> bool:
        """Whether `text` holds it, or one whole line from the inside of one that has several."""
        if self.secret in text:
            return True
        inside = self.secret.replace("\\n", "\n").splitlines()[1:-1]
        return any(len(part) >= PARTS and part in text for part in inside)


class _OwnWords(Maker):
    """Makes words that nobody else says, so that a word found anywhere was planted by one family alone."""

    def word(self) -> str:
        return "".join(self.random.choice("bdfgklmnprtvz") + self.random.choice("aeiou") for _ in range(5))


def planted(each: int = EACH) -> list[Planted]:
    """`each` secrets of every family, the same every time."""
    made: list[Planted] = []
    for family, (make, form) in FAMILIES.items():
        maker = _OwnWords(int(hashlib.sha256(f"whole {family}".encode()).hexdigest()[:8], 16))
        for _ in range(each):
            secret = make(maker)
            made.append(Planted(family, secret, form.format(secret)))
    return made


def plant(folder: Path, secrets: list[Planted]) -> GitRepository:
    """Every secret in a correction, in an agent's answer, in a tool's error or in a commit, in turn."""
    repository = GitRepository.create(folder)
    repository.commit("feat: begin", {"README.md": "# shop\n"})
    checkpoints = []
    for number, one in enumerate(secrets):
        if number % 4 == 3:
            body = f"It was silently ignored because the old value was cached:\n\n{one.line}\n"
            repository.commit(f"fix: load setting {number} again\n\n{body}", {f"src/{number}.py": f"n = {number}\n"})
            continue
        talk = ClaudeTranscript(f"secret-{number}", cwd=str(folder)).prompt(f"look at setting {number}")
        if number % 4 == 0:
            talk.reply(f"I read setting {number}.")
            talk.prompt(f"no, always use setting {number} from the vault, never this:\n{one.line}")
        elif number % 4 == 1:
            talk.reply(f"The root cause was that setting {number} silently falls back to\n{one.line}")
        else:
            talk.tool("Bash", {"command": f"cat setting-{number}"}, f"error at\n{one.line}", is_error=True)
            talk.prompt(f"we decided to keep setting {number} in the vault instead of the file ({one.line})")
        name = hashlib.sha256(f"secrets {number}".encode()).hexdigest()[:12]
        checkpoints.append((name, [StoredSession(talk.encode(), talk.session_id, prompts=[one.line])]))
    repository.checkpoint_branch(checkpoints)
    return repository


def left_by_a_night(place: Path, repository: Path, server: str, server_home: Path) -> dict[str, str]:
    """Everything that ingesting `repository` leaves or says, by the way it goes: nothing of it may hold a secret."""
    command = Commands(place, server)
    told = command("ingest", "--repo", str(repository), "--json")
    ways = {"report": told.stdout, "progress and errors": told.stderr}
    ways["report in words"] = command("ingest", "--repo", str(repository), "--dry-run").stdout
    ways["search"] = command("search", "--repo", str(repository), "setting vault fallback", "--limit", "50").stdout
    ways["review"] = command("review", "list", "--repo", str(repository)).stdout
    ways["lint"] = command("lint", "--repo", str(repository), "--json").stdout
    ways["exceptions"] = _when_it_breaks(command, repository)
    ways["pages, index and log"] = bytes_below(repository / ".reflect")
    ways["ledger, caches and search index"] = bytes_below(place / "state")
    ways["Prefect's logs, artifacts and runs"] = bytes_below(server_home)
    ways["prompts and answers of a model"] = "\n".join(prompts(place, repository))
    return ways


@dataclass(frozen=True)
class Commands:
    """`reflect`, with everything that it keeps below `place`."""

    place: Path
    server: str

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        foreign = ("PREFECT_", "REFLECT_", "GIT_")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(foreign)},
            "REFLECT_STATE_DIR": str(self.place / "state"),
            "PREFECT_API_URL": self.server,
            "PREFECT_HOME": str(self.place / "state" / "prefect"),
        }
        command = [sys.executable, "-m", "reflect.cli.main", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)


def _when_it_breaks(command: Commands, repository: Path) -> str:
    """What a run says that meets a wiki it cannot write, and one without its ledger."""
    broken = repository.with_name("broken")
    subprocess.run(["cp", "-r", str(repository), str(broken)], check=True)
    wiki = broken / ".reflect" / "wiki"
    subprocess.run(["rm", "-rf", str(wiki)], check=True)
    wiki.write_text("no folder", encoding="utf-8")
    first = Commands(command.place / "elsewhere", command.server)("ingest", "--repo", str(broken))
    (command.place / "other").mkdir()
    (command.place / "other" / "state").mkdir()
    (command.place / "other" / "state" / "ledger.db").write_bytes(b"no database" * 100)
    second = Commands(command.place / "other", command.server)("ingest", "--repo", str(broken))
    if not (first.returncode and second.returncode):
        raise RuntimeError("nothing broke, so no exception was looked at")
    return "".join((first.stdout, first.stderr, second.stdout, second.stderr))


class _Listening:
    """A model that does as it is told, and remembers what it was sent and what it answered."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def ask(self, ask: Ask) -> Reply:
        answered = answer(ask.schema, ask.content)
        self.heard += [ask.system, ask.content, str(answered)]
        return Reply(data=answered, stop_reason="end_turn", usage={}, request_id="r")


def prompts(place: Path, repository: Path) -> list[str]:
    settings = Settings.of_environment().model_copy(update={"state_dir": place / "fresh"})
    workspace = Workspace.open(repository, settings)
    listening = _Listening()
    engine = engine_asking(listening, {}, workspace.config, premises_of(workspace))
    intake = take_in(replace(workspace, settings=settings), engine)
    reflected = gather((session, reflect_on_session(engine, session), None) for session in intake.batch.sessions)
    findings = [*reflected.findings]
    for group in engine.commit_groups(intake.batch.commits):
        findings += engine.reflect_on_commits(group)
    plan_pages(engine, findings, intake, workspace)
    if not listening.heard:
        raise RuntimeError("no model was asked, so no prompt was looked at")
    return listening.heard


def bytes_below(folder: Path) -> str:
    """Every byte of every file, and every row of every database once more as text."""
    found = io.StringIO()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        found.write(content.decode("utf-8", "replace"))
        if content.startswith(b"SQLite format 3\0"):
            found.writelines(_rows(file))
    return found.getvalue()


def _rows(database: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type='table'")]
        for table in tables:
            for row in connection.execute(f'select * from "{table}"'):
                yield f"{row}\n"


def leaks(secrets: list[Planted], ways: Mapping[str, str]) -> list[str]:
    """Which secrets stand where."""
    return [f"{one.family} in {way}" for way, text in ways.items() for one in secrets if one.shown_in(text)]
