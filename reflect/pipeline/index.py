"""Index: the commit point. Pages, `index.md`, `log.md` and `.last_run` land together; then the ledger is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from reflect.errors import LedgerError
from reflect.freshness import LAST_RUN, LastRun
from reflect.ledger.entry import EvidenceRecord, LedgerEntry, PageRecord, RunState
from reflect.model import Accounted, EvidenceId, Fate, Finding, Outcome, evidence_kind
from reflect.pipeline.intake import Intake
from reflect.pipeline.scope import Bound, fates_of
from reflect.pipeline.write import Drafted, Written
from reflect.report import PageChange, RunReport, Spend, account, teaching
from reflect.scope.context import EpisodeScope
from reflect.triage.engine import Engine
from reflect.triage.views import evidence_mode
from reflect.wiki.archive import LEAVES
from reflect.wiki.draft import without_missing_links
from reflect.wiki.landing import FileChange, Landing
from reflect.wiki.log import LogEntry, newest_landed, with_entry
from reflect.wiki.paths import INDEX, LOG, WIKI
from reflect.wiki.store import WikiState
from reflect.wiki.toc import render_index
from reflect.workspace import Workspace

ENTRY = "entry"
"""Where a landing's journal keeps the ledger's entry."""

EDITED = "somebody changed the page while the run was working; it is tried again by the next run"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Everything the stages before the commit point decided. `found` is what an earlier run had left, in sentences.

    `unanswered` and `set_aside` give by evidence why an engine had no answer, or none that could be used. `spend` is
    what was asked for it, `to_publish` whether the pages are to be written back once they have landed.
    """

    engine: Engine
    intake: Intake
    bound: Bound
    written: Written
    unanswered: Mapping[str, str]
    started_at: datetime
    found: tuple[str, ...] = ()
    set_aside: Mapping[str, str] = field(default_factory=dict)
    spend: Spend = field(default_factory=Spend)
    to_publish: bool = False


def land(workspace: Workspace, done: Outcomes) -> RunReport:
    """Put the run's pages in place and record what it settled, and say what it did.

    A page that somebody edited meanwhile is left to the next run. Raises WikiError, with nothing changed, where the
    files cannot be put in place; a run killed in between is finished by the next one.
    """
    done = replace(done, written=_without_edited(workspace, done.written))
    pages = _changed(done.written)
    report = report_on(workspace, done)
    entry = _entry(workspace, done, report)
    state = workspace.wiki.read().with_pages({one.draft.path: one.draft.content for one in pages})
    changes = [_as_change(workspace, _last_run(workspace, done, report, state))]
    if pages:
        changes += [*_page_changes(pages), *_own_changes(workspace, done, pages, state)]
    landing = Landing(workspace.folder, done.intake.run, journal=workspace.journal)
    landing.land(changes, {ENTRY: entry.to_json()})
    _record_landed(workspace, entry)
    landing.finish()
    return report


def _record_landed(workspace: Workspace, entry: LedgerEntry) -> None:
    """Tell the ledger of a run that has landed; where it cannot be told now, the next run does it first."""
    try:
        with workspace.ledger() as ledger:
            ledger.record(entry)
    except LedgerError as error:
        raise LedgerError(
            f"The run has landed, but the ledger does not know of it yet: {str(error).rstrip('.')}. Run "
            "`reflect ingest` again: it records that before anything else."
        ) from error


def land_nothing(
    workspace: Workspace, engine: Engine, intake: Intake, found: tuple[str, ...] = (), *, dry_run: bool = False
) -> RunReport:
    """Remember that there was nothing new, so that the next question is answered at once.

    What stands in `.last_run` stays byte for byte where it says so already; a dry run leaves it alone in any case.
    """
    done = Outcomes(engine, intake, Bound((), (), ()), Written(), {}, workspace.settings.now(), found)
    report = report_on(workspace, done, dry_run=dry_run)
    if not dry_run:
        previous = LastRun.read(workspace.folder)
        last = _last_run(workspace, done, report, workspace.wiki.read())
        if previous is None or not last.says_as_much_as(previous):
            _note_last_run(workspace, _as_change(workspace, last))
    return report


def _note_last_run(workspace: Workspace, change: FileChange) -> None:
    """Put `.last_run` alone in place: what it says is already true of the ledger."""
    landing = Landing(workspace.folder, "last-run", journal=workspace.journal)
    landing.land([change], {})
    landing.finish()


