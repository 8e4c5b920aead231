"""Whether anything happened since the last run, answered from `.reflect/.last_run` and one `git for-each-ref`.

A night that has nothing to do is the commonest night there is, and the session-start hook asks the same question. So
this module takes from the standard library only what loads in a few milliseconds: no dataclasses, no typing, no
subprocess (figures: README). It never guesses: whatever it cannot tell is "not fresh", and the full run finds out.

`.last_run` keeps the three keys of section 10 of the `.reflect/` specification; the keys beside them are this module's.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

FOLDER = ".reflect"
LAST_RUN = ".last_run"
STAGING = ".staging"
CHECKPOINT_REFS = (
    "refs/heads/entire/checkpoints/v1",
    "refs/remotes/*/entire/checkpoints/v1",
    "refs/entire/checkpoints/",
    "refs/remotes/origin/HEAD",
)
"""Where checkpoints live and where the default branch is named; the default branch's own refs are added by the run."""

SILENCE_S = 20.0
"""How long git may say nothing: listing the refs of the largest repository takes a second."""

_INPUTS = ("config.yaml", "format.yaml")
_LEDGER_SETTINGS = ("REFLECT_LEDGER_URL", "REFLECT_STATE_DIR", "XDG_STATE_HOME")
"""Which ledger is asked depends on these: an answer that held for one says nothing of another."""


class LastRun:
    """What the last run left for the next question.

    `refs` are the patterns it depends on, `fingerprint` their state together with the configuration's. `pending` counts
    findings that wait for a run, `landed` says that `run` stands in the wiki's log, `unfinished` that its archiving is
    left to do, `unpublished` that its pages are still to be written back. `ledger` is the ledger's file, empty
    where it is a server.
    """

    def __init__(
        self,
        *,
        last_checkpoint: str | None,
        last_git_sha: str | None,
        timestamp: str,
        run: str,
        project: str,
        engine: str,
        refs: Iterable[str],
        fingerprint: str,
        ledger: str,
        pending: int,
        landed: bool,
        unfinished: bool,
        unpublished: bool = False,
    ) -> None:
        self.last_checkpoint = last_checkpoint
        self.last_git_sha = last_git_sha
        self.timestamp = timestamp
        self.run = run
        self.project = project
        self.engine = engine
        self.refs = tuple(refs)
        self.fingerprint = fingerprint
        self.ledger = ledger
        self.pending = pending
        self.landed = landed
        self.unfinished = unfinished
        self.unpublished = unpublished

    def encode(self) -> bytes:
        return (json.dumps(vars(self), indent=2) + "\n").encode()

    def finished(self) -> LastRun:
        """The same with nothing left to archive."""
        return LastRun(**{**vars(self), "unfinished": False})

    def written_back(self, done: bool) -> LastRun:
        """The same with its pages written back, or still to be."""
        return LastRun(**{**vars(self), "unpublished": not done})

    def says_as_much_as(self, other: LastRun) -> bool:
        """Whether the two differ in nothing but the time."""
        return {**vars(self), "timestamp": ""} == {**vars(other), "timestamp": ""}

    @classmethod
    def read(cls, folder: Path) -> LastRun | None:
        """The last run of the wiki in `folder` (`.reflect/`), or None where there is none that can be read."""
        try:
            last = cls(**json.loads(bytes_of(folder / LAST_RUN)))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        texts = (last.run, last.project, last.engine, last.fingerprint, last.ledger, last.timestamp, *last.refs)
        return last if all(isinstance(text, str) and "\0" not in text for text in texts) else None


def find_root(start: Path) -> Path | None:
    """The work tree around `start`: the nearest folder that holds `.git`."""
    start = start.resolve()
    if not start.is_dir():
        return None
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), None)


def refs_for(default_ref: str | None) -> tuple[str, ...]:
    """The ref patterns a run depends on, given the full name of the default branch's ref."""
    if default_ref is None:
        return CHECKPOINT_REFS
    local = "refs/heads/" + default_ref.split("/", 3)[-1] if default_ref.startswith("refs/remotes/") else default_ref
    return (*CHECKPOINT_REFS, *dict.fromkeys((default_ref, local)))


def fingerprint(root: Path, refs: Iterable[str]) -> str | None:
    """A digest of the refs that match `refs`, of the wiki's configuration and of which ledger is meant; None where git
    does not answer."""
    answer = _git(root, "for-each-ref", "--format=%(refname) %(objectname) %(symref) %(HEAD)", *refs)
    if answer is None:
        return None
    state = hashlib.sha256(answer)
    for name in _INPUTS:
        try:
            state.update(name.encode() + bytes_of(root / FOLDER / name))
        except OSError:
            continue
    state.update("\0".join(os.environ.get(name, "") for name in _LEDGER_SETTINGS).encode("utf-8", "surrogateescape"))
    return state.hexdigest()[:32]


def fresh(root: Path, engine: str | None = None) -> LastRun | None:
    """The last run of the work tree `root` where nothing happened since, else None.

    None also where it cannot be told: no last run, another engine asked for, findings waiting, a landing to finish,
    pages to write back, a wiki without that run in its log (it was thrown away), or a ledger file that is gone.
    """
    folder = root / FOLDER
    last = LastRun.read(folder)
    if (
        last is None
        or last.pending
        or last.unfinished
        or last.unpublished
        or (engine is not None and engine != last.engine)
    ):
        return None
    if (folder / STAGING).exists() or not _ledger_is_there(last.ledger):
        return None
    if last.landed and not _logged(folder, last.run):
        return None
    return last if fingerprint(root, last.refs) == last.fingerprint else None


def nothing_new(last: LastRun) -> dict[str, Any]:
    """The report of a run that found nothing new, in the shape of every other report."""
    return {
        "project": last.project,
        "run": last.run,
        "engine": last.engine,
        "nothing_new": True,
        "dry_run": False,
        "collected": {"sessions": 0, "commits": 0},
        "outcomes": {"compiled": 0, "skipped": 0, "quarantined": 0, "pending": 0},
        "evidence": [],
        "pages": [],
        "failed_pages": [],
        "review": {"queued": 0, "reasons": {}},
        "teaching": {"clean": 0, "user_turns": 0, "automated": 0, "reasons": {}},
        "spend": {"usd": 0.0, "input_tokens": 0, "output_tokens": 0, "calls": 0},
        "left_out": {"commits": 0},
        "redactions": 0,
        "notes": [],
        "published": None,
    }


def _git(root: Path, *arguments: str) -> bytes | None:
    """What git prints, None where it fails or stays silent: a ref can be a pipe, or lie on a disk that hangs."""
    read, write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    try:
        child = os.posix_spawnp("git", ["git", "-C", os.fspath(root), *arguments], os.environ, file_actions=actions)
    except OSError:
        os.close(read)
        return None
    finally:
        os.close(write)
    with os.fdopen(read, "rb") as pipe:
        if not select.select([pipe], [], [], SILENCE_S)[0]:
            os.kill(child, 9)
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return answer if os.waitstatus_to_exitcode(status) == 0 else None


def _ledger_is_there(file: str) -> bool:
    return not file or Path(file).exists()


def bytes_of(file: Path) -> bytes:
    """The bytes of a file of the repository. No link is followed, and a pipe, which would never end, is empty."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read() or b""


def _logged(folder: Path, run: str) -> bool:
    try:
        return run.encode() in bytes_of(folder / "wiki" / "log.md")
    except OSError:
        return False
