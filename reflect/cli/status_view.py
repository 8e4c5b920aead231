"""`reflect status` for a person: a table of two columns, made with the standard library alone."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_GAP = 2
_NARROWEST = 20


def as_text(found: dict[str, Any], environment: Mapping[str, str]) -> str:
    """`found` as lines: of the terminal's width where there is one, whole where a program reads them."""
    is_terminal = sys.stdout.isatty()
    bold = is_terminal and not environment.get("NO_COLOR")
    rows = list(_rows(found))
    label_width = max(len(label) for label, _ in rows) + _GAP
    width = max(_NARROWEST, os.get_terminal_size(1).columns - label_width) if is_terminal else sys.maxsize
    lines = [_bold(found["project"], bold)]
    for label, value in rows:
        first, *more = _wrapped(value, width)
        lines.append(_bold(label.ljust(label_width), bold) + first)
        lines += [" " * label_width + line for line in more]
    return "\n".join(lines)


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    sources, wiki = found["sources"], found["wiki"]
    yield "checkpoints", str(sources["checkpoints"])
    yield "default branch", f"{sources['default_branch'] or 'none'} (from {sources['default_branch_from']})"
    for kind, outcomes in sorted(sources["evidence"].items()):
        yield f"{kind}s", _listed(outcomes)
    yield "sessions taught", _listed(sources["sessions_taught"])
    yield "why not in full", _listed(_without_lines(sources["tainted_by"]))
    yield "pages", f"{wiki['pages']} ({_listed(wiki['by_status'])}), {wiki['archived']} archived"
    if wiki["unreadable"]:
        yield "unreadable pages", ", ".join(wiki["unreadable"])
    yield "fresh", "yes" if found["fresh"] else "no: `reflect ingest` has something to do"
    yield "findings waiting", str(found["pending_findings"])
    yield "review queue", _listed(found["review"]) + _oldest(found["review_oldest"])
    yield "qmd", _about_qmd(found["qmd"])
    yield "ledger", found["ledger"]


def _without_lines(reasons: dict[str, int]) -> dict[str, int]:
    """Reasons counted by what entered a session, wherever in it."""
    counts: dict[str, int] = {}
    for reason, count in reasons.items():
        what = reason.partition(" at line ")[0]
        counts[what] = counts.get(what, 0) + count
    return counts


def _about_qmd(qmd: dict[str, Any]) -> str:
    if not qmd["installed"]:
        return "not installed (optional: `reflect init --qmd`)"
    if not qmd["collection"]:
        return f"{qmd['version']}, not set up for this repository (`reflect init`)"
    if qmd["fault"]:
        return f"{qmd['version']}, not used: {qmd['fault']}"
    vectors = "words and vectors" if qmd["vectors"] else "words"
    return f"{qmd['version']}, {qmd['collection']}: {qmd['pages']} pages by {vectors}, as of {qmd['refreshed_at']}"


def _oldest(age: dict[str, Any] | None) -> str:
    return "" if age is None else f"; the oldest that waits is {age['days']} days old (`reflect review list`)"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"


def _bold(text: str, bold: bool) -> str:
    return f"\033[1m{text}\033[0m" if bold else text


def _wrapped(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` characters, broken at spaces; a word that is longer stands on its own."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return [line for line in lines if line] or [""]
