"""`reflect evaluate`: does search find what it should, and show nothing it must not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from reflect.cli.options import HERE, AsJson, Repository
from reflect.errors import ConfigurationError
from reflect.search.evaluate.files import read_probes, read_questions
from reflect.search.evaluate.measure import Evaluation, evaluate_probes, evaluate_questions, workspaces_of
from reflect.search.evaluate.pool import Pool
from reflect.workspace import Workspace

Probes = Annotated[Path | None, typer.Option("--probes", metavar="FILE", help="Probes, one JSON object a line.")]
Questions = Annotated[
    Path | None, typer.Option("--questions", metavar="FILE", help="Questions and the pages that answer them (YAML).")
]


def evaluate(
    probes: Probes = None,
    questions: Questions = None,
    min_recall: Annotated[float, typer.Option("--min-recall", min=0, max=1, help="Least recall@3.")] = 0.85,
    repo: Repository = HERE,
    as_json: AsJson = False,
) -> int:
    """Measure search by probes (what must and must not be found) or by questions with known answers.

    Leaves with 1 where something leaks, is missed, proves nothing or is not covered by enough probes. Examples:
    `reflect evaluate --probes probes.jsonl`, `reflect evaluate --questions questions.yaml`.
    """
    if probes is None and questions is None:
        raise ConfigurationError("Nothing to evaluate; give `--probes FILE`, `--questions FILE`, or both.")
    workspace = Workspace.open(repo)
    done: dict[str, Evaluation] = {}
    if questions is not None:
        done["questions"] = evaluate_questions(read_questions(questions), workspace, min_recall)
    if probes is not None:
        asked = read_probes(probes)
        done["probes"] = evaluate_probes(asked, Pool.of(workspaces_of(workspace)), workspace.registry)
    findings = [finding for evaluation in done.values() for finding in evaluation.findings]
    if as_json:
        print(json.dumps({name: one.figures for name, one in done.items()} | {"findings": findings}))
    else:
        _show(done, findings)
    return 1 if findings else 0


def _show(done: dict[str, Evaluation], findings: list[str]) -> None:
    for name, evaluation in done.items():
        print(f"{name}:")
        for key, value in evaluation.figures.items():
            print(f"  {key}: {_said(value)}")
    print("\n".join(findings) if findings else "Nothing was found wrong.")


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {count}" for key, count in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(value) or "none"
    return str(value)
