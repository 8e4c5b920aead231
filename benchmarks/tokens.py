"""What a night with a model sends: `python -m benchmarks.tokens`.

The pipeline runs whole, with a model that answers as it is told and counts what it is sent, at three characters a
token. Beside it stands, on the same evidence, the scheme that sends one evidence text of at most 20,000 characters with
the triage call and again with every page. Then one more checkpoint, to see that its cost does not grow with the wiki.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.plain import stages
from benchmarks.transcripts import Shape, generated
from examples.obedient_model import answer
from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession, ulid
from reflect.folding import fold
from reflect.pipeline.engine import premises_of
from reflect.pipeline.intake import Intake, take_in
from reflect.report import RunReport
from reflect.settings import Settings
from reflect.triage.claude.building import engine_asking
from reflect.triage.claude.evidence_blocks import harmless
from reflect.triage.claude.messages import Ask, Reply
from reflect.triage.views import evidence_mode, visible_turns
from reflect.workspace import Workspace

CHARS_PER_TOKEN = 3
OTHER_SCHEME = 20_000
SIZES = (10, 100, 1_000)
SESSION_BYTES = 20_000
MAX_GROWTH = 1.5
"""How much more one new checkpoint may cost where a hundred times as many came before it: the list of pages grows."""


@dataclass
class Counting:
    """Answers like the obedient model and keeps what it was sent."""

    asked: list[Ask] = field(default_factory=list)

    def ask(self, ask: Ask) -> Reply:
        self.asked.append(ask)
        return Reply(answer(ask.schema, ask.content), "end_turn", {}, f"req_{len(self.asked)}")

    def tokens(self, *purposes: str) -> int:
        chars = (len(ask.system) + len(ask.content) for ask in self.asked if not purposes or ask.purpose in purposes)
        return sum(chars) // CHARS_PER_TOKEN

    def lines(self) -> frozenset[str]:
        """Every line of evidence that was sent, without the head of its item."""
        return frozenset(
            fold(line.partition("] ")[2] if line.startswith("[e") else line)
            for ask in self.asked
            for line in ask.content.split("\n")
        )


@dataclass(frozen=True, slots=True)
class Night:
    """One run: the evidence that may be sent, what was, and what came of it."""

    evidence: tuple[str, ...]
    sent: Counting
    report: RunReport
    checkpoints: int

    @property
    def pages(self) -> int:
        return max(1, len(self.report.pages))

    @property
    def share(self) -> float:
        """The share of the evidence, by characters of its lines, that reached the model."""
        sent = self.sent.lines()
        lines = [fold(harmless(line)) for text in self.evidence for line in text.splitlines() if line.strip()]
        return sum(len(line) for line in lines if line in sent) / max(1, sum(map(len, lines)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "reflect-benchmarks")
    parser.add_argument("--sample", type=Path, help="a bundle or repository of real sessions to measure as well")
    parser.add_argument("--most", type=int, default=max(SIZES), help="leave out generated repositories above this size")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    table = Table(
        "repository",
        "evidence reached",
        "other scheme",
        "write tokens per page",
        "other scheme",
        "reflect per checkpoint",
        "one more checkpoint",
        title="tokens, at three characters each",
    )
    good, grown = True, []
    for name, repository in _repositories(chosen.folder, chosen.sample, chosen.most):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy"
            subprocess.run(["git", "clone", "-q", "--mirror", str(repository), str(copy / ".git")], check=True)
            subprocess.run(["git", "-C", str(copy), "config", "core.bare", "false"], check=True)
            first = night(copy, Path(folder) / "state")
            more = _one_more(copy, Path(folder) / "state")
        grown.append(more.sent.tokens())
        good &= first.share > 0.999 and first.sent.tokens("write") / first.pages < OTHER_SCHEME / CHARS_PER_TOKEN
        _add(table, name, first, more)
    good &= max(grown[-len(SIZES) :]) <= MAX_GROWTH * min(grown[-len(SIZES) :])
    Console(width=150).print(table)
    return 0 if good else 1


def _repositories(folder: Path, sample: Path | None, most: int) -> Iterator[tuple[str, Path]]:
    if sample is not None:
        yield "the sample", sample
    for size in SIZES:
        if size <= most:
            yield f"{size:,} checkpoints", generated(Shape(size, session_bytes=SESSION_BYTES), folder)


def _add(table: Table, name: str, first: Night, more: Night) -> None:
    evidence = sum(map(len, first.evidence))
    other = min(evidence, OTHER_SCHEME)
    table.add_row(
        f"{name}, {first.pages} pages",
        f"{first.share:.1%}",
        f"{other / max(1, evidence):.1%}",
        f"{first.sent.tokens('write') / first.pages:,.0f}",
        f"{other / CHARS_PER_TOKEN:,.0f}",
        f"{first.sent.tokens('reflect') / max(1, first.checkpoints):,.0f}",
        f"{more.sent.tokens():,}",
    )


def night(repository: Path, state: Path) -> Night:
    settings = Settings(state_dir=state, source_date_epoch=1_790_000_000)
    folder = repository / ".reflect"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text("max_new_pages: 100000\n")
    workspace = Workspace.open(repository, settings)
    counting = Counting()
    engine = engine_asking(counting, {}, workspace.config, premises_of(workspace))
    intake = take_in(workspace, engine)
    report = stages(workspace, engine, intake).report
    return Night(tuple(_evidence(intake)), counting, report, len({s.checkpoint for s in intake.batch.sessions}))


def _evidence(intake: Intake) -> Iterable[str]:
    """Everything an engine may see of what was collected."""
    for session in intake.batch.sessions:
        for turn in visible_turns(session, evidence_mode(session)):
            yield from (text for text in (turn.text, turn.about) if text.strip())
    for commit in intake.batch.commits:
        yield from (text for text in (commit.subject, commit.body) if text.strip())


def _one_more(repository: Path, state: Path) -> Night:
    at = START + timedelta(days=900)
    transcript = (
        ClaudeTranscript("one-more", at=at)
        .prompt("look at the margin report")
        .reply("The root cause was a stale exchange rate in the margin report.")
        .prompt("never round amounts before the last step of the margin report")
    )
    GitRepository(repository).checkpoint_ref(ulid(at, "one more"), [StoredSession(transcript.encode(), "one-more")], at)
    return night(repository, state)


if __name__ == "__main__":
    raise SystemExit(main())
