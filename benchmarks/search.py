"""Search over many pages: in process, as a whole command, and against Python's own start."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.timing import in_turns
from reflect.cli.status_at_once import remembered
from reflect.search.answer import Query
from reflect.search.index import Index
from reflect.search.place import INDEX_FILE, search_folder
from reflect.search.quick import ask
from reflect.search.refresh import refresh
from reflect.settings import Settings
from reflect.workspace import Workspace

QUERIES = ("webhook retry", "why is the cache cold at night", "parse_order_line", "src/orders/parse.py", "entry 4711")
WORDS = (
    "the cache of orders is cold when a webhook retry fails and parse_order_line in src/orders/parse.py raises".split()
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print milliseconds and ratios for a wiki of `--pages` pages of 2.5 KB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="reflect-bench-") as folder:
        _measure(Path(folder), options.pages, options.rounds)


def _measure(folder: Path, pages: int, rounds: int) -> None:
    root = folder / "wiki-of-many"
    settings = Settings(state_dir=folder / "state")
    workspace = _repository(root, pages, settings)
    began = time.perf_counter()
    refresh(workspace)
    first = time.perf_counter() - began
    time.sleep(0.1)
    began = time.perf_counter()
    refresh(workspace)
    again = time.perf_counter() - began
    print(f"search, {pages} pages: first index {first:.2f} s, nothing changed {again * 1000:.0f} ms")
    warm = _warm(workspace, settings, root)
    for query, milliseconds in warm.items():
        print(f"  in process, warm: {milliseconds:6.1f} ms  {query}")
    _whole_command(root, settings, rounds, max(warm.values()))


def _warm(workspace: Workspace, settings: Settings, root: Path) -> dict[str, float]:
    index = Index.existing(search_folder(settings.state, root) / INDEX_FILE)
    assert index is not None
    taken: dict[str, float] = {}
    for query in QUERIES:
        times: list[float] = []
        for _ in range(9):
            began = time.perf_counter()
            answer = ask(index, Query(query), workspace.project.project_id, settings.state, root)
            times.append((time.perf_counter() - began) * 1000)
        assert answer.hits
        taken[query] = statistics.median(times)
    index.close()
    return taken


def _whole_command(root: Path, settings: Settings, rounds: int, warm_ms: float) -> None:
    reflect = str(Path(sys.executable).with_name("reflect"))
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # As an installed package is: compiled once. The folder is the benchmark's own.
    environment |= {"REFLECT_STATE_DIR": str(settings.state), "PYTHONPYCACHEPREFIX": str(settings.state / "bytecode")}
    commands = {
        "python -c 'import sqlite3, yaml'": [sys.executable, "-c", "import sqlite3, yaml"],
        "reflect search": [reflect, "search", "webhook retry", "--repo", str(root)],
        "reflect search, 40 words": [reflect, "search", " ".join(WORDS * 3), "--repo", str(root)],
        "reflect status": [reflect, "status", "--repo", str(root)],
        "reflect session-start": [reflect, "session-start", "--repo", str(root)],
    }
    in_turns(commands, 2, environment)
    work = {"reflect status": _status_ms(root, settings), "reflect session-start": 0.0}
    timed = in_turns(commands, rounds, environment)
    base = timed["python -c 'import sqlite3, yaml'"]
    for name, one in timed.items():
        allowed = base.median * 1.5 + work.get(name, warm_ms) / 1000
        print(
            f"  {name}: median {one.median * 1000:.0f} ms, best {one.best * 1000:.0f} ms, "
            f"{one.median / base.median:.2f} times the start (allowed here: {allowed * 1000:.0f} ms)"
        )


def _status_ms(root: Path, settings: Settings) -> float:
    """Milliseconds to see that nothing has changed since `reflect status` was asked last, in this process."""
    os.environ["REFLECT_STATE_DIR"] = str(settings.state)
    times: list[float] = []
    for _ in range(9):
        began = time.perf_counter()
        assert remembered(root) is not None
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def _repository(root: Path, pages: int, settings: Settings) -> Workspace:
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    project = Workspace.open(root, settings).project.project_id
    keys = f"scope: project\nproject_id: {project}\nscope_source: extraction_default\nscope_confidence: 0.9\n"
    for number in range(pages):
        folder = root / ".reflect" / "wiki" / f"category-{number % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"page-{number}.md").write_text(_page(number, keys), encoding="utf-8")
    return Workspace.open(root, settings)


def _page(number: int, keys: str) -> str:
    """Two and a half kilobytes in which rare words stand beside words that every page has."""
    lines = [
        f"Entry {number} line {line}: {' '.join(WORDS[(number + line + at) % len(WORDS)] for at in range(6))} "
        f"w{(number * 31 + line * 7) % 997} w{(number * 17 + line) % 4999}."
        for line in range(34)
    ]
    body = "\n".join(lines)
    return f"---\nstatus: active\n{keys}---\n# Page {number} of w{number % 313}\n\n{body}\n"


if __name__ == "__main__":
    main()
