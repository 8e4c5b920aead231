"""Asking qmd. It gives an order of pages; what they are called and what they say comes from our own index."""

from __future__ import annotations

import json
from pathlib import Path

from reflect.search.answer import ORGANISATION_WIKI, OWN_WIKI
from reflect.search.qmd.collection import Collection, PageText, mirror_name
from reflect.search.qmd.process import Fault
from reflect.search.qmd.program import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from reflect.search.index import Index

SEARCH_S = 10.0
_AT_LEAST = 100
"""Hits asked for: qmd cuts its list before it looks at what it was asked for."""

_MAX_LINES = 12
_UNREGISTERED = "qmd is not set up for this repository; `reflect init --qmd` does that"


def fit_collection(folder: Path, state: Path, root: Path, generation: str) -> tuple[Collection | None, str]:
    """The collection of this work tree where it can be asked; else None and why not."""
    if not any(folder.glob("qmd-*/config/index.yml")):
        return None, _UNREGISTERED
    program = find_program(state, root)
    if program is None:
        return None, "qmd is no longer installed; `reflect init --qmd` installs it"
    collection = Collection(folder, root, program)
    said = collection.state() if collection.is_registered() else None
    if said is None:
        return None, "qmd has not indexed this repository yet; `reflect init --qmd` does that"
    if said.fault:
        return None, f"qmd could not be refreshed: {said.fault}"
    if said.generation != generation:
        return None, "qmd's index is older than the wiki"
    return collection, ""


def ranked(
    collection: Collection, index: Index, project: str, terms: Sequence[Sequence[str]], *, phrase: bool, limit: int
) -> list[tuple[str, str]]:
    """Place and path of the pages qmd finds, best first. Raises Fault where it gives no answer that can be read.

    A page it names that this project may not see, or that is gone, is not among them.
    """
    known = {
        mirror_name(PageText(place, path, "", "")): (place, path)
        for place in (OWN_WIKI, ORGANISATION_WIKI)
        for path, _ in index.titles(place, project)
    }
    said = collection.call(_question(collection, terms, phrase=phrase, limit=limit), SEARCH_S)
    try:
        files = [str(hit["file"]) for hit in json.loads(said or "[]")]
    except (ValueError, TypeError, KeyError) as error:
        raise Fault("what it said is not the list of hits it should be") from error
    prefix = f"qmd://{collection.name}/"
    names = (file.removeprefix(prefix).partition("?")[0] for file in files if file.startswith(prefix))
    return list(dict.fromkeys(known[name] for name in names if name in known))


def _question(collection: Collection, terms: Sequence[Sequence[str]], *, phrase: bool, limit: int) -> list[str]:
    """Words in any combination, the whole question first; never a plain `query`, which waits for models."""
    options = ["-c", collection.name, "--json", "-n", str(max(_AT_LEAST, limit))]
    plain = [[word.strip("+#") for word in term] for term in terms]
    if phrase:
        return ["search", *options, "--", f'"{" ".join(plain[0])}"']
    said = collection.state()
    lines = [f"lex: {' '.join(word for term in plain for word in term)}"]
    if len(plain) > 1:
        lines += [f"lex: {_term(term)}" for term in plain[:_MAX_LINES]]
    lines += [f"lex: {''.join(term)}" for term in plain[:_MAX_LINES] if 1 < len(term) <= 5]
    if said is not None and said.vectors:
        lines.append(f"vec: {' '.join(word for term in plain for word in term)}")
    return ["query", *options, "--no-rerank", "\n".join(lines)]


def _term(term: Sequence[str]) -> str:
    return term[0] if len(term) == 1 else f'"{" ".join(term)}"'
