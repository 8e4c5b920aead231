"""Whether the extractive engine's pages say what was said, no more and no less, the newest statement in front."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import yaml

from benchmarks.plain import ingest_without_prefect
from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession
from reflect.folding import fold
from reflect.settings import Settings
from reflect.wiki.store import Wiki
from reflect.workspace import Workspace

CORRECTION, BRANCH, HYPOTHESIS, OMITTED = (
    "later correction",
    "branch not merged",
    "hypothesis as cause",
    "omitted decision",
)
_QUOTE = re.compile(r"^> (?P<text>.*) \((?:checkpoint|commit) [^)]*\)$")
_SENTENCE = re.compile(r"[^.]+")


@dataclass(frozen=True)
class Case:
    """One way to go wrong: what was said, session by session, and what must not be made of it."""

    family: str
    number: int
    said: Sequence[str]
    wrong: str


def cases() -> list[Case]:
    loaded = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))
    return [
        Case(family, number, tuple(one["said"]), one["wrong"])
        for family, listed in loaded.items()
        for number, one in enumerate(listed)
    ]


def failures(every: Sequence[Case]) -> dict[tuple[str, int], str]:
    """What is wrong with the pages about each case; a case that is not in it passed."""
    with tempfile.TemporaryDirectory() as place:
        _plant(every, Path(place) / "said")
        workspace = Workspace.open(Path(place) / "said", Settings(state_dir=Path(place) / "state"))
        workspace = replace(workspace, config=workspace.config.model_copy(update={"max_new_pages": 2 * len(every)}))
        ingest_without_prefect(workspace)
        quotes = list(_quotes(workspace.wiki))
    found = {(case.family, case.number): _wrong_about(case, quotes) for case in every}
    spoken = fold(" ".join(text for case in every for text in case.said))
    strange = [quote.text for quote in quotes if fold(quote.text) not in spoken]
    if strange:
        raise AssertionError(f"pages quote what nobody said: {strange[:3]}")
    return {key: wrong for key, wrong in found.items() if wrong}


@dataclass(frozen=True)
class _Quote:
    """One quoted statement on a page, and the heading it stands below."""

    text: str
    heading: str


def _wrong_about(case: Case, quotes: Sequence[_Quote]) -> str:
    shown = {fold(quote.text).rstrip("."): quote.heading for quote in quotes}
    said = {fold(sentence).rstrip(".").casefold() for text in case.said for sentence in _SENTENCE.findall(text)}
    made = fold(case.wrong).rstrip(".").casefold()
    if made not in said and made in {text.casefold() for text in shown}:
        return "a page says what is wrong"
    if case.family == BRANCH:
        return "it stands on a page" if any(fold(text) in shown for text in case.said) else ""
    if case.family == HYPOTHESIS:
        return "a guess has a place on a page" if any(fold(text) in shown for text in case.said) else ""
    wanted = [fold(sentence).rstrip(".") for text in case.said for sentence in _SENTENCE.findall(text)]
    if case.family == CORRECTION:
        older, newer = wanted
        if newer not in shown:
            return "the newest statement is on no page"
        return "" if shown.get(older, "Earlier") == "Earlier" else f"the older one stands below {shown[older]!r}"
    missing = [text for text in wanted if text not in shown]
    return f"on no page: {missing[0]!r}" if missing else ""


def _quotes(wiki: Wiki) -> Iterator[_Quote]:
    for page in sorted(wiki.folder.rglob("*.md")):
        heading = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            heading = line[3:] if line.startswith("## ") else heading
            if match := _QUOTE.match(line):
                yield _Quote(match["text"], heading)


def _plant(every: Sequence[Case], folder: Path) -> None:
    repository = GitRepository.create(folder)
    repository.commit("feat: begin", {"README.md": "# said\n"}, START - timedelta(hours=1))
    checkpoints = []
    for case in every:
        if case.family == BRANCH:
            repository.git("checkout", "-q", "-b", f"spike/{case.number}")
            repository.commit(f"feat: try part {case.number}\n\n{case.said[0]}\n", {f"{case.number}.py": "n = 1\n"})
            repository.git("checkout", "-q", "main")
            continue
        for step, said in enumerate(case.said):
            name = hashlib.sha256(f"{case.family} {case.number} {step}".encode()).hexdigest()[:12]
            at = START + timedelta(days=step, minutes=case.number)
            talk = ClaudeTranscript(name, cwd=str(folder), at=at)
            talk.prompt("look at this part").reply("I looked at it and changed it.").prompt(said).reply("Done.")
            checkpoints.append((name, [StoredSession(talk.encode(), name, at)]))
    repository.checkpoint_branch(checkpoints)
