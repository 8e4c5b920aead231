"""Trees and commits that hold `.reflect/` alone, made beside the person's index and work tree.

Everything goes through a temporary index: what a person has staged, their dirty files and their hooks are never asked.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflect.errors import PageError, PublishError
from reflect.evidence.git import Git
from reflect.evidence.redaction import Redactor
from reflect.freshness import FOLDER
from reflect.wiki.files import read_regular
from reflect.wiki.paths import WIKI, why_unsafe

OURS = tuple(f"{FOLDER}/{name}" for name in (WIKI, "config.yaml", "format.yaml", ".gitignore"))
"""What is written back; all else below `.reflect/` belongs to whoever put it there."""

_FILE_MODES = ("100644", "100755")
_HEX = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{7,40}(?![0-9a-zA-Z])")
_CHECKPOINT = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{12}(?![0-9a-zA-Z])")

Versions = Mapping[str, str]
"""Object ids by path."""


class Conflict(PublishError):
    """Both sides changed a page since they last agreed."""


@dataclass(frozen=True)
class Pages:
    """The files of the work tree that may be written back: bytes by path, object ids by path."""

    contents: Mapping[str, bytes]

    @property
    def versions(self) -> dict[str, str]:
        return {path: blob_id(content) for path, content in self.contents.items()}


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def read_pages(git: Git, base: str) -> Pages:
    """What stands in the work tree and is tracked in `base` or ignored by nobody.

    Raises PublishError for a link, a repository inside, a path that is unsafe, and a wiki that is gone.
    """
    with scratch_index(git, base) as index:
        listed = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *OURS, environment=index)
    paths = sorted({path for path in listed.decode("utf-8", "surrogateescape").split("\0") if path})
    _refuse_links(git.root)
    contents: dict[str, bytes] = {}
    for path in paths:
        if reason := why_unsafe(path.removeprefix(f"{FOLDER}/").rstrip("/")):
            raise PublishError(f"{path!r} is not written back, {reason}; nothing was committed.")
        content = _content(git.root, path)
        if content is not None:
            contents[path] = content
    if paths and not any(path.startswith(f"{FOLDER}/{WIKI}/") for path in contents):
        raise PublishError(f"The wiki of {git.root} has no pages any more; nothing was committed; restore {FOLDER}/.")
    return Pages(contents)


def versions_in(git: Git, commit: str) -> dict[str, str]:
    """Our files in `commit`. Raises PublishError where one of them is a link or a submodule."""
    shown = git.store("ls-tree", "-r", "-z", "--full-tree", commit, "--", *OURS).decode("utf-8", "surrogateescape")
    found: dict[str, str] = {}
    for entry in filter(None, shown.split("\0")):
        about, path = entry.split("\t", 1)
        mode, _, oid = about.split(" ")
        if mode not in _FILE_MODES:
            what = "a submodule" if mode == "160000" else "a symbolic link"
            raise PublishError(f"{path!r} is {what} in {commit[:12]}; nothing was committed; put a real file there.")
        found[path] = oid
    return found


def refuse_secrets(git: Git, pages: Pages, known: Versions, custom: Sequence[str]) -> None:
    """Raise PublishError where a file that is not in `known` already holds what looks like a secret."""
    changed = {path: content for path, content in pages.contents.items() if known.get(path) != blob_id(content)}
    texts = {path: content.decode("utf-8", "replace") for path, content in changed.items()}
    redactor = Redactor(custom, keep=_known_ids(git, texts.values()))
    for path, text in texts.items():
        if redactor.finds(text):
            raise PublishError(
                f"{path} holds what looks like a secret; nothing was committed; remove it from the page, or see "
                "`reflect lint`."
            )


def _known_ids(git: Git, texts: Iterable[str]) -> frozenset[str]:
    """The ids in `texts` that name something: objects that exist, and what has the form of a checkpoint's id."""
    whole = "\n".join(texts)
    asked = "".join(f"{name}\n" for name in sorted(set(_HEX.findall(whole)))).encode()
    answers = git.store("cat-file", "--batch-check=%(objectname)", input=asked).decode().split("\n")
    objects = (line for line in answers if re.fullmatch(r"[0-9a-f]{40}", line))
    return frozenset(objects) | frozenset(_CHECKPOINT.findall(whole))


