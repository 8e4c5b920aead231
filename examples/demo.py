"""`make demo`: builds the sample organisation, lives through two nights, and says where to look.

Everything happens below one folder, the ledger and Prefect's own state included; nothing of the user's is read or
changed. Progress goes to standard error, the result to standard output. Exit code 1 when anything failed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.organisation import build, next_night
from reflect.model import Outcome

MARK = ".made-by-reflect-demo"
_ACTIONS = {"create": "created", "update": "updated", "resolve": "resolved", "archive": "archived"}
_FOREIGN = ("REFLECT_", "PREFECT_", "GIT_", "SOURCE_DATE_EPOCH", "XDG_STATE_HOME")


class DemoFailed(Exception):
    """The demonstration cannot go on."""


@dataclass(frozen=True)
class Ingest:
    """One run of `reflect ingest`: the repository, the night, and what it printed."""

    repository: str
    night: int
    exit_code: int
    seconds: float
    report: Mapping[str, Any]

    def row(self) -> str:
        collected, outcomes = self.report["collected"], self.report["outcomes"]
        pages = Counter(page["action"] for page in self.report["pages"])
        numbers = [collected["sessions"], collected["commits"]]
        numbers += [outcomes[outcome.value] for outcome in Outcome]
        numbers += [pages[action] for action in _ACTIONS]
        numbers.append(self.report["review"]["queued"])
        return _line(self.night, self.repository, numbers)


_COLUMNS = ("sessions", "commits", *(outcome.value for outcome in Outcome), *_ACTIONS.values(), "queued")


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[0]).absolute() if arguments else Path(__file__).resolve().parents[1] / "demo"
    try:
        runs = _two_nights(folder)
    except DemoFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    failed = [run for run in runs if run.exit_code]
    _say_where_to_look(folder, runs)
    for run in failed:
        print(f"Night {run.night} of {run.repository} ended with exit code {run.exit_code}.", file=sys.stderr)
    return 1 if failed else 0


def _two_nights(folder: Path) -> list[Ingest]:
    _start_afresh(folder)
    _progress(f"Building three repositories below {_short(folder)} …")
    paths = build(folder)
    _progress("Prefect starts a server of its own for each run; that alone takes some seconds.")
    runs = [_ingest(folder, path, 1) for path in paths]
    _progress("The team works on for a few days …")
    next_night(folder)
    return runs + [_ingest(folder, path, 2) for path in paths]


def _start_afresh(folder: Path) -> None:
    """Empty `folder`, which an earlier demonstration made; any other folder with something in it is refused."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARK).exists():
            raise DemoFailed(
                f"{folder} holds files that no demonstration made; it was left alone: name another folder."
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    (folder / "reports").mkdir()


def _ingest(folder: Path, repository: Path, night: int) -> Ingest:
    began = time.perf_counter()
    done = _reflect(folder, "ingest", "--repo", str(repository), "--json")
    seconds = time.perf_counter() - began
    try:
        report = json.loads(done.stdout)
        run = Ingest(repository.name, night, done.returncode, seconds, report)
        run.row()
    except (ValueError, KeyError, TypeError) as error:
        last = done.stderr.strip()[-2000:]
        raise DemoFailed(
            f"`reflect ingest` on {repository.name} gave no report (exit code {done.returncode}). It said:\n{last}"
        ) from error
    (folder / "reports" / f"{repository.name}-night-{night}.json").write_text(done.stdout, encoding="utf-8")
    _progress(f"  night {night}, {repository.name}: {len(report['pages'])} pages in {seconds:.0f} s")
    return run


def _reflect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reflect.cli.main", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=Path(__file__).resolve().parents[1],
        env=environment(folder),
    )


def environment(folder: Path) -> dict[str, str]:
    """The environment of every command here: this machine's, without its settings, and with state below `folder`."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return own | {
        "REFLECT_STATE_DIR": str(folder / "state"),
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "PYTHONUTF8": "1",
    }


def _say_where_to_look(folder: Path, runs: Sequence[Ingest]) -> None:
    print(f"Two nights over three repositories:\n\n{_line('night', 'repository', _COLUMNS)}")
    for run in runs:
        print(run.row())
    queued = sum(run.report["review"]["queued"] for run in runs)
    print(f"\n{queued} claims wait for an operator's review (why: `review` in the reports).\n\nWhere to look:")
    for name in dict.fromkeys(run.repository for run in runs):
        wiki = folder / name / ".reflect" / "wiki"
        print(f"  {_short(wiki / 'index.md')}  ({len(list(wiki.glob('[!_]*/*.md')))} pages; log.md beside it)")
    print(f"  {_short(folder / 'reports')}/  (what each run did with each session and commit)")
    page = _page_to_show(folder, runs)
    if page is not None:
        print(f"\nOne page, {_short(page)}:\n\n{page.read_text(encoding='utf-8').rstrip()}")
    first = folder / runs[0].repository / ".reflect" / "wiki" / "log.md"
    if first.exists():
        print(f"\nThe log, {_short(first)}:\n\n{first.read_text(encoding='utf-8').rstrip()}")


def _line(night: object, repository: str, cells: Sequence[object]) -> str:
    """One line of the table: each cell as wide as the name of its column."""
    padded = "  ".join(f"{cell!s:>{len(name)}}" for cell, name in zip(cells, _COLUMNS, strict=True))
    return f"  {night!s:<5}  {repository:<12}  {padded}"


def _page_to_show(folder: Path, runs: Sequence[Ingest]) -> Path | None:
    """The page of the last night that rests on the most sources and is still where it was written."""
    pages = [
        (len(page["sources"]), path)
        for run in runs
        for page in run.report["pages"]
        if not page.get("digest")
        and page["action"] == "update"
        and (path := folder / run.repository / ".reflect" / "wiki" / page["path"]).exists()
    ]
    return max(pages, key=lambda pair: (pair[0], str(pair[1])))[1] if pages else None


def _short(path: Path) -> str:
    """`path` as seen from the working directory, where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
