"""Reading and writing single files so that no link is followed and what was written survives a crash."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from reflect.errors import PageError, WikiError
from reflect.wiki.page import sha256
from reflect.wiki.paths import STAGING, shown

MAX_PAGE_BYTES = 4 * 1024 * 1024


def target_of(root: Path, path: str) -> Path:
    """Where `path` below `root` lies; WikiError where a symbolic link stands on the way: it could lead anywhere."""
    place = root
    for part in ("", *path.split("/")):
        place = place / part
        if place.is_symlink():
            raise WikiError(f"{shown(str(place))} is a symbolic link; nothing was written. Put a real file there.")
    if place.exists() and not place.is_file():
        raise WikiError(f"{shown(str(place))} is not a regular file; nothing was written.")
    return place


def hash_of(file: Path) -> str | None:
    """The SHA-256 of a file's bytes; None where there is none."""
    try:
        return sha256(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WikiError(f"{shown(str(file))} cannot be read ({error.strerror}); nothing was written.") from error


def read_regular(file: Path) -> bytes:
    """The bytes of a regular file. Raises PageError for anything else: a pipe would never end."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PageError(f"{shown(file.name)} is not a regular file; it was left as it is.")
        if status.st_size > MAX_PAGE_BYTES:
            raise PageError(
                f"{shown(file.name)} has {status.st_size} bytes, over {MAX_PAGE_BYTES}; it was left as it is."
            )
        return stream.read()


def write_durably(file: Path, content: bytes, mode: int | None = None) -> None:
    """Write `file` and return once it is on the disk. `mode` are its permissions, by default what the system gives."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o666), "wb") as stream:
        stream.write(content)
        stream.flush()
        if mode is not None:
            os.fchmod(stream.fileno(), mode)
        os.fsync(stream.fileno())


def write_new(file: Path, content: bytes, mode: int | None = None) -> None:
    """Write `file` whole or not at all, never over one that is there: then FileExistsError is raised."""
    half = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        write_durably(half, content, mode)
        os.link(half, file)
        sync_folder(file.parent)
    finally:
        half.unlink(missing_ok=True)


def put_whole(file: Path, text: str) -> None:
    """Write `file`, in place of what stands there: a reader finds the one or the other whole."""
    half = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        half.write_bytes(text.encode("utf-8", "backslashreplace"))
        half.replace(file)
    finally:
        with suppress(OSError):
            half.unlink()


def sync_folder(folder: Path) -> None:
    """Return once the names in `folder` are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep_staging(root: Path) -> None:
    """Remove the staging folder below `root` with all that is in it; a link in its place goes, what it names stays."""
    staging = root / STAGING
    if staging.is_symlink() or staging.is_file():
        staging.unlink()
    elif staging.exists():
        shutil.rmtree(staging)


def remove_empty(folder: Path, root: Path) -> None:
    """Remove `folder` and those above it while they are empty; the folders right below `root` always stay."""
    while len(folder.relative_to(root).parts) > 1:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
