"""Projects, evidence and proposals the tests of this room are made of. Directories are real ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reflect.model import (
    Action,
    CheckpointId,
    Commit,
    CommitSha,
    EvidenceMode,
    Finding,
    Operation,
    Origin,
    PageSummary,
    ReflectionKind,
    Session,
    Source,
    Speaker,
    Taint,
)
from reflect.scope.binding import Binding, bind
from reflect.scope.context import ScopeContext
from reflect.scope.projects import Project, Registry
from reflect.scope.proposal import EvidenceScope, Proposal, Recorded
from reflect.scope.stored import ResolvedMemoryScope, resolve_stored_scope
from reflect.scope.vocabulary import Decision, Scope, ScopeSource

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
P, Q, CHILD = "payments", "storefront", "payments-ledger"
START = "/home/dev/payments"
"""Where a session of project P was started on the machine it ran on."""


@dataclass(frozen=True)
class House:
    """Two neighbours, a project nested in the first, and one whose memory is switched off; all on disk."""

    base: Path
    registry: Registry

    @property
    def p(self) -> Path:
        return self.base / P

    @property
    def second_p(self) -> Path:
        return self.base / "payments-tools"

    @property
    def q(self) -> Path:
        return self.base / Q

    @property
    def child(self) -> Path:
        return self.p / "ledger"


def house(base: Path) -> House:
    base = base.resolve()
    for folder in ("payments/src", "payments/ledger/src", "payments-tools", "storefront", "retired", "payments2"):
        (base / folder).mkdir(parents=True, exist_ok=True)
    projects = (
        project(P, base / "payments", base / "payments-tools"),
        project(Q, base / "storefront"),
        project(CHILD, base / "payments" / "ledger"),
        project("retired", base / "retired", enabled=False),
    )
    return House(base, Registry(projects))


def project(project_id: str, *roots: Path, enabled: bool = True) -> Project:
    return Project(project_id=project_id, workspace_roots=tuple(map(str, roots)), memory_enabled=enabled)


def of_project(name: str, project_id: str = P, recorded: Recorded | None = None, **keys: Any) -> EvidenceScope:
    """One piece of evidence with a project's stored keys."""
    stored = {"scope": "project", "project_id": project_id, "scope_source": "extraction_default", **keys}
    return EvidenceScope(name, resolve_stored_scope(stored), recorded)


def everywhere(name: str) -> EvidenceScope:
    return EvidenceScope(name, ResolvedMemoryScope(Scope.GLOBAL, None, None, 1.0, ScopeSource.OPERATOR))


def stored(name: str, keys: Mapping[str, Any] | None) -> EvidenceScope:
    return EvidenceScope(name, resolve_stored_scope(keys))


def proposal(
    episodes: Iterable[EvidenceScope] = (),
    facts: Iterable[EvidenceScope] = (),
    *,
    workspace: Path | str | None,
    **changes: Any,
) -> Proposal:
    made = Proposal(
        id="0123456789ab",
        claim="Retries stop after three attempts",
        reflection_kind="procedural",
        episodes=tuple(item.id for item in episodes),
        facts=tuple(item.id for item in facts),
        active_workspace=workspace,
        synthesized_at=NOON,
        domain="behavior",
    )
    return replace(made, **changes)


def bound(
    home: House,
    episodes: Iterable[EvidenceScope] = (),
    facts: Iterable[EvidenceScope] = (),
    *,
    workspace: Path | str | None = "",
    strict: bool = False,
    unknown: tuple[str, ...] = (),
    **changes: Any,
) -> Binding:
    """Bind evidence in `home`; the active workspace is a folder inside P unless a test says otherwise.

    `unknown` ids are cited as episodes and resolve to nothing.
    """
    episodes, facts = tuple(episodes), tuple(facts)
    active = home.p / "src" if workspace == "" else workspace
    asked = proposal(episodes, facts, workspace=active)
    asked = replace(asked, episodes=(*asked.episodes, *unknown), **changes)
    evidence = {item.id: item for item in (*episodes, *facts)}
    return bind(asked, evidence, home.registry, strict_workspace=strict)


def assert_written_to_p(binding: Binding, *, root: Path, source: str = "extraction_default", conf: float = 0.6) -> None:
    """A Rule 1 write with all five keys right."""
    assert binding.decision is Decision.WRITE
    assert binding.reasons == ()
    assert binding.rule == "R1"
    assert binding.keys is not None
    assert binding.keys.flat() == {
        "scope": "project",
        "project_id": P,
        "workspace_root": str(root),
        "scope_confidence": conf,
        "scope_source": source,
    }
    assert binding.proposed.memory_type == "reflection"


def session(number: int = 1, **changes: Any) -> Session:
    made = Session(
        checkpoint=CheckpointId(f"{number:012x}"),
        folder=0,
        content=f"{number:040x}",
        session_id=f"session-{number}",
        agent="Claude Code",
        created_at=NOON,
        branch="main",
        files=(),
        turns=(),
        taint=Taint.CLEAN,
        workspace=START,
        workspaces=(START,),
    )
    return replace(made, **changes)


def commit(number: int = 1, **changes: Any) -> Commit:
    made = Commit(
        sha=CommitSha(f"{number:040x}"),
        parents=(),
        author="Ada Example",
        email="ada@example.com",
        at=NOON,
        subject="Cap retries",
        body="",
    )
    return replace(made, **changes)


def finding(said_in: Session | Commit, quote: str = "Retries stop after three attempts", **changes: Any) -> Finding:
    made = Finding(
        quote=quote,
        headline=quote,
        category="decisions",
        kind=ReflectionKind.CORRECTIVE,
        evidence_id=said_in.id,
        position=3,
        speaker=Speaker.PERSON,
        said_at=NOON,
        score=1.0,
        signals=(),
        origin=Origin.CLEAN,
        evidence=EvidenceMode.FULL,
        trigger="steer",
    )
    return made.model_copy(update=changes)


def action(*findings: Finding, operation: Operation = Operation.CREATE, slug: str = "retry-policy") -> Action:
    return Action(
        operation=operation,
        category="decisions",
        slug=slug,
        title="Retry policy",
        reason="the person decided it",
        findings=findings,
    )


def page(**changes: Any) -> PageSummary:
    made = PageSummary(
        path="decisions/retry-policy.md",
        category="decisions",
        slug="retry-policy",
        title="Retry policy",
        lead="Retries.",
        body="# Retry policy\n\nRetries.\n",
        status="active",
    )
    return made.model_copy(update=changes)


def p_keys(**changes: Any) -> dict[str, Any]:
    """The keys of a page that this product wrote for P."""
    keys = {
        "memory_type": "reflection",
        "reflection_kind": "procedural",
        "scope": "project",
        "project_id": P,
        "workspace_root": ".",
        "scope_confidence": 0.6,
        "scope_source": "extraction_default",
        "origin": "clean",
        "evidence": "full",
        "always_on": False,
        "learnable": True,
        "proposal_id": "0123456789ab",
    }
    return {name: value for name, value in {**keys, **changes}.items() if value is not None}


def context(
    home: House, *evidence: Session | Commit, known: Iterable[str] = (), repository: Path | None = None, **changes: Any
) -> ScopeContext:
    registered = home.registry.project(P)
    assert registered is not None
    made = ScopeContext.of(
        [item for item in evidence if isinstance(item, Session)],
        [item for item in evidence if isinstance(item, Commit)],
        home.registry,
        registered,
        known,
        repository=str(repository or home.p),
    )
    return replace(made, **changes)


def checkpoint(number: int) -> Source:
    return Source.of(session(number).id)
