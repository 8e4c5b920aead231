"""The repository's collection: what qmd is given to index, and keeping it up to date.

qmd never sees the wiki itself. It gets a copy of the pages the project may see, redacted like our own index: so it
cannot hold what this project must not find, nor a secret, nor the archive, nor a file behind a link; and names that qmd
passes over or confuses (`build/`, letters it folds) are given others.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import sqlite3
from collections import namedtuple
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from reflect.search.qmd.process import Fault, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NamedTuple

    from reflect.search.qmd.program import Program

    class State(NamedTuple):
        """What qmd's index holds: the pages of `generation` of ours; `vectors` says whether all of them have one."""

        generation: str
        pages: int
        vectors: bool
        refreshed_at: str
        fault: str

    class PageText(NamedTuple):
        place: str
        path: str
        title: str
        text: str

else:
    State = namedtuple("State", "generation pages vectors refreshed_at fault")
    PageText = namedtuple("PageText", "place path title text")

MODEL_VARIABLE = "REFLECT_QMD_MODEL"
EMBED_S = 1800.0
_SAFE = re.compile(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*/)+[a-z0-9]+(?:-[a-z0-9]+)*\.md")
_PASSED_OVER = frozenset({"node_modules", "vendor", "dist", "build"})
_PASSING = ("constraint failed", "vtable constructor failed", "database is locked")
_WITHOUT_VECTORS = """
SELECT count(*) FROM documents WHERE active = 1 AND hash NOT IN (SELECT hash FROM content_vectors)
"""


