"""The probe of a night over 200 unchanged repositories, against a bare loop of `git for-each-ref` over the same."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from examples.sessions import GitRepository
from reflect.freshness import LastRun, fingerprint, refs_for
from reflect.organisation.estate import Estate

REPOSITORIES = 200
ROUNDS = 3
LIMIT = 3.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REFLECT_STATE_DIR"] = f"{folder}/state"
        paths = [_unchanged(Path(folder) / f"repository-{number:03}") for number in range(REPOSITORIES)]
        file = Path(folder) / "organisation.yaml"
        projects = [{"id": path.name, "repository": str(path)} for path in paths]
        file.write_text(yaml.safe_dump({"name": "benchmark", "projects": projects}), encoding="utf-8")
        estate = Estate.load(file)
        if any(estate.news(project).is_new for project in estate.projects):
            raise SystemExit("a repository that nothing happened in was called new: there is nothing to measure")
        bare = min(_seconds(lambda: _loop(paths)) for _ in range(ROUNDS))
        probe = min(_seconds(lambda: [estate.news(project) for project in estate.projects]) for _ in range(ROUNDS))
    print(
        f"freshness of {REPOSITORIES} unchanged repositories: {probe:.2f} s, bare for-each-ref {bare:.2f} s: "
        f"{probe / bare:.2f} times (limit {LIMIT:g})"
    )


def _unchanged(path: Path) -> Path:
    made = GitRepository.create(path)
    made.commit("feat: begin", {"a": "1"})
    (path / ".reflect").mkdir()
    refs = refs_for("refs/heads/main")
    last = LastRun(
        last_checkpoint=None,
        last_git_sha=None,
        timestamp="",
        run="run",
        project=path.name,
        engine="extractive",
        refs=refs,
        fingerprint=fingerprint(path, refs) or "",
        ledger="",
        pending=0,
        landed=False,
        unfinished=False,
    )
    (path / ".reflect" / ".last_run").write_bytes(last.encode())
    return path


def _loop(paths: Sequence[Path]) -> None:
    for path in paths:
        subprocess.run(["git", "-C", str(path), "for-each-ref"], check=True, capture_output=True)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
