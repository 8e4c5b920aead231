"""Which session folders are to be read now: their sizes, their metadata, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from reflect.evidence.checkpoints import StoredFolder
from reflect.evidence.git import Git
from reflect.evidence.metadata import MAX_BYTES, Metadata, parse_metadata
from reflect.evidence.objects import ObjectReader
from reflect.model import EvidenceId, Outcome

MAX_TRANSCRIPT = 256 << 20
"""A transcript above this many bytes is quarantined with its size, not read."""

INCOMPLETE = "+missing"
"""Ends the content of a session whose objects are not all in this clone, so that it is read once they are."""

_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A session folder to settle in this run. `problem` says why its transcript is not read, empty where it is.

    `content` is what the ledger is to remember it by; `sizes` are those of the transcript's chunks, in bytes, and
    `metadata_size` that of the metadata where it can be read.
    """

    stored: StoredFolder
    content: str
    sizes: tuple[int, ...]
    metadata_size: int | None
    problem: str
    outcome: Outcome
    metadata: Metadata

    @property
    def id(self) -> EvidenceId:
        return self.stored.id

    @property
    def when(self) -> tuple[datetime, str, int]:
        """The order in which sessions are read: who says a thing first keeps it."""
        return self.metadata.created_at or _LAST, self.stored.checkpoint, self.stored.number


def new_folders(
    git: Git, reader: ObjectReader, stored: Mapping[EvidenceId, StoredFolder], settled: Mapping[EvidenceId, str]
) -> list[NewFolder]:
    """The folders whose content is not among `settled`, with their metadata, in the order they were written."""
    unread = [folder for folder in stored.values() if settled.get(folder.id) != folder.content]
    sizes = git.sizes([oid for folder in unread for oid in _blobs(folder)])
    new = [_sized(folder, sizes) for folder in unread]
    new = [folder for folder in new if settled.get(folder.id) != folder.content]
    return sorted(_with_metadata(reader, new), key=lambda folder: folder.when)


def _blobs(folder: StoredFolder) -> list[str]:
    return [*folder.chunks, *([folder.metadata] if folder.metadata else [])]


def _sized(folder: StoredFolder, sizes: Mapping[str, int]) -> NewFolder:
    chunks = tuple(sizes.get(oid, 0) for oid in folder.chunks)
    missing = next((oid for oid in folder.chunks if oid not in sizes), None)
    problem, outcome, content = folder.problem, Outcome.QUARANTINED, folder.content
    if folder.absent:
        content += INCOMPLETE
    elif missing is not None:
        problem = f"its transcript (object {missing[:12]}) is not in this clone; it is read once git has fetched it"
        content += INCOMPLETE
    elif sum(chunks) > MAX_TRANSCRIPT:
        problem = f"its transcript has {sum(chunks):,} bytes, above the limit of {MAX_TRANSCRIPT:,}: it was not read"
    elif not folder.chunks and not problem:
        problem, outcome = "no transcript stored", Outcome.SKIPPED
    metadata, metadata_size = _weighed_metadata(folder, sizes)
    return NewFolder(folder, content, chunks, metadata_size, problem, outcome, metadata)


def _with_metadata(reader: ObjectReader, folders: Sequence[NewFolder]) -> Iterator[NewFolder]:
    readable = [folder.stored.metadata for folder in folders if folder.metadata_size is not None]
    raws = reader.read_all(oid for oid in readable if oid is not None)
    for folder in folders:
        raw = next(raws) if folder.metadata_size is not None else None
        yield replace(folder, metadata=folder.metadata if raw is None else parse_metadata(raw))


def _weighed_metadata(folder: StoredFolder, sizes: Mapping[str, int]) -> tuple[Metadata, int | None]:
    """What stands for the metadata until it is read, and its size where it can be."""
    if folder.metadata is None:
        return Metadata(note="it has no metadata.json"), None
    size = sizes.get(folder.metadata)
    if size is None:
        return Metadata(note="its metadata.json is not in this clone"), None
    if size > MAX_BYTES:
        return Metadata(note=f"its metadata.json has {size:,} bytes and was not used"), None
    return Metadata(note="its metadata.json is damaged"), size
