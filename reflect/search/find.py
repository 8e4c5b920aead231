"""`search`: bring the index up to date, ask the backend that is fit, answer with what the project may see."""

from __future__ import annotations

from reflect.errors import ConfigurationError
from reflect.search.answer import Answer, Query
from reflect.search.quick import ask
from reflect.search.refresh import opened, refresh_index
from reflect.workspace import Workspace


def search(workspace: Workspace, query: Query) -> Answer:
    """The answer to `query` for the project of `workspace`, best first.

    Raises ConfigurationError for a question without a word, SearchError where the index cannot be made.
    """
    check(query)
    with opened(workspace) as index:
        refresh_index(index, workspace)
        return ask(index, query, workspace.project.project_id, workspace.settings.state, workspace.git.root)


def check(query: Query) -> None:
    """Raise ConfigurationError for a query that cannot be asked."""
    if not query.text.strip():
        raise ConfigurationError("The question is empty; nothing was searched. Try `reflect search WORDS`.")
    if query.limit < 1:
        raise ConfigurationError(f"`--limit {query.limit}` asks for no hit; nothing was searched. Give 1 or more.")
