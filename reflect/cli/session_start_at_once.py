"""`reflect session-start`: what an agent is told when a session begins, with the standard library alone.

It never fails a session and never keeps one waiting: what cannot be told is not said, and nothing that a repository
holds is repeated, because an agent would take it for the product's own word.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from reflect.freshness import FOLDER, bytes_of, find_root, fresh

SIGNAL = "REFLECT_WIKI_INGEST"
"""The word by which the hook and the skill of the reference tool know that evidence waits."""

_MODE = re.compile(rb"^session_start[ \t]*:[ \t]*[\"']?(auto|manual)[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_NAMED = re.compile(rb"session_start")


def answered_at_once(arguments: list[str]) -> bool:
    """Say in a few lines what this repository remembers, and whether something new waits to be compiled."""
    match arguments:
        case []:
            where = Path()
        case ["--repo", value]:
            where = Path(value)
        case _:
            return False
    with suppress(OSError, ValueError):
        for line in lines_for(where):
            print(line)
    return True


def lines_for(where: Path) -> list[str]:
    """What there is to say of the repository around `where`; nothing where it keeps no wiki."""
    root = find_root(where)
    if root is None or not (root / FOLDER / "wiki").is_dir():
        return []
    said = [f"This repository keeps a wiki of decisions, gotchas and preferences: read {FOLDER}/wiki/index.md first."]
    if fresh(root) is not None:
        return said
    if _is_manual(root / FOLDER / "config.yaml"):
        return [
            *said,
            "Sessions or commits are not in it yet: `reflect ingest` compiles them when somebody asks for it.",
        ]
    return [*said, SIGNAL, "Sessions or commits are not in it yet: run `reflect ingest` in the background."]


def _is_manual(config: Path) -> bool:
    """Whether the configuration says that nothing is to be compiled unasked."""
    try:
        written = bytes_of(config)
    except OSError:
        return False
    if (found := _MODE.search(written)) is not None:
        return found[1] == b"manual"
    return _NAMED.search(written) is not None and _loaded(written) == "manual"


def _loaded(written: bytes) -> object:
    """The value as YAML has it, for a file that says it in an unusual form; None where it is no YAML."""
    import yaml

    try:
        loaded = yaml.safe_load(written)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return loaded.get("session_start") if isinstance(loaded, dict) else None
