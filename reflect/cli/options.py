"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Repository = Annotated[
    Path,
    typer.Option("--repo", metavar="PATH", help="The repository (default: the one around the working directory)."),
]
HERE = Path()
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for a program to read.")]
