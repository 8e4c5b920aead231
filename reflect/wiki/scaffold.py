"""The files that a repository needs before its first run."""

from __future__ import annotations

from pathlib import Path

from reflect.configuration import DEFAULT_FORMAT, FORMAT_FILE
from reflect.errors import WikiError
from reflect.wiki.files import write_new
from reflect.wiki.paths import STAGING, WIKI

IGNORE_FILE = ".gitignore"
IGNORED = (".last_run", f"{STAGING}/")


def scaffold(reflect_dir: Path) -> tuple[str, ...]:
    """Make what is missing of `.reflect/` and return the names of what was made or added to.

    Safe to repeat: nothing that exists is overwritten; to an existing `.gitignore` only missing lines are added.
    """
    made: list[str] = []
    try:
        for folder in (reflect_dir, reflect_dir / WIKI):
            made += _folder(folder, reflect_dir)
        made += _file(reflect_dir / FORMAT_FILE, DEFAULT_FORMAT)
        made += _ignore(reflect_dir / IGNORE_FILE)
    except OSError as error:
        raise WikiError(f"{reflect_dir} cannot be made ready ({error}); nothing in it was overwritten.") from error
    return tuple(made)


def _folder(folder: Path, reflect_dir: Path) -> list[str]:
    _refuse_link(folder)
    if folder.is_dir():
        return []
    if folder.exists():
        raise WikiError(f"{folder} is a file where a folder is needed; nothing was changed. Move it away.")
    folder.mkdir(parents=True)
    return [f"{folder.relative_to(reflect_dir.parent)}/"]


def _file(file: Path, text: str) -> list[str]:
    _refuse_link(file)
    if file.exists():
        return []
    try:
        write_new(file, text.encode())
    except FileExistsError:  # somebody made it meanwhile
        return []
    return [f"{file.parent.name}/{file.name}"]


def _ignore(file: Path) -> list[str]:
    made = _file(file, "".join(f"{line}\n" for line in IGNORED))
    if made:
        return made
    content = file.read_bytes()
    present = {line.strip() for line in content.splitlines()}
    missing = [line for line in IGNORED if line.encode() not in present]
    if not missing:
        return []
    gap = b"" if not content or content.endswith(b"\n") else b"\n"
    with file.open("ab") as stream:
        stream.write(gap + "".join(f"{line}\n" for line in missing).encode())
    return [f"{file.parent.name}/{file.name}"]


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise WikiError(f"{path} is a symbolic link; nothing was changed. Put a real file or folder there.")
