"""The written intent of a landing: what each file was, what it becomes, and what is to be recorded afterwards."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reflect.errors import WikiError
from reflect.wiki.paths import why_unsafe

VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: the hashes of its bytes before and after, None for no file; `number` names its staged copy."""

    path: str
    before: str | None
    after: str | None
    number: int


@dataclass(frozen=True, slots=True)
class Journal:
    run_id: str
    entries: tuple[Entry, ...]
    payload: dict[str, Any]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(entry.path for entry in self.entries)

    def encode(self) -> bytes:
        """JSON. Raises WikiError for a payload that JSON cannot hold."""
        value = {
            "version": VERSION,
            "run_id": self.run_id,
            "entries": [asdict(entry) for entry in self.entries],
            "payload": self.payload,
        }
        try:
            return json.dumps(value, sort_keys=True, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError) as error:
            raise WikiError(
                f"What run {self.run_id} wants recorded is no JSON ({error}); nothing was written."
            ) from error

    @classmethod
    def read(cls, file: Path) -> Journal | None:
        """The journal in `file`, None where there is none. Raises WikiError for one that this version did not write."""
        try:
            value = json.loads(file.read_bytes())
            if value["version"] != VERSION:
                raise ValueError(f"version {value['version']!r}")
            entries = tuple(Entry(**entry) for entry in value["entries"])
            if bad := [entry.path for entry in entries if why_unsafe(entry.path)]:
                raise ValueError(f"path {bad[0]!r}")
            return cls(str(value["run_id"]), entries, dict(value["payload"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise WikiError(
                f"{file} cannot be read ({error}); nothing was changed. Check the wiki with git, then remove that file."
            ) from error
