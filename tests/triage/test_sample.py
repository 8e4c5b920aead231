"""On a real repository: enough pages, each of quotes that stand in its evidence."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reflect.configuration import load_config, load_format
from reflect.evidence.collect import Seen, collect
from reflect.evidence.git import Git
from reflect.model import EvidenceBatch, Origin, PageSummary, Plan
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.views import evidence_mode, visible_turns
from tests.triage.builders import page

BUNDLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "sample-repository.bundle"

pytestmark = pytest.mark.skipif(not BUNDLE.exists(), reason="the sample repository is not here")

ENGINE = ExtractiveEngine()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("sample") / "repository"
    subprocess.run(["git", "clone", "-q", str(BUNDLE), str(target)], check=True, capture_output=True)
    return target


@pytest.fixture(scope="module")
def batch(repository: Path) -> EvidenceBatch:
    return collect(Git.open(repository), load_config(repository / ".reflect"), Seen(), frozenset())


def _pages(repository: Path) -> tuple[PageSummary, ...]:
    """Title and first paragraph of each page; reading pages properly is the wiki's business."""
    found = []
    wiki = repository / ".reflect" / "wiki"
    for path in sorted(wiki.glob("*/*.md")):
        body = path.read_text(encoding="utf-8").rsplit("---\n", 1)[-1]
        lines = [line for line in body.splitlines() if line.strip()]
        title = next((line[2:] for line in lines if line.startswith("# ")), path.stem)
        lead = next((line for line in lines if not line.startswith("#")), "")
        found.append(page(path.relative_to(wiki).as_posix(), title, lead, body))
    return tuple(found)


@pytest.fixture(scope="module")
def made(batch: EvidenceBatch, repository: Path) -> Plan:
    findings = [each for one in batch.sessions for each in ENGINE.reflect(one, evidence_mode(one))]
    findings += ENGINE.reflect_on_commits(batch.commits)
    return ENGINE.plan(findings, _pages(repository), load_format(repository / ".reflect"), 40)


def test_a_run_publishes_neither_nothing_nor_everything(made: Plan) -> None:
    published = [a for a in made.actions if not a.digest and a.findings[0].origin is Origin.CLEAN]
    assert 8 <= len(published) <= 60


def test_every_passage_stands_in_the_evidence_it_cites(made: Plan, batch: EvidenceBatch, repository: Path) -> None:
    texts = {
        one.id: " ".join(" ".join(t.text.split()) for t in visible_turns(one, evidence_mode(one)))
        for one in batch.sessions
    }
    texts |= {one.id: " ".join(f"{one.subject} {one.body}".split()) for one in batch.commits}
    pages = {each.path: each for each in _pages(repository)}
    for action in made.actions:
        for section in ENGINE.write(action, pages.get(action.path)).sections:
            for passage in section.passages:
                assert all(passage.text in texts[each] for each in passage.evidence_ids)  # type: ignore[index]


def test_nothing_is_lost(made: Plan, batch: EvidenceBatch) -> None:
    findings = {each.id for one in batch.sessions for each in ENGINE.reflect(one, evidence_mode(one))}
    findings |= {each.id for each in ENGINE.reflect_on_commits(batch.commits)}
    ended = [f.id for a in made.actions for f in a.findings] + [fate.finding.id for fate in made.fates]
    assert sorted(ended) == sorted(findings)
