"""One call of qmd: in a process group of its own, with an environment of its own, ended as a whole when time is up.

The working directory is `/` and the index is always named, because qmd otherwise takes over a `.qmd/` of the folder it
is started in, or of any above it, and would run what a repository says there.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_GRACE_S = 2.0
_SHOWN = 200


class Fault(Exception):
    """qmd gave no usable answer; the message says why, in one clause."""


def run(node: str, script: str, arguments: Sequence[str], *, home: Path, timeout_s: float) -> str:
    """What `qmd <arguments>` prints, with everything it keeps below `home`.

    Raises Fault where it cannot be started, takes longer than `timeout_s` (nothing of it runs on afterwards) or fails.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    command = [node, script, "--index", "index", *arguments]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=environment(home),
            start_new_session=True,
        )
    except OSError as error:
        raise Fault(f"it cannot be started ({error.strerror})") from error
    with process:
        try:
            said, complained = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise Fault(f"`qmd {arguments[0]}` took longer than {timeout_s:g} s and was ended") from error
        finally:
            _end(process)
    if process.returncode:
        raise Fault(f"`qmd {arguments[0]}` left with {process.returncode}: {_last_line(complained)}")
    return said.decode("utf-8", "replace")


def environment(home: Path) -> dict[str, str]:
    """Nothing of the caller's but the search path: every place qmd looks in lies below `home`."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "QMD_CONFIG_DIR": str(home / "config"),
        "INDEX_PATH": str(home / "index.sqlite"),
        "QMD_FORCE_CPU": "1",
        "QMD_LLAMA_GPU": "false",
        "QMD_SQLITE_BUSY_TIMEOUT": "20000",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End whatever is left of the group: qmd starts processes that outlive it."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _last_line(said: bytes) -> str:
    lines = [
        line.strip() for line in said.decode("utf-8", "replace").splitlines() if "Error" in line or "rror:" in line
    ]
    rest = said.decode("utf-8", "replace").strip().splitlines()
    return ((lines or rest or ["it gave no reason"])[-1])[:_SHOWN]