def report_on(workspace: Workspace, done: Outcomes, *, dry_run: bool = False) -> RunReport:
    """What the run did, or would do."""
    batch, written = done.intake.batch, done.written
    modes = {str(session.id): evidence_mode(session) for session in batch.sessions}
    evidence = account(
        [s for s in batch.sessions if s.id not in done.unanswered.keys() | done.set_aside.keys()],
        [c for c in batch.commits if c.id not in done.unanswered.keys() | done.set_aside.keys()],
        (*batch.settled, *_without_answer(done)),
        _fates(done),
        done.intake.carried_evidence,
        done.intake.on_pages,
    )
    queue = Counter(reason.value for one in done.bound.queued for reason in one.reasons)
    unreadable = [f"{path} was left as it is: {reason}" for path, reason in done.intake.wiki.unreadable]
    return RunReport(
        project=workspace.project.project_id,
        run=done.intake.run,
        engine=done.engine.name,
        evidence=evidence,
        pages=tuple(_page_change(one) for one in _changed(written)),
        failed_pages=written.failed,
        queued=len(done.bound.queued),
        queue_reasons=dict(sorted(queue.items())),
        teaching=teaching(batch.sessions, modes),
        left_out_commits=batch.left_out_commits,
        redactions=batch.redactions,
        notes=(*done.found, *batch.notes, *done.bound.notes, *unreadable, *written.notes),
        spend=done.spend,
        dry_run=dry_run,
        started_at=done.started_at,
        finished_at=workspace.settings.now(),
    )


def _without_edited(workspace: Workspace, written: Written) -> Written:
    """`written` without the pages whose bytes changed since they were read, and without links to them."""
    pages = _changed(written)
    landing = Landing(workspace.folder, "conflicts", journal=workspace.journal)
    edited = {path.removeprefix(f"{WIKI}/"): EDITED for path in landing.conflicts(_page_changes(pages))}
    kept = written.without(edited, Outcome.PENDING)
    if not kept.failed:
        return kept
    existing = workspace.wiki.read().paths | {one.draft.path for one in kept.drafted}
    drafted = (replace(one, draft=without_missing_links(one.draft, existing)) for one in kept.drafted)
    return replace(kept, drafted=tuple(drafted))


def _changed(written: Written) -> tuple[Drafted, ...]:
    return tuple(one for one in written.drafted if one.draft.changed)


def _page_changes(pages: Iterable[Drafted]) -> list[FileChange]:
    return [FileChange(f"{WIKI}/{one.draft.path}", one.draft.content, one.draft.base_sha256) for one in pages]


def _own_changes(
    workspace: Workspace, done: Outcomes, pages: Iterable[Drafted], state: WikiState
) -> Iterable[FileChange]:
    log = LogEntry(
        day=_newest_day(pages),
        run_id=done.intake.run,
        changes=[(one.draft.action, one.draft.path) for one in pages],
    )
    text = with_entry(workspace.wiki.content(LOG), log.render())
    yield FileChange.on_top(workspace.folder, f"{WIKI}/{LOG}", text)
    yield FileChange.on_top(workspace.folder, f"{WIKI}/{INDEX}", render_index(state).encode())


def _newest_day(pages: Iterable[Drafted]) -> date:
    """The day of the newest words that were written: the log, like the pages, is dated by its evidence."""
    return max(finding.said_at for one in pages for finding in one.bound.action.findings).date()


def _last_run(workspace: Workspace, done: Outcomes, report: RunReport, state: WikiState) -> LastRun:
    """What the next question is answered from.

    A run that landed no page names the newest one that did: the answer holds only while that one's pages stand.
    """
    pending = report.outcomes[Outcome.PENDING.value] + len(_pending(_fates(done)))
    checkpoints = sorted((s.created_at, s.checkpoint) for s in done.intake.batch.sessions if s.created_at)
    previous = LastRun.read(workspace.folder)
    standing = done.intake.run if report.pages else newest_landed(workspace.log_text())
    return LastRun(
        run=standing or done.intake.run,
        project=report.project,
        engine=report.engine,
        refs=done.intake.refs,
        fingerprint=done.intake.fingerprint,
        ledger=workspace.ledger_file,
        pending=pending,
        landed=standing is not None,
        unfinished=any(page.status in LEAVES for page in state.pages),
        unpublished=done.to_publish or (previous is not None and previous.unpublished),
        last_checkpoint=checkpoints[-1][1] if checkpoints else previous.last_checkpoint if previous else None,
        last_git_sha=(done.intake.batch.head or "")[:8] or None,
        timestamp=workspace.settings.now().isoformat(timespec="seconds"),
    )


