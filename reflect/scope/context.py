"""What the binder knows about one repository in one run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reflect.model import (
    Commit,
    EvidenceId,
    EvidenceKind,
    Finding,
    PageSummary,
    Session,
    Source,
    SourceKind,
    Taint,
    Value,
    evidence_kind,
)
from reflect.scope.metadata import SCOPE_FIELDS
from reflect.scope.projects import Project, Registry
from reflect.scope.proposal import EvidenceScope, Recorded
from reflect.scope.stored import ResolvedMemoryScope, resolve_stored_scope
from reflect.scope.vocabulary import MemoryType
from reflect.scope.workspaces import place

_SHORTEST_SHA = 4
_KEYLESS_CONFIDENCE = 0.6
"""A page of another tool belongs to the project only because its sources do."""


class EpisodeScope(Value):
    """What scope and provenance need to know of one session or commit; small enough to be kept with pending findings.

    `start` and `directories` are as recorded on the session's machine. `taint` is None where only a finding can say.
    """

    id: str
    kind: EvidenceKind
    session_id: str = ""
    content: str = ""
    start: str | None = None
    directories: tuple[str, ...] = ()
    taint: Taint | None = None
    automated: bool = False
    trusted: bool | None = None

    @classmethod
    def of_session(cls, session: Session, content: str = "") -> EpisodeScope:
        return cls(
            id=session.id,
            kind=EvidenceKind.SESSION,
            session_id=session.session_id,
            content=content or session.content,
            start=session.workspace,
            directories=session.workspaces,
            taint=session.taint,
            automated=session.automated,
        )

    @classmethod
    def of_commit(cls, commit: Commit) -> EpisodeScope:
        return cls(
            id=commit.id,
            kind=EvidenceKind.COMMIT,
            session_id=commit.sha,
            content=commit.sha,
            trusted=commit.trusted,
        )


@dataclass(frozen=True, slots=True)
class KnownSources:
    """The checkpoints and commits that exist in a repository, whether this run read them or not."""

    checkpoints: frozenset[str]
    commits: tuple[str, ...]

    @classmethod
    def of(cls, ids: Iterable[str]) -> KnownSources:
        """From checkpoint ids, evidence ids and full commit ids, mixed."""
        found = set(ids)
        commits = {name for name in found if evidence_kind(name) is EvidenceKind.COMMIT}
        return cls(frozenset(name.split("/")[0] for name in found - commits), tuple(sorted(commits)))

    def hold(self, source: Source) -> bool:
        """Whether `source` exists; a commit may be shortened to as few digits as git itself allows."""
        if source.kind is SourceKind.CHECKPOINT:
            return source.id in self.checkpoints
        return len(source.id) >= _SHORTEST_SHA and self._first_commit_from(source.id).startswith(source.id.lower())

    def hold_evidence(self, evidence_id: str) -> bool:
        """Whether a session's checkpoint or a whole commit id exists."""
        if evidence_kind(evidence_id) is EvidenceKind.SESSION:
            return evidence_id.split("/")[0] in self.checkpoints
        return self._first_commit_from(evidence_id) == evidence_id

    def _first_commit_from(self, digits: str) -> str:
        at = bisect_left(self.commits, digits.lower())
        return self.commits[at] if at < len(self.commits) else ""


