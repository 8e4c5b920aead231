"""Whole nights over the local server, without Prefect and on a clock nobody waits for, and what they leave behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import RowMapping, select

from benchmarks.plain import stages
from examples.obedient_model import answer
from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession, ulid
from reflect.ledger.database import Database
from reflect.ledger.tables import metadata
from reflect.pipeline.batches import BatchesInLedger, collect_answers
from reflect.pipeline.bill import Bill
from reflect.pipeline.engine import premises_of
from reflect.pipeline.index import land_nothing
from reflect.pipeline.intake import take_in
from reflect.pipeline.recovery import prepare
from reflect.report import RunReport
from reflect.settings import Settings
from reflect.triage.claude.batches import Batched
from reflect.triage.claude.building import engine_asking
from reflect.triage.claude.fake_answers import Script, Served
from reflect.triage.claude.fake_api import FakeApi, by_answer
from reflect.triage.claude.messages import Asking
from reflect.workspace import Workspace
from tests.triage.claude.api import Waits, asking

OBEY = by_answer(answer)
Body = Mapping[str, Any]

_KNOWLEDGE = ("pages", "reflexions", "review_items", "decisions", "carried_lines")
_OF_A_RUN = ("run_id", "number")


@dataclass(frozen=True)
class Shop:
    """A repository and the state of the machine it is on."""

    folder: Path

    @property
    def repository(self) -> GitRepository:
        return GitRepository(self.folder / "shop")

    @property
    def workspace(self) -> Workspace:
        settings = Settings(state_dir=self.folder / "state", source_date_epoch=1_790_000_000)
        return Workspace.open(self.folder / "shop", settings)

    @classmethod
    def create(cls, folder: Path) -> Shop:
        made = GitRepository.create(folder / "shop")
        made.commit("feat: take orders", {"shop.py": "ORDERS = []\n"})
        return cls(folder)

    def copied(self, folder: Path) -> Shop:
        shutil.copytree(self.folder, folder, symlinks=True)
        return Shop(folder)

    def say(self, day: int, said: Sequence[str]) -> None:
        """One checkpoint on `day` for each of `said`, each a lesson that a person types in a session of its own."""
        for number, lesson in enumerate(said):
            at = START + timedelta(days=day, minutes=number)
            name = f"d{day}s{number}"
            transcript = ClaudeTranscript(name, at=at).prompt("look at the shop").reply("Done.").prompt(lesson)
            self.repository.checkpoint_ref(ulid(at, name), [StoredSession(transcript.encode(), name)], at)

    def configure(self, text: str) -> None:
        folder = self.repository.path / ".reflect"
        folder.mkdir(exist_ok=True)
        (folder / "config.yaml").write_text(text)

    def night(self, api: FakeApi, *, later: timedelta = timedelta()) -> RunReport:
        """Ingest what is new with the `claude` engine asking at `api`, `later` than now by the provider's clock."""
        workspace = self.workspace
        bill = Bill(workspace)
        claude = workspace.config.claude
        premises = premises_of(workspace)
        messages: Asking = asking(api, claude=claude, calls=bill, waits=Waits())
        if claude.mode == "batch":
            live = asking(api, claude=claude, calls=bill, waits=Waits())
            messages = Batched(live, BatchesInLedger(bill), premises.redact, lambda: datetime.now(UTC) + later)
        engine = engine_asking(messages, claude.model_of, workspace.config, premises)
        prepare(workspace)
        found = collect_answers(engine)
        intake = take_in(workspace, engine)
        if intake.is_empty:
            return land_nothing(workspace, engine, intake, found)
        return stages(workspace, engine, intake, bill, found).report

    def left(self) -> Left:
        """What stands in the wiki and in the ledger now."""
        folder = self.repository.path / ".reflect" / "wiki"
        wiki = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.md"))}
        database = Database(f"sqlite:///{self.folder / 'state' / 'ledger.db'}")
        with closing(database), database.read() as connection:
            rows = {
                table.name: [self._row(row) for row in connection.execute(select(table)).mappings()]
                for table in metadata.sorted_tables
            }
        return Left(wiki, rows)

    def _row(self, row: RowMapping) -> dict[str, Any]:
        """A row as it would be wherever the shop stood."""
        here = str(self.folder)
        return {str(name): value.replace(here, "") if isinstance(value, str) else value for name, value in row.items()}

    @property
    def everything_on_disk(self) -> bytes:
        """All bytes that a night left outside of git's own objects."""
        files = (path for path in self.folder.rglob("*") if path.is_file() and ".git/" not in str(path))
        return b"\n".join(path.read_bytes() for path in sorted(files))


@dataclass(frozen=True)
class Left:
    """What a night left: every file of the wiki by its path, and every row of the ledger by its table."""

    wiki: Mapping[str, bytes]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def pages(self) -> dict[str, bytes]:
        return {path: content for path, content in self.wiki.items() if "/" in path}

    @property
    def calls(self) -> frozenset[str]:
        """The ids of the calls that are written down."""
        return frozenset(row["call_id"] for row in self.rows["spend"])

    @property
    def of_pages(self) -> list[str]:
        """The rows that say what the wiki and the operator know, whichever run wrote them."""
        return self.without(())

    def without(self, evidence: Sequence[str]) -> list[str]:
        """Those of them that do not speak of `evidence`, by its ids."""
        named = [name.partition("/")[0] for name in evidence]
        told = [
            f"{table} {sorted((name, str(value)) for name, value in row.items() if name not in _OF_A_RUN)}"
            for table in _KNOWLEDGE
            for row in self.rows[table]
        ]
        return sorted(row for row in told if not any(name in row for name in named))


def purpose_of(body: Body) -> str:
    """What a request asks, told by the schema that its answer has to fit."""
    asked = body["output_config"]["format"]["schema"]["properties"]
    return "write" if "bullets" in asked else "plan" if "actions" in asked else "reflect"


def on(purpose: str, *served: Any, about: str = "") -> Script:
    """The obedient model, but the first questions of `purpose` that hold `about` get `served`, one after another.

    What is callable is given the request and the obedient answer to it. An ellipsis at the end repeats the one before.
    """
    waiting = list(served)

    def script(body: Body) -> Any:
        good = OBEY(body)
        if purpose_of(body) != purpose or about not in body["messages"][0]["content"] or not waiting:
            return good
        told = waiting[0] if waiting[1:] == [...] else waiting.pop(0)
        return told(body, good) if callable(told) else told

    return script


def always(served: Served) -> Script:
    return lambda body: served


def changed(**changes: Any) -> Callable[[Body, Any], Any]:
    """The obedient answer with other values for some keys of its first action, finding or bullet."""

    def change(body: Body, good: Any) -> Any:
        name = next(name for name in ("actions", "bullets", "findings") if name in good)
        first, *others = good[name]
        return {**good, name: [{**first, **changes}, *others]}

    return change
