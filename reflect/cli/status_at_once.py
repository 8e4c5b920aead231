"""`reflect status` as it was last worked out, where nothing that it says has changed; with the standard library alone.

The full command keeps its answer beside the search index, with a key made of everything that the answer depends on:
refs, configuration, pages, archive, log, the ledger's file, qmd, the environment and this program. Whatever cannot be
told, and a ledger that is a server, is left to the full command.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from reflect.freshness import FOLDER, LAST_RUN, find_root, fingerprint, fresh
from reflect.search.place import fingerprint_of, pages_in, search_folder, settled, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

KEPT = "status.json"
_VARIABLES = ("PATH", "REFLECT_ORGANISATION", "REFLECT_QMD_DIR", "REFLECT_QMD_MODEL")
_UNSETTLED_NS = 50_000_000
"""A ledger that was written this short a time ago may be written again within the same tick: nothing is kept of it."""


def answered_at_once(arguments: list[str]) -> bool:
    """Whether these arguments of `reflect status` could be answered at once, and have been."""
    where, as_json = Path.cwd(), False
    rest = iter(arguments)
    for argument in rest:
        if argument == "--json":
            as_json = True
        elif argument == "--repo" and (value := next(rest, None)):
            where = Path(value)
        else:
            return False
    root = find_root(where)
    found = None if root is None else remembered(root)
    if found is None:
        return False
    if as_json:
        print(json.dumps(found))
    else:
        from reflect.cli.status_view import as_text

        print(as_text(found, os.environ))
    return True


def remember(root: Path, refs: Iterable[str], ledger: str, before: str | None, found: dict[str, Any]) -> None:
    """Keep the answer `found` for as long as `before`, its key from before it was worked out, still holds. An answer
    that cannot be kept is worked out again: nothing fails."""
    if before is None or before != key_of(root, refs, ledger):
        return
    folder = search_folder(state_folder(), root)
    half = folder / f"{KEPT}.{os.getpid()}.new"
    said = {"key": before, "refs": list(refs), "ledger": ledger, "found": found}
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        half.write_text(json.dumps(said), encoding="utf-8")
        half.replace(folder / KEPT)
    except OSError:
        half.unlink(missing_ok=True)


def key_of(root: Path, refs: Iterable[str], ledger: str, known: str | None = None) -> str | None:
    """A digest of everything that the answer depends on; None where that cannot be told. `known` is the fingerprint of
    the refs where it has been taken."""
    said = known or fingerprint(root, refs)
    if said is None or not ledger or time.time_ns() - (_written_at(ledger) or 0) < _UNSETTLED_NS:
        return None
    wiki = root / FOLDER / "wiki"
    parts = [said, *(fingerprint_of(settled(pages_in(folder))) for folder in (wiki, wiki / "_archive"))]
    parts += [os.environ.get(name, "") for name in _VARIABLES]
    parts += [_state_of(file) for file in _files(root, wiki, ledger)]
    parts += [_state_of(f"{wiki.parent}/{name}", follow=False) for name in ("", "wiki", "config.yaml", "format.yaml")]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def oldest_waiting(created_at: str, now: datetime) -> dict[str, Any]:
    """When the oldest open question was last said something about, and how many days ago that is."""
    return {"created_at": created_at, "days": max(0, (now - datetime.fromisoformat(created_at)).days)}


def remembered(root: Path) -> dict[str, Any] | None:
    """The answer that was kept for the work tree `root`, if it holds; None where it may not."""
    try:
        said = json.loads((search_folder(state_folder(), root) / KEPT).read_bytes())
        key, refs, ledger, found = said["key"], said["refs"], said["ledger"], said["found"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    last = fresh(root)
    known = last.fingerprint if last is not None and list(last.refs) == refs else None
    if key_of(root, refs, ledger, known) != key:
        return None
    answer: dict[str, Any] = {**found, "fresh": last is not None}
    if found["review_oldest"] is not None:
        answer["review_oldest"] = oldest_waiting(found["review_oldest"]["created_at"], _now())
    return answer


def _files(root: Path, wiki: Path, ledger: str) -> Iterator[str]:
    """The files by whose size and time of change the answer is known to hold."""
    folder = search_folder(state_folder(), root)
    yield from (__file__, ledger, f"{ledger}-wal", f"{ledger}-journal")
    yield from (os.fspath(wiki / "log.md"), os.fspath(root / FOLDER / LAST_RUN))
    for home in sorted(folder.glob("qmd-*")):
        yield from (os.fspath(home / "state.json"), os.fspath(home / "config" / "index.yml"))
    own = os.environ.get("REFLECT_QMD_DIR") or os.fspath(state_folder() / "qmd")
    yield os.path.join(own, "node_modules", "@tobilu", "qmd", "package.json")  # noqa: PTH118 - a name to look up
    for place in os.environ.get("PATH", "").split(os.pathsep):
        yield f"{place}/qmd"


def _state_of(file: str, *, follow: bool = True) -> str:
    try:
        state = os.stat(file, follow_symlinks=follow)  # noqa: PTH116 - half the time of a Path's
    except OSError:
        return f"{file} is not there"
    return f"{file} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_mode}"


def _written_at(file: str) -> int | None:
    try:
        return os.stat(file).st_mtime_ns  # noqa: PTH116
    except OSError:
        return None


def _now() -> datetime:
    """As `Settings.now`, without what that takes to load."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch) if epoch.isdigit() else time.time(), UTC)
