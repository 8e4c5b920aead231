"""Bringing the index up to date: files by size and time of change, git objects by their content ids."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflect.errors import PageError, SearchError
from reflect.evidence.collect import Seen, collect
from reflect.evidence.redaction import Redactor
from reflect.freshness import fingerprint, refs_for
from reflect.model import EvidenceBatch, EvidenceId, digest
from reflect.scope.context import ScopeContext
from reflect.scope.projects import Project
from reflect.scope.visibility import Candidate, exclusion
from reflect.search.answer import ORGANISATION_WIKI, OWN_WIKI
from reflect.search.index import Index
from reflect.search.place import (
    INDEX_FILE,
    FileState,
    fingerprint_of,
    organisation_state,
    pages_in,
    search_folder,
    settled,
)
from reflect.search.sources import (
    Document,
    commit_document,
    page_document,
    page_key,
    session_document,
)
from reflect.wiki.files import read_regular
from reflect.wiki.page import parse_page
from reflect.wiki.paths import WIKI, shown
from reflect.workspace import Workspace

READY = "ready"
"""Where the index says what it was made from, for the command that answers without opening anything else."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did. `documents` counts what is indexed now by kind, `changed` what was read."""

    documents: Mapping[str, int]
    changed: int
    notes: tuple[str, ...] = ()


def index_file(workspace: Workspace) -> Path:
    """The file of the index of this work tree, below the state folder."""
    return search_folder(workspace.settings.state, workspace.git.root) / INDEX_FILE


def wikis_of(workspace: Workspace) -> dict[str, Path]:
    """The folders whose pages are searched: the repository's own wiki and the organisation's."""
    return {
        OWN_WIKI: workspace.folder / WIKI,
        ORGANISATION_WIKI: workspace.settings.organisation_wiki(workspace.organisation_home) / WIKI,
    }


def refresh(workspace: Workspace) -> Refreshed:
    """Read what changed since the last time, and say what is indexed now. Safe to be killed, raced and repeated.

    Raises SearchError where the index cannot be written.
    """
    with opened(workspace) as index:
        return refresh_index(index, workspace)


@contextmanager
def opened(workspace: Workspace) -> Iterator[Index]:
    """The index of this work tree, open for writing; made where there is none that can be used."""
    file = index_file(workspace)
    try:
        with closing(Index.made(file)) as index:
            yield index
    except (sqlite3.Error, OSError) as error:
        raise SearchError(f"The search index {file} cannot be used ({error}); the wiki is as it was.") from error


def refresh_index(index: Index, workspace: Workspace) -> Refreshed:
    """As `refresh`, on an index that is open."""
    refs = refs_for(workspace.default.ref)
    before = fingerprint(workspace.git.root, refs) or ""
    wikis = wikis_of(workspace)
    with index.changing():
        forget = _rules(workspace)
        if index.meta("rules") != forget:
            index.clear()
            index.set_meta("rules", forget)
        batch = _collected(index, workspace)
        reading = _Reading(index, workspace, batch)
        reading.take_evidence()
        files = {place: reading.take_wiki(place, folder) for place, folder in wikis.items()}
        exclude_for(index, workspace.project)
        index.set_meta(READY, json.dumps(_ready(workspace, refs, before, wikis, files)))
        return Refreshed(index.counts(), reading.changed, tuple(reading.notes))


def exclude_for(index: Index, asking: Project) -> None:
    """Decide anew, for every row, whether `asking` may see it."""
    reasons: dict[int, str] = {}
    for number, keys in index.candidates():
        if (reason := exclusion(Candidate(**keys), asking)) is not None:
            reasons[number] = reason.value
    index.exclude(asking.project_id, reasons)


def _rules(workspace: Workspace) -> str:
    """What decides how everything is read: when it changes, everything is read again."""
    registry = [project.model_dump(mode="json") for project in workspace.registry.projects]
    return digest(json.dumps([workspace.project.project_id, registry, workspace.config.redact]))


def _ready(
    workspace: Workspace,
    refs: Iterable[str],
    before: str,
    wikis: Mapping[str, Path],
    files: Mapping[str, list[FileState]],
) -> dict[str, object]:
    return {
        "project": workspace.project.project_id,
        "refs": list(refs),
        "fingerprint": before,
        "wikis": {place: os.fspath(folder) for place, folder in wikis.items()},
        "files": {place: fingerprint_of(files[place]) for place in wikis},
        "organisation": organisation_state(),
        "several": bool(workspace.registry.below(workspace.git.root)),
    }


def _collected(index: Index, workspace: Workspace) -> EvidenceBatch:
    """What git holds that the index does not. A session whose content changed is forgotten first and read whole."""
    config = workspace.config.model_copy(update={"seed_commits": 0})
    while True:
        known = index.evidence()
        contents = {EvidenceId(name): content for name, content in known.items()}
        seen = Seen(contents=contents, turn_keys=index.turn_keys(), first_run=False)
        batch = collect(workspace.git, config, seen)
        again = [name for name in batch.contents if name in known]
        if not again:
            return batch
        for name in again:
            index.drop_evidence(name)


class _Reading:
    """One refresh under way."""

    def __init__(self, index: Index, workspace: Workspace, batch: EvidenceBatch) -> None:
        self.index = index
        self.batch = batch
        self.redactor = Redactor(workspace.config.redact, keep=batch.known)
        self.context = ScopeContext.of(
            batch.sessions, batch.commits, workspace.registry, workspace.project, batch.known
        )
        self.changed = 0
        self.notes: list[str] = []

    def take_evidence(self) -> None:
        """Sessions and commits that are new; those that are gone leave the index."""
        for name in self.index.evidence():
            if name.split("/")[0] not in self.batch.known:
                self.index.drop_evidence(name)
        for session in self.batch.sessions:
            self._put(session_document(session, self.context))
            self.index.set_turns(session.id, [turn.key for turn in session.turns])
        for commit in self.batch.commits:
            self._put(commit_document(commit, self.context))
        self.index.set_evidence({str(name): content for name, content in self.batch.contents.items()})

    def take_wiki(self, place: str, folder: Path) -> list[FileState]:
        """The pages of one wiki that changed; those that are gone leave the index."""
        known = self.index.files(place)
        files = settled(pages_in(folder))
        again = self._unsettled(place)
        for file in files:
            key = page_key(file.path, self.redactor)
            if known.pop(key, None) != (file.size, file.mtime, file.ctime) or key in again:
                self._take_page(place, folder, file, key)
        for gone in known:
            self.index.drop_file(place, gone)
        return files

    def _unsettled(self, place: str) -> set[str]:
        """Pages without scope keys, where what exists in the repository has changed."""
        known = digest(*sorted(self.batch.known))
        if self.index.meta(f"known-{place}") == known:
            return set()
        self.index.set_meta(f"known-{place}", known)
        return self.index.keyless(place)

    def _take_page(self, place: str, folder: Path, file: FileState, key: str) -> None:
        self.index.drop(place, key)
        try:
            page = parse_page(read_regular(folder / file.path), shown(file.path))
        except (PageError, OSError) as error:
            self.notes.append(f"{self.redactor.redact(str(error))}")
        else:
            self._put(page_document(page, place, self.context, self.redactor))
        self.index.set_file(place, key, file.size, file.mtime, file.ctime)

    def _put(self, document: Document | None) -> None:
        self.changed += 1
        if document is None:
            return
        keys = {**document.candidate.flat(), "keyless": document.keyless}
        self.index.put(
            document.place,
            document.key,
            kind=document.kind,
            path=document.path,
            name=document.name,
            project=document.project,
            title=document.title,
            text=document.text,
            candidate=keys,
        )
