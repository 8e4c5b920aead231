"""Which project a session ran in, although it ran on another machine.

Where a recorded directory lies in a registered root here, that root decides. Elsewhere the directory the session was
started in stands for the repository its checkpoint was read from, and every other one must lie below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from reflect.scope.places import is_filesystem_root, is_inside, located, main_tree, recorded
from reflect.scope.projects import Detected, Registry
from reflect.scope.proposal import Recorded


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a session ran: the projects of its directories (None: in no project's root), and how that is known."""

    projects: frozenset[str | None]
    inferred: bool


def place(session: Recorded, registry: Registry) -> Placement:
    """The projects of every directory `session` recorded.

    `inferred` says that at least one is known only through the repository the checkpoint was read from; so does a
    session that recorded no directory.
    """
    directories = tuple(dict.fromkeys(d for d in (session.start, *session.directories) if d))
    if not directories:
        home = registry.detect(session.repository)
        return Placement(frozenset({home.project.project_id if home else None}), inferred=True)
    projects: set[str | None] = set()
    inferred = False
    for directory in directories:
        found = registry.detect(directory)
        if found is None:
            found, inferred = _by_start(directory, session, registry), True
        projects.add(found.project.project_id if found else None)
    return Placement(frozenset(projects), inferred)


def _by_start(directory: str, session: Recorded, registry: Registry) -> Detected | None:
    """The project of `directory` when the session's start is laid over the repository here."""
    start, top = _start(session), located(session.repository)
    if start is None or top is None or registry.detect(session.start) is not None:
        return None
    path = recorded(directory, like=start)
    if path is None or not is_inside(main_tree(path), start):
        return None
    if child := _started_in_child(start, top, registry):
        return child
    return registry.detect(top.joinpath(*main_tree(path).relative_to(start).parts))


def _started_in_child(start: PurePath, top: PurePath, registry: Registry) -> Detected | None:
    """The project below `top` that the session seems to have been started in.

    Its path below the repository stands in the recorded one. Where that is chance, the session is looked at by an
    operator; the other mistake would show one project's words to another.
    """
    for child in registry.below(top):
        inner = child.root.relative_to(top).parts
        if any(start.parts[at : at + len(inner)] == inner for at in range(1, len(start.parts))):
            return child
    return None


def _start(session: Recorded) -> PurePath | None:
    """Where the session was started, a worktree of the agent's read as its repository.

    The root of a file system holds every project there is and stands for none.
    """
    written = recorded(session.start) if session.start else None
    if written is None:
        return None
    start = main_tree(written)
    return None if is_filesystem_root(start) else start
