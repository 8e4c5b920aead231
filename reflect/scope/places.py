"""Where a directory lies: containment by path parts, never by string prefix.

A directory of this machine is resolved first (home, symlinks, `..`). A directory recorded on another machine, Windows
ones among them, does not exist here and can only be compared as written.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TypeVar

_P = TypeVar("_P", bound=PurePath)

_WINDOWS = re.compile(r"[A-Za-z]:(?:[\\/]|$)|\\\\")
_EXTENDED = re.compile(r"^\\\\\?\\(?:UNC\\)?")
_DRIVE_FOLDER = re.compile(r"^/(?:mnt/|cygdrive/)?([A-Za-z])(?=/|$)")
_WORKTREES = (".claude", "worktrees")
_MACOS_PRIVATE = ("tmp", "var", "etc")


def located(text: str | PurePath) -> PurePath | None:
    """The absolute, resolved place of `text`; None where it names none (relative, empty, NUL, a symlink loop).

    A Windows path is normalised and kept as one on any system.
    """
    written = str(text)
    if not written.strip() or "\x00" in written:
        return None
    if _WINDOWS.match(written):
        return _windows(written)
    try:
        path = Path(written).expanduser()
        return PurePosixPath(path.resolve()) if path.is_absolute() else None
    except (OSError, RuntimeError, ValueError):
        return None


def recorded(text: str, like: PurePath | None = None) -> PurePath | None:
    """The place `text` named on the machine it was recorded on; None where it is no absolute path.

    `like` is the directory its session started in: beside a Windows one, the shell's `/c/repo` and `/mnt/c/repo` mean
    `C:\\repo`.
    """
    written = unicodedata.normalize("NFC", text)
    if "\x00" in written:
        return None
    if _WINDOWS.match(written):
        return _windows(written)
    if not written.startswith("/"):
        return None
    if isinstance(like, PureWindowsPath) and (drive := _DRIVE_FOLDER.match(written)):
        return _windows(f"{drive.group(1)}:\\{written[drive.end() :].lstrip('/')}")
    return _without_private(_collapsed(PurePosixPath("/" + written.lstrip("/"))))


def is_inside(path: PurePath, root: PurePath) -> bool:
    """Whether `path` is `root` or lies below it."""
    return type(path) is type(root) and path.is_relative_to(root)


def is_filesystem_root(path: PurePath) -> bool:
    return path == type(path)(path.anchor)


def main_tree(path: PurePath) -> PurePath:
    """`path` with an agent's worktree (`<repository>/.claude/worktrees/<name>`) read as the repository itself."""
    parts = path.parts
    for at in range(len(parts) - 3, -1, -1):
        if parts[at + 1 : at + 3] == _WORKTREES:
            return main_tree(type(path)(*parts[: at + 1], *parts[at + 4 :]))
    return path


def _windows(written: str) -> PureWindowsPath | None:
    path = PureWindowsPath(_EXTENDED.sub(lambda m: r"\\" if m.group().endswith("UNC\\") else "", written))
    return _collapsed(path) if path.is_absolute() else None


def _collapsed(path: _P) -> _P:
    """`path` without `..`, as written: there is nothing here to resolve it against."""
    kept: list[str] = []
    for part in path.parts[1:]:
        if part != "..":
            kept.append(part)
        elif kept:
            kept.pop()
    return type(path)(path.anchor, *kept)


def _without_private(path: PurePosixPath) -> PurePosixPath:
    """On macOS `/tmp`, `/var` and `/etc` are links into `/private`; both names mean one place."""
    if path.parts[1:2] == ("private",) and path.parts[2:3] and path.parts[2] in _MACOS_PRIVATE:
        return PurePosixPath("/", *path.parts[2:])
    return path
