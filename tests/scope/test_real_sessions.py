"""From stored sessions in a real repository to who may see what they taught."""

from __future__ import annotations

import pytest

from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.configuration import Config
from reflect.evidence.collect import Seen, collect
from reflect.evidence.git import Git
from reflect.model import EvidenceBatch, Taint
from reflect.scope.context import ScopeContext
from reflect.scope.projects import Project, Registry, local_registry
from reflect.scope.resolve import BoundAction, bind_action
from tests.scope.cases import action, finding

Collected = tuple[Git, EvidenceBatch, Registry]

WINDOWS = "C:\\Users\\ada\\payments"
HOME = "/home/ada/payments"
MOVES = {
    "0000000000a1": (HOME, HOME),
    "0000000000a2": (f"{HOME}/.claude/worktrees/modest-burnell", f"{HOME}/src"),
    "0000000000a3": (WINDOWS, f"{WINDOWS}\\src"),
    "0000000000b1": (HOME, "/home/ada/storefront"),
    "0000000000b2": (HOME, f"{HOME}-old"),
    "0000000000b3": (WINDOWS, "C:\\Users\\ada\\storefront"),
}
"""By checkpoint: where the session was started, and where it went on."""


def stored(checkpoint: str) -> StoredSession:
    start, later = MOVES[checkpoint]
    transcript = ClaudeTranscript(session_id=f"session-{checkpoint}", cwd=start)
    transcript.prompt("Add retries to the payment client").reply("Working on it.")
    transcript.cwd = later
    transcript.prompt("Cap them at three")
    return StoredSession(transcript.encode(), session_id=transcript.session_id)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    repository = GitRepository.create(tmp_path_factory.mktemp("here") / "payments")
    repository.commit("Start", {"src/client.py": "pass\n"})
    repository.checkpoint_branch([(checkpoint, [stored(checkpoint)]) for checkpoint in MOVES])
    git = Git.open(repository.path)
    batch = collect(git, Config(), Seen({}, frozenset(), (), first_run=True))
    registry = local_registry(git.root, git.common_dir, Config(), root_commit=repository.git("rev-parse", "HEAD"))
    return git, batch, registry


def bound(collected: Collected, checkpoint: str, registry: Registry | None = None) -> BoundAction:
    git, batch, own = collected
    known = ScopeContext.of(
        batch.sessions,
        batch.commits,
        registry or own,
        own.projects[0],
        batch.known,
        repository=str(git.root),
        contents=batch.contents,
    )
    (session,) = (one for one in batch.sessions if one.checkpoint == checkpoint)
    return bind_action(action(finding(session, "Cap them at three")), None, known)


@pytest.mark.parametrize("checkpoint", [name for name in MOVES if name.startswith("0000000000a")])
def test_a_session_that_stayed_is_its_repositorys(collected: Collected, checkpoint: str) -> None:
    """R1."""
    made = bound(collected, checkpoint)
    assert made.keys is not None
    assert (made.keys.scope, made.keys.workspace_root) == ("project", ".")
    assert made.keys.project_id == collected[2].projects[0].project_id
    assert made.keys.scope_source == "extraction_default"
    assert made.keys.scope_confidence == 0.6
    assert made.binding.workspace_inferred
    assert made.reflexions[0].workspace_root == str(collected[0].root)


@pytest.mark.parametrize("checkpoint", [name for name in MOVES if name.startswith("0000000000b")])
def test_a_session_that_moved_on_elsewhere_waits(collected: Collected, checkpoint: str) -> None:
    made = bound(collected, checkpoint)
    assert (made.decision, made.reasons) == ("queue", ("workspace_outside_project",))


def test_a_configured_root_brings_the_folder_inside(
    collected: Collected,
) -> None:
    """R1: the operator says that the second checkout is the project's too."""
    own = collected[2].projects[0]
    wider = Project(project_id=own.project_id, workspace_roots=(*own.workspace_roots, f"{HOME}-old"))
    made = bound(collected, "0000000000b2", Registry((wider,)))
    assert made.decision == "write"
    assert made.keys is not None
    assert (made.keys.scope, made.keys.project_id) == ("project", own.project_id)
    assert made.keys.scope_source == "extraction_default"


def test_a_neighbour_registered_there_keeps_its_words(collected: Collected) -> None:
    own = collected[2].projects[0]
    neighbour = Project(project_id="storefront", workspace_roots=("/home/ada/storefront",))
    made = bound(collected, "0000000000b1", Registry((own, neighbour)))
    assert made.reasons == ("workspace_outside_project",)


def test_every_collected_session_and_commit_is_known(collected: Collected) -> None:
    _, batch, _ = collected
    assert len(batch.sessions) == len(MOVES)
    assert {session.taint for session in batch.sessions} == {Taint.CLEAN}
