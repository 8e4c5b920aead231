"""The door. Answers the questions that must be answered at once, and loads the command line for all others.

`reflect ingest` on a repository in which nothing happened takes as long as asking git, and `reflect search` as long as
looking into an index: nothing but the standard library is imported for them (figures: README and docs/search.md).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reflect.freshness import find_root, fresh, nothing_new

_READER_LEFT = 1
"""As the library that reads the command line leaves when its reader is gone."""


def main() -> None:
    """Run the command line with the arguments of this process and leave with its exit code.

    A reader that leaves early (`reflect lint | head`) ends it without a word.
    """
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _READER_LEFT
    if code:
        sys.exit(code)


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["ingest"] and _answered_at_once(arguments[1:]):
        return 0
    if arguments[:1] == ["search"]:
        from reflect.cli.search_at_once import answered_at_once

        if answered_at_once(arguments[1:]):
            return 0
    from reflect.cli.app import run

    return run(arguments)


def _answered_at_once(arguments: list[str]) -> bool:
    """Whether "nothing new" was the answer to `reflect ingest` with these arguments, and has been given."""
    where, engine, as_json = Path.cwd(), None, False
    rest = iter(arguments)
    for argument in rest:
        match argument:
            case "--json":
                as_json = True
            case "--force":
                continue
            case "--repo" if value := next(rest, None):
                where = Path(value)
            case "--engine" if value := next(rest, None):
                engine = value
            case _:
                return False
    root = find_root(where)
    last = fresh(root, engine) if root is not None else None
    if last is None:
        return False
    if as_json:
        import json

        print(json.dumps(nothing_new(last)))
    else:
        print(f"Nothing new in {last.project} since {last.timestamp}.")
    return True


if __name__ == "__main__":
    main()
