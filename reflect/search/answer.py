"""What is asked and what is answered."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Query(NamedTuple):
        text: str
        phrase: bool = False
        wiki_only: bool = False
        limit: int = 10
        explain: bool = False
        backend: str = "auto"

    class Hit(NamedTuple):
        kind: str
        path: str | None
        id: str
        project: str
        title: str
        score: float
        snippet: str

    class Excluded(NamedTuple):
        kind: str
        path: str | None
        id: str
        reason: str

    class Answer(NamedTuple):
        query: str
        backend: str
        why: str
        hits: tuple[Hit, ...]
        excluded: tuple[Excluded, ...] = ()

else:  # `typing` and `dataclasses` take longer to load than a search takes
    Query = namedtuple(
        "Query", "text phrase wiki_only limit explain backend", defaults=(False, False, 10, False, "auto")
    )
    Hit = namedtuple("Hit", "kind path id project title score snippet")
    Excluded = namedtuple("Excluded", "kind path id reason")
    Answer = namedtuple("Answer", "query backend why hits excluded", defaults=((),))

PAGE, SESSION, COMMIT = "page", "session", "commit"
"""The kinds of hit. A page's id is its path; a session's and a commit's is its evidence id, and it has no path."""

OWN_WIKI, ORGANISATION_WIKI, GIT = "wiki", "organisation", "git"
"""Where a document stands: the repository's wiki, the organisation's own, the repository's objects."""

TEXT, QMD = "text", "qmd"
"""The two backends."""