def _as_change(workspace: Workspace, last: LastRun) -> FileChange:
    return FileChange.on_top(workspace.folder, LAST_RUN, last.encode())


def _fates(done: Outcomes) -> tuple[Fate, ...]:
    compiled = [
        fate
        for one in done.written.drafted
        for fate in fates_of(one.bound.action, f"on {one.draft.path}", Outcome.COMPILED)
    ]
    return (*done.bound.fates, *done.written.fates, *compiled)


def _pending(fates: Iterable[Fate]) -> tuple[Fate, ...]:
    return tuple(fate for fate in fates if fate.outcome is Outcome.PENDING)


def _without_answer(done: Outcomes) -> Iterable[Accounted]:
    """The evidence no engine has read to any use: pending where one is asked again, else quarantined."""
    for outcome, reasons in ((Outcome.PENDING, done.unanswered), (Outcome.QUARANTINED, done.set_aside)):
        for evidence, reason in sorted(reasons.items()):
            yield Accounted(id=evidence, kind=evidence_kind(evidence), outcome=outcome, reason=reason)


def _page_change(one: Drafted) -> PageChange:
    action, draft = one.bound.action, one.draft
    return PageChange(
        path=draft.path,
        action=action.operation.value,
        sources=draft.sources,
        reason=action.reason,
        digest=action.digest,
    )


def _entry(workspace: Workspace, done: Outcomes, report: RunReport) -> LedgerEntry:
    intake, pages = done.intake, _changed(done.written)
    bound = [one.bound for one in done.written.drafted] + list(done.bound.queued)
    rows = {row.id: row for one in bound for row in one.reflexions}
    items = {one.item.id: one.item for one in done.bound.queued if one.item is not None}
    pending = tuple(fate.finding for fate in _pending(_fates(done)))
    return LedgerEntry(
        project=report.project,
        run_id=intake.run,
        engine=f"{done.engine.name} {done.engine.version}",
        state=RunState.LANDED if pages else RunState.EMPTY,
        started_at=report.started_at,
        finished_at=report.finished_at,
        seeded=intake.first_run,
        floor=intake.batch.floor if intake.first_run else (),
        evidence=tuple(_records(done, report.evidence)),
        taken=tuple(sorted(finding.id for finding in intake.carried)),
        pending=pending,
        episodes=_episodes(intake, pending),
        reflexions=tuple(rows[name] for name in sorted(rows)),
        review_items=tuple(items[name] for name in sorted(items)),
        pages=tuple(PageRecord(path=p.path, action=p.action, sources=p.sources) for p in report.pages),
        counts=report.outcomes,
        report=_summary(report),
    )


def _episodes(intake: Intake, pending: Iterable[Finding]) -> tuple[EpisodeScope, ...]:
    """What scope has to know of the evidence of the findings that wait: it is not read again with them."""
    batch = intake.batch
    known = {episode.id: episode for episode in intake.episodes}
    known |= {s.id: EpisodeScope.of_session(s, batch.contents.get(s.id, "")) for s in batch.sessions}
    known |= {commit.id: EpisodeScope.of_commit(commit) for commit in batch.commits}
    wanted = {name for finding in pending for name in finding.evidence_ids}
    return tuple(known[name] for name in sorted(wanted & known.keys()))


def _records(done: Outcomes, evidence: Iterable[Accounted]) -> Iterable[EvidenceRecord]:
    batch = done.intake.batch
    sessions = {str(session.id): session for session in batch.sessions}
    for accounted in evidence:
        session = sessions.get(accounted.id)
        if accounted.id in done.unanswered:
            yield EvidenceRecord.of(accounted)
        elif session is None:
            yield EvidenceRecord.of(accounted, content=batch.contents.get(EvidenceId(accounted.id)))
        else:
            yield EvidenceRecord.of(
                accounted,
                content=batch.contents[session.id],
                turn_keys=[turn.key for turn in session.turns],
                mode=evidence_mode(session),
                tainted_by=session.tainted_by,
            )


def _summary(report: RunReport) -> dict[str, object]:
    """What the ledger keeps of a report: all but the list of evidence, which has rows of its own."""
    written = report.as_json()
    return {key: value for key, value in written.items() if key != "evidence"}
