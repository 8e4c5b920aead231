"""`reflect session-start`: the command as it is listed and explained (`reflect.cli.main` answers it at once)."""

from __future__ import annotations

from reflect.cli.options import HERE, Repository
from reflect.cli.session_start_at_once import lines_for


def session_start(repo: Repository = HERE) -> int:
    """Say what this repository remembers, for an agent's session-start hook. Fast, and never fails a session.

    Where something new waits: with `session_start: auto` (the default) the line REFLECT_WIKI_INGEST, for an agent that
    compiles it in the background; with `manual` a reminder. `reflect init --hook --skill` installs both halves.
    """
    for line in lines_for(repo):
        print(line)
    return 0
