"""An answer as a program and as a person reads it."""

from __future__ import annotations

import json
import os
import sys

from reflect.search.answer import COMMIT
from reflect.search.snippet import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reflect.search.answer import Answer, Hit


def show(answer: Answer, *, explain: bool, as_json: bool) -> None:
    """Print `answer` to standard output. `NO_COLOR` and output that is no terminal are respected."""
    if as_json:
        print(json.dumps(for_program(answer, explain=explain)))
        return
    bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    print(for_person(answer, explain=explain, bold=bold))


def for_program(answer: Answer, *, explain: bool = False) -> dict[str, Any]:
    """The answer for a program; `excluded` only where it was asked for."""
    said: dict[str, Any] = {"query": answer.query, "backend": answer.backend, "why": answer.why}
    said["hits"] = [hit._asdict() for hit in answer.hits]
    if explain:
        said["excluded"] = [one._asdict() for one in answer.excluded]
    return said


def for_person(answer: Answer, *, explain: bool = False, bold: bool = False) -> str:
    """The answer for a person: one block for each hit, then who answered."""
    blocks = [_block(number, hit, bold) for number, hit in enumerate(answer.hits, start=1)]
    if not blocks:
        blocks = [f"Nothing that this project may see says {answer.query!r}."]
    lines = [f"left out: {one.kind} {one.path or one.id} ({one.reason})" for one in answer.excluded] if explain else []
    if explain:
        blocks.append("\n".join(lines) or "Nothing that matches was left out.")
    return "\n\n".join([*blocks, f"({answer.backend}: {answer.why})"])


def _block(number: int, hit: Hit, bold: bool) -> str:
    where = hit.path or f"{hit.kind} {hit.id[:12] if hit.kind == COMMIT else hit.id}"
    text = _bold(hit.snippet) if bold else hit.snippet
    title = f"\033[1m{hit.title}\033[0m" if bold else hit.title
    return f"{number}. {title}\n   {where}\n   {text}"


def _bold(text: str) -> str:
    parts = text.split(MARK)
    if len(parts) % 2 == 0:
        return text
    return "".join(part if place % 2 == 0 else f"\033[1m{part}\033[0m" for place, part in enumerate(parts))
