"""Answering from an index that is up to date, with the standard library alone.

Says None whenever anything may have changed since the index was made (files, refs, configuration, which project asks):
the full command then finds out. What a project may not see was decided when the index was made, by the one function
that decides it; here it is only left out, before anything is ranked.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from reflect.freshness import find_root, fingerprint
from reflect.search.answer import TEXT, Answer, Excluded, Query
from reflect.search.index import Index
from reflect.search.place import INDEX_FILE, fingerprint_of, organisation_state, pages_in, search_folder, state_folder
from reflect.search.words import terms_of

NO_QMD = "qmd is not set up for this repository; `reflect init --qmd` does that"


def answer_at_once(query: Query, where: Path) -> Answer | None:
    """The answer for the work tree around `where` if its index is up to date, else None."""
    root = find_root(where)
    if root is None or not query.text.strip() or query.limit < 1:
        return None
    state = state_folder()
    try:
        index = Index.existing(search_folder(state, root) / INDEX_FILE)
        if index is None:
            return None
        with closing(index):
            project = _project_if_current(index, root)
            return None if project is None else ask(index, query, project, state, root)
    except sqlite3.Error:
        return None


def ask(index: Index, query: Query, project: str, state: Path, root: Path) -> Answer:
    """Ask the backend that is fit; `project` is the one that asks."""
    del state, root
    terms = terms_of(query.text, phrase=query.phrase)
    excluded: tuple[Excluded, ...] = ()
    if query.explain:
        excluded = index.excluded(terms, project, wiki_only=query.wiki_only, limit=query.limit)
    hits = index.search(terms, project, wiki_only=query.wiki_only, limit=query.limit)
    return Answer(query.text, TEXT, NO_QMD, hits, excluded)


def _project_if_current(index: Index, root: Path) -> str | None:
    """The project that asks, where nothing the index was made from has changed."""
    ready = json.loads(index.meta("ready") or "{}")
    if not ready or ready["organisation"] != organisation_state() or ready["several"]:
        return None
    if any(fingerprint_of(pages_in(Path(folder))) != ready["files"][place] for place, folder in ready["wikis"].items()):
        return None
    return ready["project"] if fingerprint(root, ready["refs"]) == ready["fingerprint"] else None
