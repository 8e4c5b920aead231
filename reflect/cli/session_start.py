"""`reflect session-start`: what an agent is told when a session begins. Must be fast, and must never fail a session."""

from __future__ import annotations

from reflect.cli.options import HERE, Repository
from reflect.freshness import FOLDER, find_root, fresh


def session_start(repo: Repository = HERE) -> int:
    """Say in two lines what this repository remembers, and whether something new waits to be compiled."""
    root = find_root(repo)
    if root is None or not (root / FOLDER / "wiki").is_dir():
        return 0
    print(f"This repository keeps a wiki of decisions, gotchas and preferences: read {FOLDER}/wiki/index.md first.")
    if fresh(root) is None:
        print("Sessions or commits are not in it yet: `reflect ingest` compiles them.")
    return 0
