"""What an engine finds in sixty planted sessions, and what it leaves alone.

`python -m benchmarks.knowledge [--record]`
The floors are held on the test half. The `claude` engine is measured too where ANTHROPIC_API_KEY is set.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.evidence import Floor, Proof
from benchmarks.knowledge.planted import HALVES, Half, Lesson
from benchmarks.knowledge.score import Score
from benchmarks.plain import ingest_without_prefect
from reflect.settings import Settings
from reflect.workspace import Workspace

PRECISION = 0.85
RECALL = 0.60
CATEGORIES = 0.80


def main() -> int:
    scores = {(engine, half): measure(engine, Half.load(half)) for engine in _engines() for half in HALVES}
    test = scores["extractive", "test"]
    floors = [
        Floor.at_least("precision of the extractive engine, test half", test.precision, PRECISION),
        Floor.at_least("recall, test half", test.recall, RECALL),
        Floor.at_least("category accuracy, test half", test.category_accuracy, CATEGORIES),
        Floor.none("lessons on two pages, test half", test.doubled),
    ]
    for half in HALVES:
        forbidden = scores["extractive", half].forbidden
        floors.append(Floor.none(f"finished to-dos, jokes, harness and wiki text, anywhere, {half} half", forbidden))
    title = "Planted lessons: what is found, and what is left alone"
    details = "\n".join(_details(scores))
    return Proof("knowledge", title, "python -m benchmarks.knowledge", floors, details).show()


def measure(engine: str, half: Half) -> Score:
    """Plant `half` in a new repository, ingest it with `engine`, and read what it left."""
    with tempfile.TemporaryDirectory() as place:
        half.plant(Path(place) / "planted")
        settings = Settings.of_environment().model_copy(update={"state_dir": Path(place) / "state"})
        workspace = Workspace.open(Path(place) / "planted", settings)
        configured = replace(workspace, config=workspace.config.model_copy(update={"engine": engine}))
        ingest_without_prefect(configured)
        return Score.of(half, configured)


def _engines() -> tuple[str, ...]:
    return ("extractive", "claude") if os.environ.get("ANTHROPIC_API_KEY") else ("extractive",)


def _details(scores: dict[tuple[str, str], Score]) -> Iterator[str]:
    yield "| engine, half | kind of lesson | planted | found | recall | category | on two pages |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for (engine, half), score in scores.items():
        for kind in dict.fromkeys(one.kind for one in score.half.lessons):
            planted, found = _of_kind(kind, score.half.lessons), _of_kind(kind, score.found)
            misplaced, doubled = _of_kind(kind, score.misplaced), _of_kind(kind, score.doubled)
            row = f"{planted} | {found} | {found / planted:.2f} | {1 - misplaced / max(1, found):.2f} | {doubled}"
            yield f"| {engine}, {half} | {kind} | {row} |"
    yield "\n| engine, half | pages in | published | right | precision |\n|---|---|---:|---:|---:|"
    for (engine, half), score in scores.items():
        for name in (*sorted({page.category for page in score.own}), "all categories"):
            own = [page for page in score.own if name in (page.category, "all categories")]
            right = sum(page not in score.wrong for page in own)
            yield f"| {engine}, {half} | {name} | {len(own)} | {right} | {right / len(own):.2f} |"
    if len(scores) == len(HALVES):
        yield "\nThe `claude` engine was not measured: no ANTHROPIC_API_KEY was set."
    yield "\nNamed for the tuning half alone: nobody tunes on what they have not read."
    tuning = {key: score for key, score in scores.items() if key[1] == "tuning"}
    yield from _listed(tuning, "Missed", lambda score: [one.words for one in score.missed])
    yield from _listed(tuning, "Wrong", lambda score: [page.path for page in score.wrong])
    yield from _listed(tuning, "In a wrong category", lambda score: [one.words for one in score.misplaced])
    yield from _listed(tuning, "Never allowed", lambda score: score.forbidden)


def _of_kind(kind: str, lessons: Sequence[Lesson]) -> int:
    return sum(lesson.kind == kind for lesson in lessons)


def _listed(scores: dict[tuple[str, str], Score], what: str, pick: Callable[[Score], Sequence[str]]) -> Iterator[str]:
    for (engine, half), score in scores.items():
        if picked := pick(score):
            yield f"\n{what}, {engine}, {half}: " + "; ".join(f"“{one}”" for one in picked) + "."


if __name__ == "__main__":
    sys.exit(main())
