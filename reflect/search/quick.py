"""Answering from an index that is up to date, with the standard library alone.

Says None whenever anything may have changed since the index was made (files, refs, configuration, which project asks):
the full command then finds out. What a project may not see was decided when the index was made, by the one function
that decides it; here it is only left out, before anything is ranked.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from reflect.freshness import find_root, fingerprint
from reflect.search.answer import QMD, TEXT, Answer, Excluded, Hit, Query
from reflect.search.index import Index
from reflect.search.place import INDEX_FILE, fingerprint_of, organisation_state, pages_in, search_folder, state_folder
from reflect.search.words import terms_of

NO_QMD = "qmd is not set up for this repository; `reflect init --qmd` does that"
_SOFTEN = 60
"""How little the first rank counts more than the second (the usual constant of reciprocal rank fusion)."""


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
            project = project_if_current(index, root)
            return None if project is None else ask(index, query, project, state, root)
    except sqlite3.Error:
        return None


def ask(index: Index, query: Query, project: str, state: Path, root: Path) -> Answer:
    """Ask the backend that is fit; `project` is the one that asks.

    Raises SearchError where qmd was required and cannot answer.
    """
    terms = terms_of(query.text, phrase=query.phrase)
    excluded: tuple[Excluded, ...] = ()
    if query.explain:
        excluded = index.excluded(terms, project, wiki_only=query.wiki_only, limit=query.limit)
    backend, why, hits = TEXT, "asked for" if query.backend == TEXT else "", None
    if query.backend != TEXT and terms:
        hits, why = _asked_of_qmd(index, query, terms, project, state, root)
    if hits is not None:
        backend = QMD
    elif query.backend == QMD:
        from reflect.errors import SearchError

        raise SearchError(f"qmd was required and cannot answer: {why}; nothing was searched.")
    else:
        hits = index.search(terms, project, wiki_only=query.wiki_only, limit=query.limit)
    return Answer(query.text, backend, why, hits, excluded)


def generation_of(index: Index) -> str:
    """What tells one state of the index from the next."""
    return hashlib.sha256((index.meta("ready") or "").encode()).hexdigest()[:16]


def _asked_of_qmd(
    index: Index, query: Query, terms: list[list[str]], project: str, state: Path, root: Path
) -> tuple[tuple[Hit, ...] | None, str]:
    """Hits in qmd's order of pages; None and why not where it cannot be asked.

    Sessions and commits, which qmd does not have, are joined in by rank: the scores of two backends say nothing to each
    other.
    """
    folder = search_folder(state, root)
    if not any(folder.glob("qmd-*")):
        return None, NO_QMD
    from reflect.search.qmd.backend import fit_collection, ranked
    from reflect.search.qmd.process import Fault

    collection, why = fit_collection(folder, state, root, generation_of(index))
    if collection is None:
        return None, why
    try:
        order = ranked(collection, index, project, terms, phrase=query.phrase, limit=query.limit)
    except Fault as fault:
        return None, f"qmd failed: {fault}"
    own = index.search(terms, project, wiki_only=False, limit=query.limit * 3)
    with_vectors = (said := collection.state()) is not None and said.vectors
    return _fused(
        index, query, terms, project, order, own
    ), f"healthy, {'words and vectors' if with_vectors else 'words'}"


def _fused(
    index: Index,
    query: Query,
    terms: list[list[str]],
    project: str,
    order: list[tuple[str, str]],
    own: tuple[Hit, ...],
) -> tuple[Hit, ...]:
    """Reciprocal ranks added up: qmd's for pages, ours for everything where everything was asked for."""
    scores: dict[tuple[str, str], float] = {}
    hits: dict[tuple[str, str], Hit] = {}
    for rank, (place, path) in enumerate(order, start=1):
        page = index.hit(place, path, project, terms)
        if page is not None:
            hits[page.project, page.id] = page
            scores[page.project, page.id] = 1 / (_SOFTEN + rank)
    for rank, hit in enumerate(() if query.wiki_only else own, start=1):
        key = (hit.project, hit.id)
        hits.setdefault(key, hit)
        scores[key] = scores.get(key, 0.0) + 1 / (_SOFTEN + rank)
    best = sorted(scores, key=lambda key: (-scores[key], key))[: query.limit]
    return tuple(hits[key]._replace(score=round(scores[key], 4)) for key in best)


def project_if_current(index: Index, root: Path) -> str | None:
    """The project that asks, where nothing the index was made from has changed; None where it may have."""
    ready = json.loads(index.meta("ready") or "{}")
    if not ready or ready["organisation"] != organisation_state() or ready["several"]:
        return None
    if any(fingerprint_of(pages_in(Path(folder))) != ready["files"][place] for place, folder in ready["wikis"].items()):
        return None
    return ready["project"] if fingerprint(root, ready["refs"]) == ready["fingerprint"] else None
