"""The door. Answers the questions that must be answered at once, and loads the command line for all others.

`reflect ingest` on a repository in which nothing happened takes as long as asking git, and so do `status` and
`session-start`; `reflect search` takes as long as looking into an index: nothing but the standard library is imported
for them (figures: README and docs/search.md).
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

_AT_ONCE = {
    "ingest": "reflect.cli.ingest_at_once",
    "search": "reflect.cli.search_at_once",
    "session-start": "reflect.cli.session_start_at_once",
    "status": "reflect.cli.status_at_once",
}
"""Where a command is answered at once if it can be; what such a module cannot answer is left to the full command."""

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
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command in _AT_ONCE and import_module(_AT_ONCE[command]).answered_at_once(rest):
        return 0
    from reflect.cli.app import run

    return run(arguments)


if __name__ == "__main__":
    main()
