"""Where output goes: a terminal gets lines of its width, a pipe whole ones. `NO_COLOR` is respected by the library."""

from __future__ import annotations

import sys

from rich.console import Console

_PIPED_WIDTH = 1000
"""Wide enough that nothing is cut or wrapped for a program that reads lines."""


def console() -> Console:
    """Standard output as it is now."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