@dataclass(frozen=True, slots=True)
class ScopeContext:
    """The registry, the project of this repository, and the evidence of this run.

    `repository` is the top of the repository here: the run's active workspace, and what a session's start directory
    stands for. `refused` are the claims, normalised, that an operator rejected or put aside.
    """

    registry: Registry
    project: Project
    repository: str
    episodes: Mapping[str, EpisodeScope]
    sources: KnownSources
    strict_workspace: bool = False
    refused: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        sessions: Iterable[Session],
        commits: Iterable[Commit],
        registry: Registry,
        project: Project,
        known_sources: Iterable[str],
        *,
        repository: str | None = None,
        contents: Mapping[EvidenceId, str] | None = None,
        earlier: Iterable[EpisodeScope] = (),
        strict_workspace: bool = False,
        refused: frozenset[str] = frozenset(),
    ) -> ScopeContext:
        """From what a run collected.

        `known_sources` are the ids of all checkpoints and commits that exist, `earlier` the episodes of findings that
        an earlier run left pending. `repository` defaults to the project's first workspace root.
        """
        hashes = contents or {}
        episodes = {episode.id: episode for episode in earlier}
        episodes |= {session.id: EpisodeScope.of_session(session, hashes.get(session.id, "")) for session in sessions}
        episodes |= {commit.id: EpisodeScope.of_commit(commit) for commit in commits}
        return cls(
            registry=registry,
            project=project,
            repository=repository or project.workspace_roots[0],
            episodes=episodes,
            sources=KnownSources.of((*known_sources, *episodes)),
            strict_workspace=strict_workspace,
            refused=refused,
        )

    def episode(self, evidence_id: str, finding: Finding) -> EpisodeScope | None:
        """What is known of a piece of evidence that `finding` cites; None where it does not exist.

        Of one that exists but was read by an earlier run, only what the finding itself carries: the directories of the
        session it was said in, and nothing of those that corroborate it.
        """
        if (known := self.episodes.get(evidence_id)) is not None:
            return known
        if not self.sources.hold_evidence(evidence_id):
            return None
        if evidence_id != finding.evidence_id:
            return EpisodeScope(id=evidence_id, kind=evidence_kind(evidence_id))
        said_in = () if finding.workspace is None else (finding.workspace,)
        return EpisodeScope(
            id=evidence_id,
            kind=evidence_kind(evidence_id),
            start=finding.started_in,
            directories=(*finding.ran_in, *said_in),
        )

    def scope_of(self, episode: EpisodeScope) -> EvidenceScope:
        """The episode as evidence: local to the project whose repository it was read from."""
        recorded = None
        if episode.kind is EvidenceKind.SESSION:
            recorded = Recorded(self.repository, episode.start, episode.directories)
        return EvidenceScope(episode.id, ResolvedMemoryScope.of_project(self.project.project_id), recorded)

    def scope_of_page(self, page: PageSummary) -> ResolvedMemoryScope:
        """The scope a page has as a fact.

        By its own keys where it has any. A page of another tool has none: it is the project's own when at least one
        of its sources exists in this repository, and otherwise nobody's. A candidate preference is no fact yet.
        """
        keys = stated_scope(page)
        if not keys:
            if any(self.sources.hold(source) for source in page.sources):
                return ResolvedMemoryScope.of_project(self.project.project_id, _KEYLESS_CONFIDENCE)
            return resolve_stored_scope(None)
        resolved = resolve_stored_scope(keys)
        unapproved = page.scope_keys.get("memory_type") == MemoryType.CANDIDATE_PREFERENCE
        return resolved.as_invalid() if unapproved else resolved

    def scope_of_session(self, session: Session) -> ResolvedMemoryScope:
        """Who may find a session by its words: the one project that it ran in, by every directory it recorded.

        A directory in no project's root tells nothing. A session that ran in several projects is nobody's: what was
        said in it of one would be found in the other.
        """
        recorded = Recorded(self.repository, session.workspace, session.workspaces)
        own = self.project.project_id
        projects = sorted({name for name in place(recorded, self.registry).projects if name is not None}) or [own]
        if len(projects) > 1:
            return ResolvedMemoryScope.of_project(own).as_invalid()
        return ResolvedMemoryScope.of_project(projects[0])


def stated_scope(page: PageSummary) -> dict[str, object]:
    """The scope keys a page has; empty for a page that knows nothing of scope."""
    keys = {name: value for name, value in page.scope_keys.items() if name in SCOPE_FIELDS}
    if page.project_id is not None:
        keys.setdefault("project_id", page.project_id)
    return keys
