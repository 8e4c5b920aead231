"""A lost ledger, rebuilt from what the wiki's pages cite.

A page names its sources, so the evidence behind them counts as compiled. What was read and gave no page is not in the
wiki and is read again by the next run: more work, nothing lost and nothing written twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from sqlalchemy import Connection, select

from reflect.ledger import reading
from reflect.ledger.entry import EvidenceRecord, LedgerEntry, PageRecord, RunState
from reflect.ledger.recording import add_run, forget_run, lock_project
from reflect.ledger.tables import evidence, runs
from reflect.model import (
    Accounted,
    EvidenceKind,
    Outcome,
    PageSummary,
    ProjectId,
    Source,
    SourceKind,
    Value,
    digest,
    evidence_kind,
)
from reflect.scope.reflexion import Reflexion

ENGINE = "rebuild"


@dataclass(frozen=True, slots=True)
class WikiSources:
    """What a rebuild starts from.

    `landed_runs` are the runs of the wiki's log, oldest first. `known` maps the id of every session and commit that
    exists in the repository to its content hash. `turn_keys` gives, by session, the 8-byte keys of its turns where the
    caller read them; without them a later session that repeats those turns is read as if they were new.
    """

    project: ProjectId
    pages: Sequence[PageSummary]
    landed_runs: Sequence[str]
    known: Mapping[str, str]
    turn_keys: Mapping[str, Iterable[bytes]] = field(default_factory=dict)
    reflexions: Sequence[Reflexion] = ()


class Unresolved(Value):
    """A source of a page that stands for no evidence of this repository."""

    path: str
    source: Source
    reason: str


class Rebuilt(Value):
    """What a rebuild did: evidence it restored, evidence the ledger knew, and what it could not use."""

    project: str
    restored: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    foreign_pages: tuple[str, ...] = ()


def rebuild(connection: Connection, wiki: WikiSources) -> Rebuilt:
    """Restore what is missing, inside the caller's transaction.

    Pages that name another project are left out. What an earlier rebuild restored for the same wiki is kept as it was
    while a page still cites it, and taken back when none does.
    """
    lock_project(connection, wiki.project)
    own = [page for page in wiki.pages if page.project_id in (None, wiki.project)]
    cited, unresolved = _cited(own, wiki.known)
    anchor = wiki.landed_runs[-1] if wiki.landed_runs else None
    earlier = _earlier_rebuilds(connection, wiki.project, anchor)
    settled = _settled(connection, wiki, without=earlier)
    before = _contents(connection, wiki.project, earlier)
    wanted = {item: before.get(item, wiki.known[item]) for item in sorted(cited) if item not in settled}
    _replace(connection, wiki.project, earlier, _entry(wiki, own, wanted, cited), anchor)
    return Rebuilt(
        project=wiki.project,
        restored=tuple(item for item in wanted if item not in before),
        already=tuple(item for item in sorted(cited) if item in settled or item in before),
        unresolved=tuple(unresolved),
        foreign_pages=tuple(sorted(page.path for page in wiki.pages if page.project_id not in (None, wiki.project))),
    )


def _cited(pages: Iterable[PageSummary], known: Iterable[str]) -> tuple[dict[str, list[str]], list[Unresolved]]:
    """The evidence the pages cite with the paths that cite it, and the sources that stand for none."""
    repository = _Repository(known)
    cited: dict[str, list[str]] = defaultdict(list)
    unresolved: list[Unresolved] = []
    for page in sorted(pages, key=lambda page: page.path):
        for source in page.sources:
            found = repository.behind(source)
            if not found:
                unresolved.append(Unresolved(path=page.path, source=source, reason="it is not in this repository"))
            elif source.kind is SourceKind.COMMIT and len(found) > 1:
                unresolved.append(Unresolved(path=page.path, source=source, reason=f"it fits {len(found)} commits"))
            else:
                for item in found:
                    cited[item].append(page.path)
    return cited, unresolved


class _Repository:
    """The evidence that exists, found by what pages call it."""

    def __init__(self, known: Iterable[str]) -> None:
        self._sessions: dict[str, list[str]] = defaultdict(list)
        self._commits: list[str] = []
        for item in sorted(known):
            if evidence_kind(item) is EvidenceKind.COMMIT:
                self._commits.append(item)
            else:
                self._sessions[item.split("/")[0]].append(item)

    def behind(self, source: Source) -> list[str]:
        """Every session of the checkpoint, or every commit whose id begins so."""
        if source.kind is SourceKind.CHECKPOINT:
            return self._sessions.get(source.id, [])
        start = bisect_left(self._commits, source.id)
        return list(takewhile(lambda sha: sha.startswith(source.id), self._commits[start:])) if source.id else []


def _earlier_rebuilds(connection: Connection, project: str, anchor: str | None) -> tuple[str, ...]:
    same_wiki = runs.c.anchor.is_(None) if anchor is None else runs.c.anchor == anchor
    query = select(runs.c.run_id).where(runs.c.project_id == project, runs.c.rebuilt, same_wiki)
    return tuple(connection.execute(query).scalars())


def _settled(connection: Connection, wiki: WikiSources, *, without: Sequence[str]) -> frozenset[str]:
    counted = reading.counted_runs(connection, wiki.project, wiki.landed_runs)
    return frozenset(_contents(connection, wiki.project, [run for run in counted if run not in without]))


def _contents(connection: Connection, project: str, run_ids: Iterable[str]) -> dict[str, str]:
    wanted = frozenset(run_ids)
    query = select(evidence.c.run_id, evidence.c.evidence_id, evidence.c.content).where(
        evidence.c.project_id == project, evidence.c.content.is_not(None)
    )
    return {row.evidence_id: row.content for row in connection.execute(query) if row.run_id in wanted}


def _entry(
    wiki: WikiSources, own: Iterable[PageSummary], wanted: Mapping[str, str], cited: Mapping[str, Sequence[str]]
) -> LedgerEntry | None:
    """The run that stands for the rebuild; None where there is nothing to say."""
    if not wanted and not wiki.reflexions:
        return None
    return LedgerEntry(
        project=wiki.project,
        run_id=ENGINE,
        engine=ENGINE,
        state=RunState.LANDED,
        evidence=tuple(_restored(item, content, cited[item], wiki) for item, content in wanted.items()),
        pages=tuple(PageRecord(path=page.path, action=ENGINE, sources=page.sources) for page in own),
        reflexions=tuple(wiki.reflexions),
        counts={"restored": len(wanted)},
    )


def _restored(item: str, content: str, paths: Sequence[str], wiki: WikiSources) -> EvidenceRecord:
    others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    accounted = Accounted(
        id=item, kind=evidence_kind(item), outcome=Outcome.COMPILED, reason=f"cited by {paths[0]}{others}"
    )
    return EvidenceRecord.of(accounted, content=content, turn_keys=wiki.turn_keys.get(item, ()))


def _replace(
    connection: Connection, project: str, earlier: Sequence[str], entry: LedgerEntry | None, anchor: str | None
) -> None:
    """Put `entry` in the place of the earlier rebuilds; nothing changes where it is one of them."""
    named = None if entry is None else _named(entry, anchor)
    for run_id in earlier:
        if named is None or run_id != named.run_id:
            forget_run(connection, project, run_id)
    if named is not None and named.run_id not in earlier:
        add_run(connection, named, anchor=anchor, rebuilt=True)


def _named(entry: LedgerEntry, anchor: str | None) -> LedgerEntry:
    """The entry, its run named after what it says, so that saying it again is the same run."""
    return entry.model_copy(update={"run_id": f"{ENGINE}-{digest(entry.fingerprint, anchor)}"})