class Collection:
    """The collection of one work tree, in a folder of its own below that of its index."""

    def __init__(self, folder: Path, root: Path, program: Program) -> None:
        self.name = collection_name(root)
        self.program = program
        self.home = folder / f"qmd-{model_key()}"
        self.pages = self.home / "pages"

    def is_registered(self) -> bool:
        return (self.home / "config" / "index.yml").is_file()

    def register(self) -> None:
        """Write qmd's configuration. Safe to repeat; a model that is missing is named all the same, so that qmd fails
        at once where it would otherwise try to fetch one for twelve minutes."""
        self.pages.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.home / "config").mkdir(exist_ok=True, mode=0o700)
        absent = str(self.home / "no-model.gguf")
        said = {
            "collections": {self.name: {"path": str(self.pages), "pattern": "**/*.md", "ignore": ["_archive/**"]}},
            "models": {"embed": str(model() or absent), "generate": absent, "rerank": absent},
        }
        _put(self.home / "config" / "index.yml", json.dumps(said, indent=2).encode())

    def state(self) -> State | None:
        try:
            return State(**json.loads((self.home / "state.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def refresh(self, generation: str, pages: Iterable[PageText], now: str) -> State:
        """Give qmd the pages of `generation`, once for all who ask at the same time. A fault is kept in the state."""
        with self._locked():
            before = self.state()
            if before is not None and before.generation == generation and not before.fault:
                return before
            self._remember(State("", before.pages if before else 0, False, now, "its last refresh was broken off"))
            try:
                state = self._refreshed(generation, list(pages), before, now)
            except (Fault, OSError) as fault:
                state = State(generation, before.pages if before else 0, False, now, str(fault))
            self._remember(state)
            return state

    def _remember(self, state: State) -> None:
        _put(self.home / "state.json", json.dumps(state._asdict()).encode())

    def _refreshed(self, generation: str, pages: list[PageText], before: State | None, now: str) -> State:
        self.register()
        changed = self._mirror(pages) or before is None or bool(before.fault)
        if changed:
            self._update(len(pages))
            self._check_count(len(pages))
        vectors = before is not None and before.vectors and not changed
        if not vectors and pages and model() is not None:
            vectors = self._embed()
        return State(generation, len(pages), vectors, now, "")

    def _update(self, pages: int) -> None:
        """`qmd update` of the one collection there is; tried once more where qmd fell over its own database."""
        for last in (False, True):
            try:
                self.call(["update"], 60 + 0.01 * pages)
                return
            except Fault as fault:
                if last or not any(passing in str(fault) for passing in _PASSING):
                    raise

    def _check_count(self, pages: int) -> None:
        """qmd says nothing of a page it passed over: what it holds is counted."""
        said = self.call(["collection", "show", self.name], 20)
        if str(self.pages) not in said:
            raise Fault(f"its collection {self.name} does not name the pages of this repository")
        listed = self.call(["ls", self.name], 20).count(f"qmd://{self.name}/")
        if listed != pages:
            raise Fault(f"it indexed {listed} of {pages} pages")

    def _embed(self) -> bool:
        """Give every page its vectors. Never fatal: words find pages without them. qmd's exit code says nothing."""
        try:
            self.call(["embed", "--timeout", str(int(EMBED_S // 60))], EMBED_S)
            return self.without_vectors() == 0
        except Fault:
            return False

    def without_vectors(self) -> int:
        """How many pages of qmd's index have no vector."""
        with closing(sqlite3.connect(f"file:{quote(str(self.home / 'index.sqlite'))}?mode=ro", uri=True)) as index:
            try:
                return int(index.execute(_WITHOUT_VECTORS).fetchone()[0])
            except sqlite3.Error as error:
                raise Fault(f"its index cannot be read ({error})") from error

    def call(self, arguments: list[str], timeout_s: float) -> str:
        return run(self.program.node, self.program.script, arguments, home=self.home, timeout_s=timeout_s)

    def _mirror(self, pages: Iterable[PageText]) -> bool:
        """Put the copies in place; whether anything changed. A page that is empty has none: qmd would keep its old."""
        wanted = {mirror_name(page): _as_file(page) for page in pages}
        changed = False
        for file in sorted(self.pages.rglob("*")):
            if file.is_file() and file.relative_to(self.pages).as_posix() not in wanted:
                file.unlink()
                changed = True
        for name, content in sorted(wanted.items()):
            file = self.pages / name
            if not file.is_file() or file.read_bytes() != content:
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                _put(file, content)
                changed = True
        return changed

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One at a time: two updates at once end in broken constraints."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def collection_name(root: Path) -> str:
    """`reflect-<directory name>`; the index around it belongs to one work tree, so two of a name never meet."""
    return f"reflect-{re.sub(r'[^A-Za-z0-9._-]+', '-', root.resolve().name).strip('-') or 'repository'}"


def model() -> Path | None:
    """The embedding model (`REFLECT_QMD_MODEL`, a GGUF file on this machine); None where there is none."""
    named = os.environ.get(MODEL_VARIABLE)
    path = Path(named).expanduser().absolute() if named else None
    return path if path is not None and path.is_file() else None


def model_key() -> str:
    """What tells the index of one model from that of another: vectors of two do not mix."""
    path = model()
    if path is None:
        return "words"
    state = path.stat()
    return hashlib.sha256(f"{path}\0{state.st_size}\0{state.st_mtime_ns}".encode()).hexdigest()[:12]


def mirror_name(page: PageText) -> str:
    """What the copy of a page is called."""
    if page.place == "wiki" and _SAFE.fullmatch(page.path) and not _PASSED_OVER & set(page.path.split("/")):
        return page.path
    return f"{page.place}-{hashlib.sha256(page.path.encode('utf-8', 'replace')).hexdigest()[:16]}.md"


def _as_file(page: PageText) -> bytes:
    heading = f"# {page.title}"
    text = page.text if page.text.lstrip().startswith(heading) else f"{heading}\n\n{page.text}"
    return text.encode("utf-8", "replace")


def _put(file: Path, content: bytes) -> None:
    fresh = file.with_name(f".{file.name}-{os.getpid()}")
    try:
        fresh.write_bytes(content)
        fresh.replace(file)
    finally:
        with suppress(FileNotFoundError):
            fresh.unlink()
