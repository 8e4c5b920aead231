"""Reflexions as lines of JSON. A line that cannot be read costs itself alone, and is written back as it was."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from reflect.scope.reflexion import Reflexion


@dataclass(frozen=True, slots=True)
class Unreadable:
    """One line that is no Reflexion, byte for byte, without its line end."""

    raw: bytes


Entry = Reflexion | Unreadable


def parse(content: bytes) -> tuple[Entry, ...]:
    """Every line of `content` in order."""
    lines = content.split(b"\n")
    return tuple(_parsed(line) for line in (lines[:-1] if lines[-1] == b"" else lines))


def render(entries: Iterable[Entry]) -> bytes:
    return b"".join(_line(entry) for entry in entries)


def read(path: Path) -> tuple[Entry, ...]:
    """The entries of the journal at `path`; none where there is no file."""
    return parse(path.read_bytes()) if path.exists() else ()


def reflexions(entries: Iterable[Entry]) -> tuple[Reflexion, ...]:
    return tuple(entry for entry in entries if isinstance(entry, Reflexion))


def append(path: Path, added: Sequence[Reflexion]) -> None:
    """Add `added` to the journal at `path` in one write. A line cut by a crash stays a line of its own."""
    if not added:
        return
    with path.open("a+b") as file:
        file.write((b"\n" if _is_torn(file) else b"") + render(added))
        file.flush()
        os.fsync(file.fileno())


def rewrite(path: Path, entries: Iterable[Entry]) -> None:
    """Put `entries` in place of the journal at `path`; a reader sees the old file or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(render(entries))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _parsed(line: bytes) -> Entry:
    try:
        return Reflexion.model_validate_json(line)
    except ValidationError:
        return Unreadable(line)


def _line(entry: Entry) -> bytes:
    raw = entry.raw if isinstance(entry, Unreadable) else entry.model_dump_json().encode()
    return raw + b"\n"


def _is_torn(file: BinaryIO) -> bool:
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"
