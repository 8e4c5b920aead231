"""The history behind the default branch, as commits.

Two git processes whatever the number of commits: one lists the ids of the whole graph, one shows those that are new.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime

from reflect.errors import RepositoryError
from reflect.evidence.git import Git
from reflect.evidence.messages import Message, parse_message, same_subject
from reflect.model import CommitSha

OWN_FOLDER = ".reflect/"

MAX_FILES = 1000
"""File names kept per commit; an import of a whole tree says nothing by its thousandth name."""

_FIELDS = ("%H", "%P", "%an", "%ae", "%at", "%ct", "%B")
_FORMAT = "/" + "%x00".join(_FIELDS) + "%x00"
_SHOW = ("log", "--no-walk=unsorted", "--stdin", "-z", f"--format={_FORMAT}", "--encoding=UTF-8", "--no-show-signature")
_NAMES = ("--name-only", "--no-renames", "--diff-merges=first-parent", "--no-relative", "-O/dev/null")

_FIRST_INSTANT = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class RawCommit:
    """One commit as git shows it, its message taken apart. `files` is None where they could not be listed."""

    sha: CommitSha
    parents: tuple[CommitSha, ...]
    author: str
    email: str
    at: datetime
    message: Message
    files: tuple[str, ...] | None

    @property
    def made_here(self) -> str:
        """Why this commit is the product's own work, in words; empty where it is someone's."""
        outside = [name for name in self.files or () if not name.startswith(OWN_FOLDER)]
        if self.message.made_by_reflect and not (self.message.is_squash and outside):
            return "made by reflect"
        if self.files and not outside:
            return "touches only .reflect/"
        return ""


@dataclass(frozen=True, slots=True)
class Window:
    """Which commits of the graph are to be read now: newest first. `floor` are the newest ones left out on purpose."""

    new: tuple[CommitSha, ...]
    left_out: int
    floor: tuple[CommitSha, ...]
    head: CommitSha | None
    parents: Mapping[CommitSha, tuple[CommitSha, ...]]


def choose_window(
    git: Git, tips: Sequence[str], settled: AbstractSet[str], floor: Sequence[str], *, first_run: bool, seed: int
) -> Window:
    """On a first run the newest `seed` commits; later every commit that is neither settled nor behind `floor`."""
    if not tips:
        return Window((), 0, tuple(CommitSha(sha) for sha in floor), None, {})
    if first_run:
        graph = _graph(git, tips, ())
        ordered = list(graph)
        new, rest = ordered[:seed], ordered[seed:]
        return Window(tuple(new), len(rest), _floor(graph, new, rest, tips), ordered[0], graph)
    here = git.sizes(floor)
    present = [sha for sha in floor if sha in here]
    graph = _graph(git, tips, present)
    head = next(iter(graph), CommitSha(tips[0]))
    return Window(tuple(sha for sha in graph if sha not in settled), 0, _as_shas(present), head, graph)


def read_commits(git: Git, shas: Sequence[CommitSha]) -> Iterator[RawCommit]:
    """The given commits, in their order. Where trees are missing (partial clone) the commits come without files."""
    asked = "".join(f"{sha}\n" for sha in shas).encode()
    if not shas:
        return
    number = 0
    try:
        for commit in _records(git.stream(*_SHOW, *_NAMES, input=asked), with_files=True):
            yield commit
            number += 1
    except RepositoryError:
        asked = "".join(f"{sha}\n" for sha in shas[number:]).encode()
        yield from _records(git.stream(*_SHOW, "--no-patch", input=asked), with_files=False)


def reverted(commits: Sequence[RawCommit], window: Window, git: Git) -> dict[CommitSha, tuple[CommitSha, ...]]:
    """The commits that each of `commits` says it reverts, by full id.

    A shortened id is resolved where exactly one commit of the history starts with it; a subject (`Revert "..."`) names
    the newest older commit that has it. What names no commit of this history is dropped, except a full id.
    """
    known = sorted(window.parents)
    found: dict[CommitSha, tuple[CommitSha, ...]] = {}
    by_subject: list[RawCommit] = []
    for commit in commits:
        named = [_resolved(sha, known) for sha in commit.message.reverted_shas]
        shas = tuple(dict.fromkeys(sha for sha in named if sha is not None and sha != commit.sha))
        if shas:
            found[commit.sha] = shas
        elif commit.message.reverted_subject:
            by_subject.append(commit)
    if by_subject:
        found |= _reverted_by_subject(by_subject, window, git)
    return found


def merged_by(commits: Iterable[RawCommit], window: Window) -> dict[CommitSha, tuple[CommitSha, ...]]:
    """What each merge among `commits` brought in: from every further parent along its first parents, until they meet
    the line of first parents that leads from the head."""
    line = set(_first_parents(window.head, window, frozenset()))
    return {
        commit.sha: tuple(sha for parent in commit.parents[1:] for sha in _first_parents(parent, window, line))
        for commit in commits
        if len(commit.parents) > 1
    }


def _first_parents(start: CommitSha | None, window: Window, until: AbstractSet[CommitSha]) -> Iterator[CommitSha]:
    sha = start
    while sha is not None and sha not in until:
        yield sha
        sha = next(iter(window.parents.get(sha, ())), None)


def _graph(git: Git, tips: Sequence[str], floor: Iterable[str]) -> dict[CommitSha, tuple[CommitSha, ...]]:
    """Every commit reachable from `tips` and not from `floor`, children before parents, newest first."""
    asked = "".join([*(f"{sha}\n" for sha in tips), *(f"^{sha}\n" for sha in floor)]).encode()
    shown = git.store("rev-list", "--date-order", "--parents", "--stdin", input=asked, where=str(git.root))
    graph: dict[CommitSha, tuple[CommitSha, ...]] = {}
    for line in shown.decode("ascii").split("\n"):
        if line:
            sha, *parents = line.split(" ")
            graph[CommitSha(sha)] = _as_shas(parents)
    return graph


def _floor(
    graph: Mapping[CommitSha, tuple[CommitSha, ...]],
    new: Iterable[CommitSha],
    rest: Iterable[CommitSha],
    tips: Iterable[str],
) -> tuple[CommitSha, ...]:
    border = {parent for sha in new for parent in graph[sha]} | set(tips)
    return tuple(sorted(sha for sha in rest if sha in border))


def _as_shas(texts: Iterable[str]) -> tuple[CommitSha, ...]:
    return tuple(CommitSha(text) for text in texts)


def _records(pieces: Iterator[bytes], *, with_files: bool) -> Iterator[RawCommit]:
    """Fields end with NUL and come in a known number; then file names until one starts with "/", which none can."""
    fields: list[bytes] = []
    files: list[str] = []
    for token in _tokens(pieces):
        if len(fields) < len(_FIELDS):
            if not fields and not token:
                continue  # the end of the record before, which had no files
            fields.append(token)
        elif token.startswith(b"/"):
            yield _commit(fields, files if with_files else None)
            fields, files = [token], []
        elif token and len(files) < MAX_FILES:
            name = token[1:] if not files and token.startswith(b"\n") else token
            files.append(name.decode("utf-8", "replace"))
    if len(fields) == len(_FIELDS):
        yield _commit(fields, files if with_files else None)


def _tokens(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def _commit(fields: Sequence[bytes], files: Sequence[str] | None) -> RawCommit:
    sha, parents, author, email, authored, committed, message = (part.decode("utf-8", "replace") for part in fields)
    return RawCommit(
        sha=CommitSha(sha[1:]),
        parents=_as_shas(parents.split()),
        author=author,
        email=email,
        at=_instant(authored) or _instant(committed) or _FIRST_INSTANT,
        message=parse_message(message),
        files=None if files is None else tuple(files),
    )


def _instant(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _resolved(sha: str, known: Sequence[CommitSha]) -> CommitSha | None:
    if len(sha) == 40:
        return CommitSha(sha)
    at = bisect_left(known, sha)
    matching = [candidate for candidate in known[at : at + 2] if candidate.startswith(sha)]
    return matching[0] if len(matching) == 1 else None


def _reverted_by_subject(
    commits: Sequence[RawCommit], window: Window, git: Git
) -> dict[CommitSha, tuple[CommitSha, ...]]:
    order = list(window.parents)
    asked = "".join(f"{sha}\n" for sha in order).encode()
    shown = git.store("log", "--no-walk=unsorted", "--stdin", "-z", "--format=%s", "--encoding=UTF-8", input=asked)
    subjects = [same_subject(text) for text in shown.decode("utf-8", "replace").split("\0")]
    places: dict[str, list[int]] = {}
    for number, subject in enumerate(subjects):
        places.setdefault(subject, []).append(number)
    number_of = {sha: number for number, sha in enumerate(order)}
    found: dict[CommitSha, tuple[CommitSha, ...]] = {}
    for commit in commits:
        older = [n for n in places.get(commit.message.reverted_subject, ()) if n > number_of[commit.sha]]
        if older:
            found[commit.sha] = (order[older[0]],)
    return found
