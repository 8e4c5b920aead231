"""What Entire stored: which checkpoints there are, and the files of each of their session folders.

Two backends are live and a repository may hold both: one branch with a tree of all checkpoints, and one ref for each.
The trees are the truth; what a checkpoint's own metadata lists is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from reflect.evidence.git import Git, Ref
from reflect.evidence.objects import ObjectReader
from reflect.model import CheckpointId, EvidenceId, is_checkpoint_id, session_evidence

BRANCH = "entire/checkpoints/v1"
REFS = "refs/entire/checkpoints/"
"""What to ask `Git.refs` for to see every place that checkpoints are stored in."""

_FOLDER = re.compile(rb"0|[1-9][0-9]{0,5}")
_CHUNK = re.compile(rb"full\.jsonl\.([0-9]{3,5})")
_TREE = b"40000"
_FILES = frozenset({b"100644", b"100755", b"100664"})
_LINK = b"120000"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a git tree."""

    mode: bytes
    name: bytes
    oid: str


@dataclass(frozen=True, slots=True)
class StoredFolder:
    """One session folder as it stands in git. `content` is its tree's id.

    `chunks` are the blobs of the transcript in order, up to the first one missing from the numbering; `problem` says in
    words what is wrong with the folder, `hole` which chunk is missing, `absent` that its tree is not in this clone.
    """

    checkpoint: CheckpointId
    number: int
    content: str
    metadata: str | None
    chunks: tuple[str, ...]
    problem: str = ""
    hole: str = ""
    absent: bool = False

    @property
    def id(self) -> EvidenceId:
        return session_evidence(self.checkpoint, self.number)


@dataclass(slots=True)
class Stored:
    """Everything found: session folders by evidence id, every checkpoint id, and what was odd, in sentences."""

    folders: dict[EvidenceId, StoredFolder] = field(default_factory=dict)
    checkpoints: set[CheckpointId] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Place:
    """A checkpoint and its tree."""

    checkpoint: CheckpointId
    tree: str


def read_stored(reader: ObjectReader, git: Git, refs: Sequence[Ref]) -> Stored:
    """List every checkpoint of both backends. An id that both hold is taken from its ref.

    Reads trees alone: nothing whose size depends on how long anyone talked.
    """
    stored = Stored()
    places: dict[CheckpointId, _Place] = {}
    for branch in _branches(git, refs):
        for place in _on_branch(reader, branch, stored.notes):
            places.setdefault(place.checkpoint, place)
    for place in _in_refs(reader, refs, stored.notes):
        places[place.checkpoint] = place
    stored.checkpoints.update(places)
    _read_places(reader, [places[checkpoint] for checkpoint in sorted(places)], stored)
    return stored


def checkpoint_of_ref(name: str) -> CheckpointId | None:
    """The checkpoint a ref of the refs backend is for: exactly `<last two characters>/<id>`, else None."""
    shard, _, checkpoint = name.removeprefix(REFS).partition("/")
    if name.startswith(REFS) and is_checkpoint_id(checkpoint) and shard == checkpoint[-2:]:
        return CheckpointId(checkpoint)
    return None


def parse_tree(raw: bytes) -> list[Entry]:
    """The entries of a git tree object."""
    entries: list[Entry] = []
    at = 0
    while at < len(raw):
        space = raw.index(b" ", at)
        end = raw.index(b"\0", space)
        entries.append(Entry(raw[at:space], raw[space + 1 : end], raw[end + 1 : end + 21].hex()))
        at = end + 21
    return entries


def _branches(git: Git, refs: Iterable[Ref]) -> list[Ref]:
    """The checkpoint branch, here and on the remote, newest first: either may be ahead of the other."""
    found = {ref.name: ref for ref in refs if not ref.target}
    remotes = sorted(name for name in found if name.startswith("refs/remotes/") and name.endswith(f"/{BRANCH}"))
    origin = f"refs/remotes/origin/{BRANCH}"
    chosen = [name for name in (f"refs/heads/{BRANCH}", origin) if name in found]
    if not chosen and len(remotes) == 1:
        chosen = remotes
    oids = list(dict.fromkeys(found[name].oid for name in chosen))
    if len(oids) == 2:
        asked = "\n".join(oids).encode() + b"\n"
        order = git.store("rev-list", "--no-walk=sorted", "--stdin", input=asked).decode().split()
        return sorted((found[name] for name in chosen), key=lambda ref: order.index(ref.oid))
    return [found[name] for name in chosen[:1]]


def _on_branch(reader: ObjectReader, branch: Ref, notes: list[str]) -> Iterator[_Place]:
    root = reader.read(f"{branch.oid}^{{tree}}")
    if root is None:
        notes.append(f"The tree of {branch.name} is not in this clone: its checkpoints were not read.")
        return
    shards = [entry for entry in parse_tree(root) if entry.mode == _TREE and len(entry.name) == 2]
    for shard, raw in zip(shards, reader.read_all(entry.oid for entry in shards), strict=True):
        if raw is None:
            notes.append(f"A folder of {branch.name} ({_shown(shard.name)}/) is not in this clone and was not read.")
            continue
        for entry in parse_tree(raw):
            checkpoint = (shard.name + entry.name).decode("ascii", "replace")
            if entry.mode == _TREE and is_checkpoint_id(checkpoint):
                yield _Place(CheckpointId(checkpoint), entry.oid)


