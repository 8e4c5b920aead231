"""`search`: bring the index up to date, ask the backend that is fit, answer with what the project may see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reflect.errors import ConfigurationError, ReflectError
from reflect.search.answer import ORGANISATION_WIKI, OWN_WIKI, QMD, TEXT, Answer, Query
from reflect.search.index import Index
from reflect.search.place import search_folder
from reflect.search.qmd.collection import Collection, PageText, State
from reflect.search.qmd.program import find_program
from reflect.search.quick import ask, generation_of, project_if_current
from reflect.search.refresh import opened, refresh_index
from reflect.workspace import Workspace


def search(workspace: Workspace, query: Query) -> Answer:
    """The answer to `query` for the project of `workspace`, best first.

    Raises ConfigurationError for a question without a word, SearchError where the index cannot be made.
    """
    check(query)
    with up_to_date(workspace) as index:
        return ask(index, query, workspace.project.project_id, workspace.settings.state, workspace.git.root)


@contextmanager
def up_to_date(workspace: Workspace) -> Iterator[Index]:
    """The index of this work tree as the repository stands now, and qmd with it where it is set up.

    Raises SearchError where the index cannot be made.
    """
    with opened(workspace) as index:
        if project_if_current(index, workspace.git.root) != workspace.project.project_id:
            refresh_index(index, workspace)
        refresh_qmd(index, workspace)
        yield index


def refresh_qmd(index: Index, workspace: Workspace) -> State | None:
    """Give qmd the pages as they stand in `index`, where it is set up; None where it is not. Never fails a caller."""
    state, root = workspace.settings.state, workspace.git.root
    folder = search_folder(state, root)
    program = find_program(state, root) if any(folder.glob("qmd-*/config/index.yml")) else None
    if program is None:
        return None
    return refresh_collection(Collection(folder, root, program), index, workspace)


def refresh_collection(collection: Collection, index: Index, workspace: Workspace) -> State:
    """Give qmd the pages as they stand in `index`. Never fails a caller: what went wrong is in the state."""
    asking = workspace.project.project_id
    pages = [PageText(place, *page) for place in (OWN_WIKI, ORGANISATION_WIKI) for page in index.pages(place, asking)]
    now = workspace.settings.now().isoformat(timespec="seconds")
    return collection.refresh(generation_of(index), pages, now)


def refresh_all(workspace: Workspace) -> tuple[str, ...]:
    """Bring the index and qmd up to date after a run. Never fails it: what went wrong comes back in sentences."""
    try:
        with opened(workspace) as index:
            refreshed = refresh_index(index, workspace)
            said = refresh_qmd(index, workspace)
    except ReflectError as error:
        return (f"Search was not refreshed: {error}",)
    fault = said.fault if said is not None else ""
    return (*refreshed.notes, *((f"qmd was not refreshed: {fault}.",) if fault else ()))


def check(query: Query) -> None:
    """Raise ConfigurationError for a query that cannot be asked."""
    if not query.text.strip():
        raise ConfigurationError("The question is empty; nothing was searched. Try `reflect search WORDS`.")
    if query.backend not in ("auto", TEXT, QMD):
        raise ConfigurationError(f"`--backend {query.backend}` is none of auto, text and qmd; nothing was searched.")
    if query.limit < 1:
        raise ConfigurationError(f"`--limit {query.limit}` asks for no hit; nothing was searched. Give 1 or more.")
