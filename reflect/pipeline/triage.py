"""Triage: what the evidence teaches, and what to do about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from reflect.errors import EngineError
from reflect.model import Action, Commit, Fate, Finding, Operation, Outcome, Plan, Session, Turn
from reflect.pipeline.intake import Intake
from reflect.pipeline.judged import Judged
from reflect.triage.engine import Engine, Unusable
from reflect.triage.views import evidence_mode
from reflect.wiki.archive import ArchivedEvidence
from reflect.wiki.store import WikiState
from reflect.workspace import Workspace

_FINDINGS = TypeAdapter(tuple[Finding, ...])


def reflect_on_session(engine: Engine, session: Session) -> str:
    """The findings of one session as JSON: the written form that a cache keeps for every later run."""
    return _FINDINGS.dump_json(engine.reflect(session, evidence_mode(session))).decode()


@dataclass(frozen=True, slots=True)
class Reflected:
    """The findings of a run's evidence; `unanswered` gives, by id, why an engine had no answer and is asked again.

    `set_aside` gives why an engine's answer could not be used: nobody is asked about that evidence again.
    """

    findings: tuple[Finding, ...]
    unanswered: Mapping[str, str]
    set_aside: Mapping[str, str] = field(default_factory=dict)

    def joined(self, other: Reflected) -> Reflected:
        """The findings of both, those of `other` behind."""
        return Reflected(
            (*self.findings, *other.findings),
            {**self.unanswered, **other.unanswered},
            {**self.set_aside, **other.set_aside},
        )


def gather(answers: Iterable[tuple[Session, str | None, Exception | None]]) -> Reflected:
    """Put the answers of `reflect_on_session` together. Raises what is no answer of an engine: it is our fault."""
    findings: list[Finding] = []
    unanswered: dict[str, str] = {}
    set_aside: dict[str, str] = {}
    for session, written, error in answers:
        if isinstance(error, Unusable):
            set_aside[session.id] = str(error)
        elif isinstance(error, EngineError):
            unanswered[session.id] = str(error)
        elif error is not None:
            raise error
        elif written is not None:
            findings += _FINDINGS.validate_json(written)
    return Reflected(tuple(findings), unanswered, set_aside)


def reflect_on_commits(engine: Engine, commits: Sequence[Commit]) -> Reflected:
    """The findings of all commits, group by group: one that an engine has no answer for takes no other down."""
    done = Reflected((), {})
    for group in engine.commit_groups(commits):
        try:
            done = done.joined(Reflected(engine.reflect_on_commits(group), {}))
        except Unusable as error:
            done = done.joined(Reflected((), {}, {commit.id: str(error) for commit in group}))
        except EngineError as error:
            done = done.joined(Reflected((), {commit.id: str(error) for commit in group}))
    return done


def cache_key(engine: Engine, session: Session) -> tuple[str, ...]:
    """What the findings of a session depend on: engine and version, checkpoint, content, what was shown, what is new.

    The last part is there because a session gives only the turns that no earlier checkpoint gave, without what the
    configuration of the day calls a secret.
    """
    mode = evidence_mode(session)
    return engine.name, engine.version, session.id, session.content, mode.value, _words_of(session.turns)


def _words_of(turns: Iterable[Turn]) -> str:
    words = hashlib.sha256()
    for turn in turns:
        for text in (turn.text, turn.about):
            words.update(turn.key + bytes([turn.offered]) + text.encode("utf-8", "surrogatepass") + b"\0")
    return words.hexdigest()


def plan_pages(engine: Engine, findings: Iterable[Finding], intake: Intake, workspace: Workspace) -> Plan:
    """What to do with all findings, given the wiki as it stands. Every finding ends in an action or has a fate.

    One that waited and was found again is one finding: a wiki that was thrown away has its evidence read once more.
    What an operator refused is shown to no engine, and what one moved to another category stays there.
    """
    archived = ArchivedEvidence.of(intake.wiki.archived)
    each = {finding.id: finding for finding in findings}.values()
    ordered = sorted(each, key=lambda finding: (finding.said_at, finding.evidence_id, finding.position, finding.id))
    standing = [(finding, archived.holds(finding)) for finding in ordered]
    project = workspace.project.project_id
    with workspace.ledger() as ledger:
        judged = Judged.of(ledger.decided_items(project))
        waiting = ledger.batches(project).actions()
    new = judged.sort_out(finding for finding, page in standing if page is None)
    planned = planned_already(waiting, new.fresh, intake.wiki)
    held = {finding.id for action in planned for finding in action.findings}
    most = max(0, workspace.config.max_new_pages - sum(one.operation is Operation.CREATE for one in planned))
    fresh = [finding for finding in new.fresh if finding.id not in held]
    plan = beside(planned, engine.plan(fresh, intake.wiki.pages, workspace.format, most))
    fates = [
        *new.fates,
        *(
            Fate(finding=finding, outcome=Outcome.SKIPPED, reason=f"stands on the archived page {page}")
            for finding, page in standing
            if page is not None
        ),
    ]
    actions = (*plan.actions, *new.again)
    return _without_archived(Plan(actions=actions, fates=(*plan.fates, *fates)), archived)


def planned_already(waiting: Iterable[Action], findings: Iterable[Finding], wiki: WikiState) -> tuple[Action, ...]:
    """What an earlier run planned and could not write yet, as far as it still holds; the rest is planned anew.

    It holds where every finding of it waits as it was, and its page is still there, or still is not.
    """
    known = {finding.id: finding for finding in findings}
    return tuple(
        action
        for action in waiting
        if all(known.get(finding.id) == finding for finding in action.findings)
        and (action.path in wiki.paths) is (action.operation is not Operation.CREATE)
    )


def beside(planned: Sequence[Action], plan: Plan) -> Plan:
    """`plan` with what was `planned` before it. What it has for a page of those waits until that is written."""
    taken = {action.path for action in planned}
    fates = [
        Fate(finding=finding, outcome=Outcome.PENDING, reason=f"what was planned for {action.path} is written first")
        for action in plan.actions
        if action.path in taken
        for finding in action.findings
    ]
    actions = (*planned, *(action for action in plan.actions if action.path not in taken))
    return Plan(actions=actions, fates=(*plan.fates, *fates))


def _without_archived(plan: Plan, archived: ArchivedEvidence) -> Plan:
    """`plan` without actions that would write an archived page again from nothing new."""
    kept: list[Action] = []
    fates = [*plan.fates]
    for action in plan.actions:
        page = archived.forbids(action)
        if page is None:
            kept.append(action)
            continue
        reason = f"was archived as {page}"
        fates += [Fate(finding=finding, outcome=Outcome.SKIPPED, reason=reason) for finding in action.findings]
    return Plan(actions=tuple(kept), fates=tuple(fates))
