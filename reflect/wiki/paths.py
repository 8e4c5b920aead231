"""Names of files below `.reflect/`: which are safe to write, and when two of them mean the same page."""

from __future__ import annotations

import re
import unicodedata

from reflect.errors import WikiError

WIKI = "wiki"
INDEX = "index.md"
LOG = "log.md"
ARCHIVE = "_archive"
STAGING = ".staging"

MAX_NAME_BYTES = 255

_SEPARATORS = re.compile(r"[\s_\-‐-―−]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NOT_ON_WINDOWS = re.compile(r'[\\:*?"<>|]')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)
_GIT_FOLDER = re.compile(r"\.?git(?:~\d+)?", re.IGNORECASE)
_HIDDEN_ALLOWED = frozenset({".last_run", ".gitignore"})


def canonical_key(path: str) -> str:
    """What `path` shares with its twins: names that differ by case, separator or Unicode form alone are one page."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
    visible = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    parts = [_SEPARATORS.sub("-", part).strip("-") or part for part in visible.removesuffix(".md").split("/")]
    return "/".join(parts)


def why_unsafe(path: str) -> str | None:
    """Why `path`, relative and with `/`, may not be written below `.reflect/`; None where it may.

    Holds on every system that may clone the repository, not only on this one.
    """
    if not path or path.startswith("/"):
        return "it is not relative"
    for part in path.split("/"):
        if reason := _why_bad_name(part):
            return reason
    return None


def why_no_page(path: str) -> str | None:
    """Why `path`, relative to the wiki, cannot be the path of a page; None where it can."""
    if reason := why_unsafe(path):
        return reason
    if not path.endswith(".md"):
        return "a page's name ends in .md"
    first, *rest = path.split("/")
    if not rest:
        return "a page lies in the folder of its category"
    if any(part.startswith(("_", ".")) for part in (first, *rest)):
        return "names that begin with `_` or `.` are kept for the wiki itself"
    return None


def checked_page(path: str) -> str:
    """`path` where it can be a page's; WikiError with the reason where it cannot."""
    if reason := why_no_page(path):
        raise WikiError(f"{path!r} cannot be the path of a page: {reason}; nothing was written.")
    return path


def shown(path: str) -> str:
    """`path` in characters that can always be printed."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _why_bad_name(name: str) -> str | None:
    if name in ("", ".", ".."):
        return "it has an empty, `.` or `..` part"
    if _CONTROL.search(name):
        return "it holds a control character"
    if _NOT_ON_WINDOWS.search(name) or _DEVICES.match(name) or name != name.strip().rstrip("."):
        return f"{name!r} is no file name on every system"
    plain = "".join(char for char in name if unicodedata.category(char) != "Cf")
    if _GIT_FOLDER.fullmatch(unicodedata.normalize("NFKC", plain)):
        return f"{name!r} is git's own"
    if name.startswith(".") and name not in _HIDDEN_ALLOWED:
        return f"{name!r} is a hidden name"
    if len(name.encode()) > MAX_NAME_BYTES:
        return f"{name[:20]!r}… is longer than {MAX_NAME_BYTES} bytes"
    return None
