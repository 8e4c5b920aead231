"""Records as they were before a tool changed them: on disk, synced and readable by their owner alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from reflect.errors import ConfigurationError
from reflect.ledger.text import dump, load
from reflect.scope.reflexion import Reflexion
from reflect.wiki.files import write_new

_RUN_ID = re.compile(r"[0-9a-f]{12}")


class Preimages:
    """One file for each run below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, run_id: str, rows: Sequence[Reflexion]) -> None:
        """Keep `rows`. A run that was killed after this and is repeated keeps what it kept.

        Raises ConfigurationError where they cannot be kept: then nothing may be changed.
        """
        file = self._file(run_id)
        content = "".join(f"{dump(row)}\n" for row in rows).encode()
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if file.exists() and file.read_bytes() == content:
                return
            write_new(file, content, 0o600)
        except FileExistsError as error:
            raise ConfigurationError(
                f"These proposals were applied before and {file} holds what they replaced; nothing was changed; "
                f"`reflect reclassify --rollback {run_id}` first, or make new proposals."
            ) from error
        except OSError as error:
            raise ConfigurationError(
                f"What would be replaced cannot be kept in {file} ({error.strerror}); nothing was changed."
            ) from error

    def read(self, run_id: str) -> tuple[Reflexion, ...]:
        """What was kept for a run. Raises ConfigurationError where that is nothing, or cannot be read."""
        file = self._file(run_id)
        try:
            return tuple(load(Reflexion, line) for line in file.read_text(encoding="utf-8").split("\n") if line)
        except FileNotFoundError as error:
            raise ConfigurationError(f"No run {run_id} is known here ({file}); nothing was changed.") from error
        except (OSError, ValueError, ValidationError) as error:
            raise ConfigurationError(f"{file} cannot be read; nothing was changed.") from error

    def _file(self, run_id: str) -> Path:
        if not _RUN_ID.fullmatch(run_id):
            raise ConfigurationError(f"{run_id!r} is no run; nothing was changed; an apply says which one it was.")
        return self._folder / f"{run_id}.jsonl"
