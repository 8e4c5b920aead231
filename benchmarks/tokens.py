"""What a night with a model sends: `python -m benchmarks.tokens`.

The pipeline runs whole and asks the local server that speaks the Messages API, which answers as it is told and counts
what it is sent, at four characters a token. Beside it stands, on the same evidence, the scheme that sends one evidence
text of at most 20,000 characters with the triage call and again with every page. Then one more checkpoint, to see that
its cost does not grow with the wiki.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

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
from reflect.triage.claude.building import messages_engine
from reflect.triage.claude.evidence_blocks import harmless
from reflect.triage.claude.fake_answers import Request
from reflect.triage.claude.fake_api import CHARS_PER_TOKEN, FakeApi, by_answer
from reflect.triage.views import evidence_mode, visible_turns
from reflect.workspace import Workspace

OTHER_SCHEME = 20_000
INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
WITHOUT_A_CAP = {"call_usd": 1e6, "repository_usd": 1e6, "night_usd": 1e6}
SIZES = (10, 100, 1_000)
SESSION_BYTES = 20_000
MAX_GROWTH = 1.5
"""How much more one new checkpoint may cost where a hundred times as many came before it: the list of pages grows."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What the local server was asked, and what it counted."""

    requests: tuple[Request, ...]

    def tokens(self, *purposes: str) -> int:
        """Input tokens of the questions of these purposes; of all of them where none is named."""
        asked = (one for one in self.requests if not purposes or _purpose(one.body) in purposes)
        return sum(one.usage.get(kind, 0) for one in asked for kind in INPUT)

    def lines(self) -> frozenset[str]:
        """Every line of evidence that was sent, without the head of its item."""
        contents = (one.body["messages"][0]["content"] for one in self.requests)
        return frozenset(
            fold(line.partition("] ")[2] if line.startswith("[e") else line)
            for content in contents
            for line in content.split("\n")
        )


def _purpose(body: Mapping[str, Any]) -> str:
    """What a request asks, told by the schema that its answer has to fit."""
    asked = body["output_config"]["format"]["schema"]["properties"]
    return "write" if "bullets" in asked else "plan" if "actions" in asked else "reflect"


@dataclass(frozen=True, slots=True)
class Night:
    """One run: the evidence that may be sent, what was, and what came of it."""

    evidence: tuple[str, ...]
    sent: Sent
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
        title="input tokens, as the local server counts them: four characters each",
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
    (folder / "config.yaml").write_text(f"max_new_pages: 100000\nclaude: {{caps: {WITHOUT_A_CAP}}}\n")
    workspace = Workspace.open(repository, settings)
    with FakeApi(by_answer(answer)) as api:
        premises = replace(premises_of(workspace), api_key="local", base_url=api.url)
        engine = messages_engine(workspace.config, premises)
        intake = take_in(workspace, engine)
        report = stages(workspace, engine, intake).report
        sent = Sent(tuple(api.asked))
    return Night(tuple(_evidence(intake)), sent, report, len({s.checkpoint for s in intake.batch.sessions}))


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
