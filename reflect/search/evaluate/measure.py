"""From probes and questions to figures, and to what falls short."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from reflect.scope.projects import Project, Registry
from reflect.search.answer import Query
from reflect.search.evaluate.files import Probe, Question
from reflect.search.evaluate.pool import Pool
from reflect.search.find import search
from reflect.workspace import Workspace

SHOWN = 5
CANDIDATES = 20
"""Rows that are shown, and rows that are candidates: one that is not among these without scope proves nothing."""

LEAK_PROBES, POSITIVE_PROBES, HOMELESS_PROBES = 5, 2, 3
"""At least so many for each project that has its memory on, and so many that belong to no project."""

NO_PROJECT = "__none__"


@dataclass
class Evaluation:
    """What was measured; `findings` says in sentences what is wrong."""

    figures: dict[str, Any] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


@dataclass
class _Tally:
    """What the probes came to so far."""

    ranks: list[int | None] = field(default_factory=list)
    shown: list[int | None] = field(default_factory=list)
    kept_from_candidates: list[bool] = field(default_factory=list)
    kept_from_prompt: list[bool] = field(default_factory=list)
    drift: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    projects: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    leaks_of: Counter[str] = field(default_factory=Counter)
    positives_of: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def evaluate_probes(probes: Sequence[Probe], pool: Pool, registry: Registry) -> Evaluation:
    """Ask every probe, with scope and without, and say what each proves."""
    tally = _Tally()
    for probe in probes:
        _ask(probe, pool, registry, tally)
    _require_coverage(tally, registry)
    return Evaluation(_figures(tally, len(probes)), tally.findings)


def evaluate_questions(questions: Sequence[Question], workspace: Workspace, least_recall: float) -> Evaluation:
    """Ask every question of the wiki's pages: recall@3 and the mean reciprocal rank of the first answer."""
    ranks: list[int | None] = []
    missed: list[str] = []
    for question in questions:
        query = Query(question.question, wiki_only=True, limit=10, backend="text")
        found = [hit.path for hit in search(workspace, query).hits]
        ranks.append(next((rank for rank, path in enumerate(found, start=1) if path in question.pages), None))
        if ranks[-1] is None or ranks[-1] > 3:
            missed.append(question.question)
    recall = _recall(ranks, 3)
    figures = {"questions": len(questions), "recall@3": recall, "mrr": _mrr(ranks), "missed": missed}
    short = [f"recall@3 is {recall:.3f}, below {least_recall:g}."] if recall < least_recall else []
    return Evaluation(figures, short)


def _ask(probe: Probe, pool: Pool, registry: Registry, tally: _Tally) -> None:
    detected = registry.detect(probe.workspace)
    if probe.workspace is not None and detected is None:
        tally.findings.append(f"{probe.where}: the workspace {probe.workspace} belongs to no project.")
        return
    asking = None if detected is None else detected.project
    name = NO_PROJECT if asking is None else asking.project_id
    tally.projects[name] += 1
    began = time.perf_counter()
    shown, reason = _shown(probe, pool, asking)
    tally.seconds.append(time.perf_counter() - began)
    tally.reasons[reason] += 1
    if probe.expected_fact_id is not None:
        _score_positive(probe, probe.expected_fact_id, pool, asking, shown, tally)
    proved = [_score_negative(probe, one, pool, asking, shown, tally) for one in probe.expected_excluded_fact_ids]
    tally.leaks_of[name] += any(proved)
    tally.positives_of[name] += not probe.expected_excluded_fact_ids


def _shown(probe: Probe, pool: Pool, asking: Project | None) -> tuple[list[tuple[str, str]], str]:
    """What the real search shows, as project and id, and how it ended."""
    workspace = None if asking is None else pool.workspaces.get(asking.project_id)
    if workspace is None:
        return [], "no_project" if asking is None else "not_on_this_machine"
    hits = search(workspace, Query(probe.question, limit=SHOWN)).hits
    return [(hit.project, hit.id) for hit in hits], "ok" if hits else "no_results"


def _score_positive(
    probe: Probe, wanted: str, pool: Pool, asking: Project | None, shown: list[tuple[str, str]], tally: _Tally
) -> None:
    row = pool.resolve(wanted)
    if row is None:
        tally.drift["positive"] += 1
        tally.findings.append(f"{probe.where}: {wanted} names no row, or more than one: the probe proves nothing.")
        return
    candidates = [] if asking is None else [(h.project, h.id) for h in pool.scoped(probe.question, asking, CANDIDATES)]
    tally.ranks.append(_rank(row, candidates))
    tally.shown.append(_rank(row, shown))
    if tally.ranks[-1] is None:
        why = pool.reason(row, asking) if asking is not None else "no project asks"
        tally.findings.append(f"{probe.where}: {wanted} was not found ({why or 'it does not rank'}).")


