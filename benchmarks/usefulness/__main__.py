"""`python -m benchmarks.usefulness sheet REPOSITORY FOLDER`, then `... score FOLDER ONE.csv TWO.csv`."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.evidence import Floor, Proof
from benchmarks.plain import ingest_without_prefect
from benchmarks.usefulness.agreement import agreement, disagreements, read_verdicts, unjudged
from benchmarks.usefulness.cards import Sources, control_cards, page_cards, sheet
from reflect.errors import ReflectError
from reflect.pipeline.intake import take_in
from reflect.settings import Settings
from reflect.triage.engines import engine_named
from reflect.workspace import Workspace

FLOOR = 0.75
"""The share of pages that both judges must find useful."""

_HOW = """\
Every page that the extractive engine published by itself in one real repository, judged by two who did not see each
other's verdicts, from the page and its evidence alone, against `benchmarks/usefulness/rubric.md`. Controls are cards of
sentences drawn at random from the same evidence, mixed in unmarked: a judge who finds everything useful shows there."""

CARDS, KEY = "cards.md", "key.json"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.usefulness", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("sheet", help="ingest a clone of REPOSITORY and write the cards into FOLDER")
    make.add_argument("repository", type=Path)
    make.add_argument("folder", type=Path)
    make.add_argument("--controls", type=int, default=10)
    make.add_argument("--seed", type=int, default=1)
    read = commands.add_parser("score", help="compare what two judges wrote")
    read.add_argument("folder", type=Path)
    read.add_argument("verdicts", type=Path, nargs=2)
    read.add_argument("--record", action="store_true", help="write the section of docs/evidence.md")
    chosen = parser.parse_args(arguments)
    if chosen.command == "sheet":
        return _sheet(chosen.repository, chosen.folder, chosen.controls, chosen.seed)
    return _score(chosen.folder, *chosen.verdicts)


def _sheet(repository: Path, folder: Path, controls: int, seed: int) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    clone = folder / "clone"
    subprocess.run(["git", "clone", "-q", str(repository.resolve()), str(clone)], check=True)
    workspace = Workspace.open(clone, Settings(state_dir=folder / "state"))
    batch = take_in(workspace, engine_named(workspace.config.engine, workspace.config)).batch
    _, before = workspace.wiki.read_pages()
    ingest_without_prefect(workspace)
    _, after = workspace.wiki.read_pages()
    published = ((page, before[path].body if path in before else "") for path, page in after.items())
    pages = list(page_cards(published, Sources(batch)))
    statements = (statement for card in pages for statement in card.statements)
    text, origins = sheet([*pages, *control_cards(batch, statements, controls, seed)], seed)
    rubric = Path(__file__).with_name("rubric.md").read_text(encoding="utf-8")
    (folder / CARDS).write_text(f"{rubric}\n# The cards\n\n{text}", encoding="utf-8")
    (folder / KEY).write_text(json.dumps(origins, indent=1), encoding="utf-8")
    shutil.rmtree(clone)
    print(
        f"{len(pages)} pages and {len(origins) - len(pages)} controls in {folder / CARDS}; judges must not see {KEY}."
    )
    return 0


def _score(folder: Path, first: Path, second: Path) -> int:
    origins = json.loads((folder / KEY).read_text(encoding="utf-8"))
    one, two = read_verdicts(first), read_verdicts(second)
    if missing := unjudged(one, two):
        raise ReflectError(f"{len(missing)} items were judged by one judge alone, the first is {missing[0]}.")
    useful = agreement(one, two, origins, cards=True, controls=False)
    controls = agreement(one, two, origins, cards=True, controls=True)
    rows = {
        "pages that are useful": useful,
        "statements worth keeping": agreement(one, two, origins, cards=False, controls=False),
        "controls that are useful": controls,
        "control statements worth keeping": agreement(one, two, origins, cards=False, controls=True),
    }
    table = ["| judged blind | first judge | second judge | both | either | kappa |", "|---|---|---|---|---|---:|"]
    for name, row in rows.items():
        shares = " | ".join(row.share(kept) for kept in (row.first, row.second, row.both, row.either))
        table.append(f"| {name} | {shares} | {row.kappa:.2f} |")
    told = [f"- {line}" for line in disagreements(one, two, origins)]
    floors = [
        Floor.at_least(f"share of {useful.items} pages that the {which} judge finds useful", share, FLOOR)
        for which, share in (("first", useful.kept(useful.first)), ("second", useful.kept(useful.second)))
    ]
    return Proof(
        "usefulness",
        "Pages worth reading",
        "python -m benchmarks.usefulness score",
        floors,
        "\n".join([_HOW, "", *table, "", "Where the two disagree:", "", *(told or ["- nowhere"])]),
    ).show()


if __name__ == "__main__":
    raise SystemExit(main())
