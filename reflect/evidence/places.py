"""Which files are the project's own, as far as a recorded path can tell.

What stands in a file outside the workspace is anybody's: a download in `/tmp`, another checkout, a cache. What stands
below a folder of installed packages was written by their authors, who are strangers. And what agents recorded of
earlier sessions holds everything those sessions had read.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache

FOREIGN_FOLDERS = frozenset(
    {
        ".bundle",
        ".cargo",
        ".entire",
        ".eggs",
        ".gradle",
        ".m2",
        ".nox",
        ".npm",
        ".pnpm-store",
        ".tox",
        ".venv",
        ".yarn",
        "bower_components",
        "carthage",
        "deps",
        "dist-packages",
        "jspm_packages",
        "node_modules",
        "pods",
        "site-packages",
        "third-party",
        "third_party",
        "thirdparty",
        "vendor",
        "vendored",
        "venv",
    }
)
"""Names of folders that hold other people's work, compared without case."""

_DRIVE = re.compile(r"[A-Za-z]:/")

_NO_WORKSPACE = re.compile(r"/?|(?:[A-Za-z]:)?/(?:home|[Uu]sers)(?:/[^/]+)?|/root|[A-Za-z]:")
"""Directories in which a session may start but which are no project: nothing there is known to be the project's."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call ran: its working directory, and the directory the session was started in. None: not recorded."""

    cwd: str | None = None
    workspace: str | None = None

    @property
    def is_outside(self) -> bool:
        """Whether the working directory is known to lie outside the workspace, or in a folder of strangers' work."""
        return self.cwd is not None and self.is_foreign(self.cwd)

    def is_foreign(self, path: str) -> bool:
        """Whether the file or folder at `path` may hold what people outside the project wrote."""
        return _is_foreign(self, path)

    def _is_foreign(self, path: str) -> bool:
        written = path.replace("\\", "/")
        if written.startswith("~") or "\0" in written:
            return True
        parts = written.split("/")
        if any("*" in part or "?" in part or "[" in part for part in parts[:-1]):
            return True  # a wildcard folder may be any folder
        full = self._full(written)
        if self.workspace is None:
            return _is_absolute(written) or full.startswith("..") or _has_foreign_folder(full)
        root = posixpath.normpath(self.workspace.replace("\\", "/"))
        if not _is_absolute(full):
            return full.startswith("..") or _has_foreign_folder(full)
        if _NO_WORKSPACE.fullmatch(root):
            return True
        if full == root:
            return False
        if not full.startswith(root.rstrip("/") + "/"):
            return True
        return _has_foreign_folder(full[len(root) :])

    def moved(self, path: str) -> Place:
        """The place after `cd path`."""
        return Place(self._full(path.replace("\\", "/")), self.workspace)

    def _full(self, written: str) -> str:
        if _is_absolute(written) or self.cwd is None:
            return posixpath.normpath(written)
        return posixpath.normpath(posixpath.join(self.cwd.replace("\\", "/"), written))


@lru_cache(maxsize=4096)
def _is_foreign(place: Place, path: str) -> bool:
    return place._is_foreign(path)


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None


def _has_foreign_folder(path: str) -> bool:
    return any(part in FOREIGN_FOLDERS for part in path.casefold().split("/"))