def _score_negative(
    probe: Probe, hidden: str, pool: Pool, asking: Project | None, shown: list[tuple[str, str]], tally: _Tally
) -> bool:
    """Whether the probe proved anything about `hidden`."""
    row = pool.resolve(hidden)
    if row is None:
        tally.drift["negative"] += 1
        tally.findings.append(f"{probe.where}: {hidden} names no row, or more than one: the probe proves nothing.")
        return False
    if _rank(row, [(h.project, h.id) for h in pool.unscoped(probe.question, CANDIDATES)]) is None:
        tally.drift["negative"] += 1
        tally.findings.append(
            f"{probe.where}: without scope {hidden} is not among the first {CANDIDATES}: the probe proves nothing."
        )
        return False
    candidates = [] if asking is None else [(h.project, h.id) for h in pool.scoped(probe.question, asking, CANDIDATES)]
    tally.kept_from_candidates.append(row not in candidates)
    tally.kept_from_prompt.append(row not in shown)
    if row in candidates or row in shown:
        where = "is shown" if row in shown else "is a candidate"
        tally.findings.append(f"{probe.where}: leak: {hidden} {where}.")
    return True


def _require_coverage(tally: _Tally, registry: Registry) -> None:
    for project in registry.projects:
        name = project.project_id
        if not project.memory_enabled:
            continue
        _require(tally, tally.leaks_of[name], LEAK_PROBES, f"`{name}` has", "leak probes that count")
        _require(tally, tally.positives_of[name], POSITIVE_PROBES, f"`{name}` has", "probes that only expect a row")
    _require(tally, tally.leaks_of[NO_PROJECT], HOMELESS_PROBES, "There are", "probes that count without a project")
    if not tally.kept_from_prompt:
        tally.findings.append("No leak probe counted: nothing is proved about what is kept apart.")


def _require(tally: _Tally, found: int, least: int, who: str, what: str) -> None:
    if found < least:
        tally.findings.append(f"{who} {found} {what}; at least {least} are needed.")


def _figures(tally: _Tally, probes: int) -> dict[str, Any]:
    times = sorted(tally.seconds)
    return {
        "probes": probes,
        **{f"recall@{k}": _recall(tally.ranks, k) for k in (1, 3, 5)},
        **{f"precision@{k}": round(_recall(tally.ranks, k) / k, 4) for k in (1, 3, 5)},
        "mrr": _mrr(tally.ranks),
        "fraction_in_prompt": _recall(tally.shown, SHOWN),
        "exclusion_pass_in_candidates": _share(tally.kept_from_candidates),
        "exclusion_pass_in_prompt": _share(tally.kept_from_prompt),
        "n_scored_positive": len(tally.ranks),
        "n_scored_negative": len(tally.kept_from_prompt),
        "n_drift_positive": tally.drift["positive"],
        "n_drift_negative": tally.drift["negative"],
        "by_scoped_reason": dict(sorted(tally.reasons.items())),
        "by_active_project": dict(sorted(tally.projects.items())),
        "p50_ms": _percentile(times, 0.5),
        "p95_ms": _percentile(times, 0.95),
    }


def _rank(row: tuple[str, str], found: Iterable[tuple[str, str]]) -> int | None:
    return next((rank for rank, one in enumerate(found, start=1) if one == row), None)


def _recall(ranks: Sequence[int | None], k: int) -> float:
    return round(fmean(rank is not None and rank <= k for rank in ranks), 4) if ranks else 0.0


def _mrr(ranks: Sequence[int | None]) -> float:
    return round(fmean(1 / rank if rank else 0.0 for rank in ranks), 4) if ranks else 0.0


def _share(kept: Sequence[bool]) -> float:
    """Of nothing: 0, because nothing was proved."""
    return round(fmean(kept), 4) if kept else 0.0


def _percentile(times: Sequence[float], part: float) -> float:
    return round(times[min(len(times) - 1, int(part * len(times)))] * 1000, 1) if times else 0.0


def workspaces_of(workspace: Workspace) -> Mapping[str, Workspace]:
    """The projects of the registry whose repository is on this machine, opened; the one that is open among them."""
    found = {workspace.project.project_id: workspace}
    for project in workspace.registry.projects:
        if project.project_id in found:
            continue
        root = next((Path(root) for root in project.workspace_roots if (Path(root) / ".git").exists()), None)
        if root is not None:
            other = Workspace.open(root, workspace.settings)
            found[project.project_id] = _as(other, project, workspace.registry)
    return found


def _as(other: Workspace, project: Project, registry: Registry) -> Workspace:
    """`other` as the project the registry says it is."""
    return (
        other if other.project.project_id == project.project_id else replace(other, project=project, registry=registry)
    )