def joined(
    ours: Versions, theirs: Versions, *, ours_were: Sequence[Versions], theirs_were: Sequence[Versions]
) -> dict[str, str]:
    """Ours on top of theirs, path by path; a path that stands as it was on its side was not changed by that side.

    Raises Conflict where both changed one.
    """
    result: dict[str, str] = {}
    conflicts: list[str] = []
    for path in sorted({*ours, *theirs}):
        mine, other = ours.get(path), theirs.get(path)
        if mine == other or mine in {was.get(path) for was in ours_were}:
            chosen = other
        elif other in {was.get(path) for was in theirs_were}:
            chosen = mine
        else:
            conflicts.append(path)
            continue
        if chosen is not None:
            result[path] = chosen
    if conflicts:
        more = f" and {len(conflicts) - 1} more" if conflicts[1:] else ""
        raise Conflict(
            f"{conflicts[0]}{more} changed here and on the remote; nothing was sent; bring the remote's state into "
            "this work tree, and the next run publishes."
        )
    return result


def tree_with(git: Git, base: str, wanted: Versions, pages: Pages, environment: Mapping[str, str] | None = None) -> str:
    """The tree of `base` with our files as `wanted` says. The objects of `pages` that are new are written."""
    present = versions_in(git, base)
    for path, oid in wanted.items():
        if oid != present.get(path) and path in pages.contents and blob_id(pages.contents[path]) == oid:
            git.run("hash-object", "-w", "-t", "blob", "--stdin", input=pages.contents[path], environment=environment)
    with scratch_index(git, base) as index:
        git.run(
            "update-index",
            "-z",
            "--index-info",
            input=_index_info(present, wanted),
            environment={**index, **(environment or {})},
        )
        return git.run("write-tree", environment={**index, **(environment or {})}).decode().strip()


@contextmanager
def scratch_index(git: Git, base: str) -> Iterator[dict[str, str]]:
    """The environment of an index of our own that holds `base`."""
    with tempfile.TemporaryDirectory(prefix="reflect-index-") as folder:
        environment = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.run("read-tree", base, environment=environment)
        yield environment


def sync_index(git: Git, commit: str) -> None:
    """Let the person's index say of our files what `commit` says; every other entry stays as it was staged."""
    wanted = versions_in(git, commit)
    shown = git.run("ls-files", "-z", "--stage", "--", *OURS).decode("utf-8", "surrogateescape")
    entries = [entry.split("\t", 1) for entry in shown.split("\0") if entry]
    staged = {path: about.split(" ")[1] for about, path in entries}
    if staged != wanted:
        git.run("update-index", "-z", "--index-info", input=_index_info(staged, wanted))


def _index_info(present: Versions, wanted: Versions) -> bytes:
    gone = [f"0 {'0' * 40}\t{path}" for path in present if path not in wanted]
    new = [f"100644 {oid}\t{path}" for path, oid in sorted(wanted.items()) if present.get(path) != oid]
    return "".join(f"{line}\0" for line in (*gone, *new)).encode("utf-8", "surrogateescape")


def _refuse_links(root: Path) -> None:
    folder = root / FOLDER
    for place in (folder, *sorted(folder.rglob("*"))):
        name = place.relative_to(root)
        if place.is_symlink():
            raise PublishError(f"{name} is a symbolic link; nothing was committed; put a real file there.")
        if place.name == ".git":
            raise PublishError(f"{name.parent} is a repository of its own; nothing was committed; move it elsewhere.")


def _content(root: Path, path: str) -> bytes | None:
    try:
        return read_regular(root / path)
    except FileNotFoundError:
        return None
    except (OSError, PageError) as error:
        raise PublishError(f"{path!r} cannot be written back ({error}); nothing was committed.") from error
