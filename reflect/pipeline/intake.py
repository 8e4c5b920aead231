"""Collect: what this run has to work on."""

from __future__ import annotations

from dataclasses import dataclass

from reflect.evidence.collect import Seen, collect
from reflect.freshness import fingerprint, refs_for
from reflect.model import Commit, EvidenceBatch, Finding, Session, Source, digest
from reflect.scope.context import EpisodeScope
from reflect.triage.engine import Engine
from reflect.wiki.store import WikiState
from reflect.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Intake:
    """New evidence, the findings that an earlier run left waiting, and the wiki as it stood when the run began.

    `run` is the same for the same input: a run that was killed and is repeated carries the same id. `refs` and
    `fingerprint` are the state of the repository from before anything was read. `episodes` is what scope knows of the
    evidence of the findings that waited.
    """

    run: str
    batch: EvidenceBatch
    carried: tuple[Finding, ...]
    wiki: WikiState
    first_run: bool
    refs: tuple[str, ...]
    fingerprint: str
    episodes: tuple[EpisodeScope, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self.batch.is_empty and not self.carried

    @property
    def carried_evidence(self) -> tuple[str, ...]:
        """Evidence of an earlier run that this one takes up again."""
        new = set(self.batch.contents)
        return tuple(sorted({e for finding in self.carried for e in finding.evidence_ids if e not in new}))

    @property
    def on_pages(self) -> frozenset[str]:
        """Of `carried_evidence`, what a page cites already: an earlier run compiled a part of it."""
        cited = {source for page in self.wiki.pages for source in page.sources}
        return frozenset(evidence for evidence in self.carried_evidence if Source.of(evidence) in cited)


def take_in(workspace: Workspace, engine: Engine) -> Intake:
    """Read what the ledger has not seen, and the wiki. Writes nothing."""
    refs = refs_for(workspace.default.ref)
    before = fingerprint(workspace.git.root, refs) or ""
    wiki = workspace.wiki.read()
    landed = workspace.landed_runs()
    project = workspace.project.project_id
    with workspace.ledger() as ledger:
        rows = ledger.seen(project, landed)
        carried = ledger.pending_findings(project, landed)
        episodes = ledger.pending_episodes(project, landed)
    seen = Seen(contents=rows.contents, turn_keys=rows.turn_keys, floor=rows.floor, first_run=rows.first_run)
    batch = collect(workspace.git, workspace.config, seen, wiki.paths)
    run = _run_id(project, engine, batch, carried)
    return Intake(run, batch, carried, wiki, rows.first_run, refs, before, episodes)


def evidence_texts(intake: Intake) -> dict[str, str]:
    """The words of every piece of evidence by its id: what a quote must be found in.

    Evidence that an earlier run left pending is known by the quotes that run had checked, also where a session has
    grown since: what is read of it now is what is new.
    """
    texts: dict[str, list[str]] = {}
    for finding in intake.carried:
        for evidence in finding.evidence_ids:
            texts.setdefault(evidence, []).append(finding.quote)
    for session in intake.batch.sessions:
        texts.setdefault(session.id, []).extend(_session_words(session))
    for commit in intake.batch.commits:
        texts.setdefault(commit.id, []).extend(_commit_words(commit))
    return {evidence: "\n".join(words) for evidence, words in texts.items()}


def _session_words(session: Session) -> list[str]:
    words = [text for turn in session.turns for text in (turn.text, turn.about) if text]
    if session.summary is not None:
        summary = session.summary
        words += [summary.intent, summary.outcome, *summary.learnings, *summary.friction, *summary.open_items]
    return words


def _commit_words(commit: Commit) -> list[str]:
    return [commit.subject, commit.body]


def _run_id(project: str, engine: Engine, batch: EvidenceBatch, carried: tuple[Finding, ...]) -> str:
    evidence = sorted(f"{name}={content}" for name, content in batch.contents.items())
    return digest(project, engine.name, engine.version, *evidence, *sorted(finding.id for finding in carried))
