"""Lint of many pages against reading and YAML-parsing the same files, and how it grows with their number."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import frontmatter

from examples.sessions import GitRepository
from reflect.lint.mend import mend
from reflect.lint.run import lint
from reflect.settings import Settings
from reflect.workspace import Workspace

PAGES = (1250, 2500, 5000)
COMMITS = 500
ROUNDS = 5
LIMIT = 3.0
_NOW = 1_777_800_000
_WORDS = "cache webhook retry queue order price index part budget worker gateway ledger session page limit".split()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print CPU seconds and ratios for wikis of 1,250, 2,500 and 5,000 pages of 2.5 KB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=PAGES)
    options = parser.parse_args(arguments)
    taken: dict[int, float] = {}
    for pages in options.pages:
        with tempfile.TemporaryDirectory(prefix="reflect-bench-") as folder:
            taken[pages] = _measure(Path(folder), pages)
    if len(taken) > 1:
        (fewest, least), (most, longest) = min(taken.items()), max(taken.items())
        print(f"lint, {most / fewest:g} times the pages: {longest / least:.1f} times the time")


def _measure(folder: Path, pages: int) -> float:
    """Seconds that a lint of a wiki takes whose quotes were looked up before."""
    workspace = _wiki(folder, pages)
    shutil.rmtree(workspace.settings.state / "lint")
    first = _seconds(lambda: lint(workspace))
    again, plain = [], []
    for _ in range(ROUNDS):  # in turns, so that a busy machine slows both alike
        plain.append(_seconds(lambda: _read(workspace.wiki.folder)))
        again.append(_seconds(lambda: lint(workspace)))
    print(
        f"lint, {pages} pages: {min(again):.2f} s, the first time {first:.2f} s; reading and parsing them "
        f"{min(plain):.2f} s: {min(again) / min(plain):.2f} times, the first time {first / min(plain):.2f} "
        f"(limit {LIMIT:g})"
    )
    return min(again)


def _read(wiki: Path) -> None:
    for file in wiki.rglob("*.md"):
        with file.open(encoding="utf-8") as stream:
            frontmatter.load(stream)


def _wiki(folder: Path, pages: int) -> Workspace:
    """A wiki in good health: every page cites commits, is led to and leads on, and says who may see it."""
    repository = GitRepository.create(folder / "shop")
    shas = _history(repository.path)
    settings = Settings(state_dir=folder / "state", source_date_epoch=_NOW)
    project = Workspace.open(repository.path, settings).project.project_id
    for number in range(pages):
        file = repository.path / ".reflect" / "wiki" / _path(number % pages)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_page(number, pages, shas, project), encoding="utf-8")
    workspace = Workspace.open(repository.path, settings)
    mend(workspace, lint(workspace).findings)
    return workspace


def _history(root: Path) -> list[str]:
    """The ids of `COMMITS` commits, each of which says a sentence of its own."""
    said = "".join(
        f"commit refs/heads/main\ncommitter Ada <ada@example.org> {_NOW - COMMITS + number} +0000\n"
        f"data {len(_sentence(number)) + 1}\n{_sentence(number)}\n"
        for number in range(COMMITS)
    )
    subprocess.run(["git", "-C", str(root), "fast-import", "--quiet"], input=said.encode(), check=True)
    done = subprocess.run(["git", "-C", str(root), "rev-list", "--reverse", "main"], check=True, capture_output=True)
    return done.stdout.decode().split()


def _sentence(number: int) -> str:
    return f"The {_WORDS[number % len(_WORDS)]} of part {number} is kept because measurement {number * 7} said so."


def _path(number: int) -> str:
    return f"category-{number % 20}/page-{number}.md"


def _page(number: int, pages: int, shas: Sequence[str], project: str) -> str:
    cited = [(number * 5 + step) % len(shas) for step in range(5)]
    sources = "".join(f'  - commit: "{shas[one][:12]}"\n' for one in cited)
    quotes = "\n\n".join(f"> {_sentence(one)} (commit {shas[one][:12]})" for one in cited)
    prose = "\n\n".join(f"{_point(number, line)} (commit {shas[cited[0]][:12]})." for line in range(12))
    return (
        f"---\ncreated: 2026-05-01\nupdated: 2026-05-02\nsources:\n{sources}tags: [retries, gateway]\nstatus: active\n"
        f"related:\n  - {_path((number + 1) % pages)}\n  - {_path((number + 7) % pages)}\nmemory_type: fact\n"
        f'scope: project\nproject_id: "{project}"\nworkspace_root: "."\nscope_confidence: 0.9\n'
        f"scope_source: extraction_default\norigin: clean\nevidence: full\nalways_on: false\nlearnable: false\n---\n\n"
        f"# Page {number} of the {_WORDS[number % len(_WORDS)]}\n\n## What was said\n\n{quotes}\n\n"
        f"## How it is\n\n{prose}\n\n"
        f"A token of its `apiKey` is never logged; see [the next]({Path(_path((number + 20) % pages)).name}).\n"
    )


def _point(number: int, line: int) -> str:
    words = " ".join(_WORDS[(number * 3 + line * 5 + at) % len(_WORDS)] for at in range(16))
    return f"Point {line} of page {number}: {words}"


def _seconds(work: Callable[[], object]) -> float:
    """CPU seconds, git's included: others on the machine do not count."""
    before = os.times()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


if __name__ == "__main__":
    main()
