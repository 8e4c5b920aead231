"""`reflect init --qmd`: qmd and the node it runs on, as the lock file beside this module names them.

No script of any package runs, nothing is installed outside the one folder, and every archive is checked against its
digest. Run as a module it installs into the folder it is given.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from reflect.errors import SearchError
from reflect.search.qmd.program import Program, installed, why_unfit

_HERE = Path(__file__).parent
_FILES = ("package.json", "package-lock.json")
_INSTALL_S = 600.0
_OPTIONS = ("--omit=optional", "--omit=peer", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def install(folder: Path) -> Program:
    """Install into `folder` what is not there yet, and give the program, which has been tried.

    Raises SearchError, with what was there before left in place, where that cannot be done.
    """
    if (program := installed(folder)) is not None and _is_current(folder):
        return _tried(program, folder)
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise SearchError(
            f"qmd is installed on Linux x86-64 only, and this is {platform.system()} {platform.machine()}; nothing was "
            "changed; search answers by itself, or put a qmd on the PATH."
        )
    npm = shutil.which("npm")
    if npm is None:
        raise SearchError("npm is not on the PATH, so qmd was not installed; search answers without it.")
    _fill(folder, npm)
    program = installed(folder)
    if program is None:
        raise SearchError(f"npm left no qmd in {folder}; search answers without it.")
    return _tried(program, folder)


def _fill(folder: Path, npm: str) -> None:
    """Install beside `folder`, then change places: a killed installation leaves nothing that looks like one."""
    fresh = folder.with_name(f".{folder.name}-{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True, mode=0o700)
    try:
        for name in _FILES:
            shutil.copyfile(_HERE / name, fresh / name)
        done = subprocess.run(
            [npm, "ci", *_OPTIONS],
            cwd=fresh,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_INSTALL_S,
            check=False,
        )
        if done.returncode:
            reason = (done.stderr.strip() or "it gave no reason").splitlines()[0]
            raise SearchError(f"`npm ci` for qmd left with {done.returncode} ({reason}); nothing was changed.")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    except subprocess.TimeoutExpired as error:
        raise SearchError(f"`npm ci` for qmd took longer than {_INSTALL_S:g} s; nothing was changed.") from error
    except OSError as error:
        raise SearchError(f"qmd cannot be put into {folder} ({error}); nothing else was changed.") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _is_current(folder: Path) -> bool:
    try:
        return all((folder / name).read_bytes() == (_HERE / name).read_bytes() for name in _FILES)
    except OSError:
        return False


def _tried(program: Program, folder: Path) -> Program:
    if (reason := why_unfit(program, folder / "probe")) is not None:
        raise SearchError(f"qmd in {folder} does not work: {reason}; search answers without it.")
    return program


if __name__ == "__main__":
    print(*install(Path(sys.argv[1]).absolute()))
