"""`reflect search`: the command when it cannot be answered at once (`reflect.cli.main` tries that first)."""

from __future__ import annotations

from typing import Annotated

import typer

from reflect.cli.options import HERE, AsJson, Repository
from reflect.cli.progress import waiting_for
from reflect.search.answer import Query
from reflect.search.find import search as find
from reflect.search.show import show
from reflect.workspace import Workspace


def search(
    query: Annotated[
        list[str], typer.Argument(help="Words, file names, identifiers; `--` before one that begins with `-`.")
    ],
    phrase: Annotated[bool, typer.Option("--phrase", help="Only where the words stand side by side.")] = False,
    wiki_only: Annotated[bool, typer.Option("--wiki-only", help="Pages only: no sessions, no commits.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Hits at most.")] = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Also say what was left out, and why.")] = False,
    backend: Annotated[
        str, typer.Option("--backend", help="auto, text, or qmd (fails where qmd cannot answer).")
    ] = "auto",
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """Search the wiki, the sessions and the history, as far as this project may see them.

    Examples: `reflect search "retry policy"`, `reflect search --phrase "never store prices"`,
    `reflect search --wiki-only src/a.py`, `reflect search -- --no-verify`.
    """
    asked = Query(" ".join(query), phrase, wiki_only, limit, explain, backend)
    with waiting_for("Bringing the index up to date …"):
        answer = find(Workspace.open(repo), asked)
    show(answer, explain=explain, as_json=as_json)
    return 0