def _in_refs(reader: ObjectReader, refs: Iterable[Ref], notes: list[str]) -> Iterator[_Place]:
    named = [(checkpoint_of_ref(ref.name), ref) for ref in refs if ref.name.startswith(REFS)]
    strange = [ref.name for checkpoint, ref in named if checkpoint is None]
    if strange:
        notes.append(f"{_some(strange)} below {REFS} name no checkpoint and were not read.")
    good = [(checkpoint, ref) for checkpoint, ref in named if checkpoint is not None]
    trees = _tree_ids(reader, [ref.oid for _, ref in good])
    for (checkpoint, ref), tree in zip(good, trees, strict=True):
        if tree is None:
            notes.append(f"What {ref.name} points to is not in this clone or no commit: it was not read.")
        else:
            yield _Place(checkpoint, tree)


def _tree_ids(reader: ObjectReader, commits: Sequence[str]) -> Iterator[str | None]:
    for raw in reader.read_all(commits):
        found = None if raw is None else re.match(rb"tree ([0-9a-f]{40})\n", raw)
        yield found.group(1).decode() if found else None


def _read_places(reader: ObjectReader, places: Sequence[_Place], stored: Stored) -> None:
    numbered: list[tuple[_Place, Entry]] = []
    empty: list[str] = []
    tasks = 0
    for place, raw in zip(places, reader.read_all(place.tree for place in places), strict=True):
        if raw is None:
            stored.notes.append(f"The files of checkpoint {place.checkpoint} are not in this clone: it was not read.")
            continue
        entries = parse_tree(raw)
        folders = [entry for entry in entries if _FOLDER.fullmatch(entry.name) and entry.mode == _TREE]
        tasks += any(entry.name == b"tasks" and entry.mode == _TREE for entry in entries)
        if not folders and _transcript_names(entries):  # before there were numbered folders
            _keep(stored, _folder(place, 0, place.tree, entries))
        elif not folders:
            empty.append(place.checkpoint)
        numbered += [(place, entry) for entry in sorted(folders, key=lambda entry: int(entry.name))]
    for (place, entry), raw in zip(numbered, reader.read_all(entry.oid for _, entry in numbered), strict=True):
        entries = [] if raw is None else parse_tree(raw)
        _keep(stored, _folder(place, int(entry.name), entry.oid, entries, absent=raw is None))
    if empty:
        stored.notes.append(f"There is no session folder in checkpoint {_some(empty)}.")
    if tasks:
        stored.notes.append(f"{tasks} checkpoints hold sub-agents' transcripts, in which nobody speaks: not read.")


def _keep(stored: Stored, folder: StoredFolder) -> None:
    stored.folders[folder.id] = folder


def _folder(place: _Place, number: int, tree: str, entries: Sequence[Entry], *, absent: bool = False) -> StoredFolder:
    by_name = {entry.name: entry for entry in entries}
    metadata = by_name.get(b"metadata.json")
    names = _transcript_names(entries)
    links = [name for name in names if by_name[name].mode not in _FILES]
    whole, hole = _until_hole(names)
    problem = "its folder is not in this clone; it is read once git has fetched it" if absent else ""
    if links:
        kind = "a symbolic link" if by_name[links[0]].mode == _LINK else "no file"
        problem = f"its transcript {_shown(links[0])} is {kind} and was not followed"
    elif names and not whole:
        problem = f"the beginning of its transcript ({hole}) is missing"
    return StoredFolder(
        checkpoint=place.checkpoint,
        number=number,
        content=tree,
        metadata=metadata.oid if metadata is not None and metadata.mode in _FILES else None,
        chunks=tuple(by_name[name].oid for name in whole) if not problem else (),
        problem=problem,
        hole=hole if whole else "",
        absent=absent,
    )


def _transcript_names(entries: Iterable[Entry]) -> list[bytes]:
    """The files of the transcript in order: the native one in all its chunks, else an older or a compact one."""
    names = {entry.name for entry in entries}
    native = sorted(name for name in names if name == b"full.jsonl" or _CHUNK.fullmatch(name))
    if native:
        return sorted(native, key=_chunk_number)
    older: tuple[bytes, ...] = (b"full.log", b"transcript.jsonl")
    return [name for name in older if name in names][:1]


def _chunk_number(name: bytes) -> int:
    chunk = _CHUNK.fullmatch(name)
    return int(chunk.group(1)) if chunk else 0


def _until_hole(names: Sequence[bytes]) -> tuple[list[bytes], str]:
    whole: list[bytes] = []
    for number, name in enumerate(names):
        if _chunk_number(name) != number:
            return whole, "full.jsonl" if number == 0 else f"full.jsonl.{number:03d}"
        whole.append(name)
    return whole, ""


def _shown(name: bytes) -> str:
    return name[:80].decode("utf-8", "backslashreplace")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
