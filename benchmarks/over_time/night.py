"""One night of a replay: what it changed, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.over_time.replay import Evening, Replay
from benchmarks.plain import ingest_without_prefect
from reflect.model import Source
from reflect.search.place import INDEX_FILE, search_folder
from reflect.settings import Settings
from reflect.wiki.page import Page
from reflect.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Night:
    """What one night read, did and left. `stirred` are pages it rewrote with nothing new to cite; `again` counts the
    files that a second run of the same evening changed.
    """

    evidence: int
    created: int
    updated: int
    resolved: int
    archived: int
    pages: int
    in_archive: int
    index_bytes: int
    search_bytes: int
    seconds: float
    stirred: tuple[str, ...]
    again: int


def spend_night(replay: Replay, evening: Evening, state: Path) -> Night:
    """Move `replay` on to `evening` and ingest it twice, as if it were that evening."""
    replay.move_to(evening)
    settings = Settings(state_dir=state, source_date_epoch=evening.at)
    workspace = Workspace.open(replay.folder, settings)
    _, before = workspace.wiki.read_pages()
    began = time.perf_counter()
    report = ingest_without_prefect(workspace).report
    seconds = time.perf_counter() - began
    wiki, after = workspace.wiki.read_pages()
    left = _files(workspace.folder)
    ingest_without_prefect(workspace)
    actions = [page.action for page in report.pages]
    return Night(
        evidence=len(report.evidence),
        created=actions.count("create"),
        updated=actions.count("update"),
        resolved=actions.count("resolve"),
        archived=actions.count("archive"),
        pages=len(wiki.pages),
        in_archive=len(wiki.archived),
        index_bytes=len(left[Path("wiki/index.md")]),
        search_bytes=(search_folder(settings.state, replay.folder) / INDEX_FILE).stat().st_size,
        seconds=seconds,
        stirred=tuple(_stirred(before, after, {Source.of(item.id) for item in report.evidence})),
        again=_differences(left, _files(workspace.folder)),
    )


def _stirred(before: Mapping[str, Page], after: Mapping[str, Page], new: set[Source]) -> Iterator[str]:
    """The pages whose body is another than before although none of their sources is new."""
    for path, page in after.items():
        if path in before and page.body != before[path].body and not new.intersection(page.sources):
            yield path


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _differences(one: Mapping[Path, bytes], two: Mapping[Path, bytes]) -> int:
    return sum(one.get(path) != two.get(path) for path in one.keys() | two.keys())
