"""Probes: what they prove, and that one which proves nothing fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reflect.errors import ConfigurationError
from reflect.scope.projects import Project, Registry
from reflect.search.evaluate.files import Probe, read_probes, read_questions
from reflect.search.evaluate.measure import Evaluation, evaluate_probes, workspaces_of
from reflect.search.evaluate.pool import Pool
from reflect.workspace import Workspace
from tests.search.conftest import Searched

Make = Callable[[str], Searched]
TOPICS = ("webhooks", "caching", "rounding", "tokens", "backups", "queues")


@pytest.fixture
def two(make: Make) -> tuple[Searched, Searched, Workspace]:
    """Two projects with pages about the same things, and the first one's workspace under a registry of both."""
    alpha, beta = make("alpha"), make("beta")
    for searched in (alpha, beta):
        name = searched.root.name
        for topic in TOPICS:
            searched.page(f"notes/{name}-{topic}.md", f"How {name} does {topic}: with the word {name}word.", topic)
    projects = tuple(Project(project_id=one.project, workspace_roots=(str(one.root),)) for one in (alpha, beta))
    return alpha, beta, replace(alpha.workspace, registry=Registry(projects), project=projects[0])


def leak(asker: Searched, other: Searched, topic: str) -> Probe:
    hidden = f"notes/{other.root.name}-{topic}.md"
    return Probe(
        question=f"{topic} {other.root.name}word", workspace=str(asker.root), expected_excluded_fact_ids=(hidden,)
    )


def full_set(alpha: Searched, beta: Searched) -> list[Probe]:
    probes = [leak(a, b, topic) for a, b in ((alpha, beta), (beta, alpha)) for topic in TOPICS[:5]]
    for one in (alpha, beta):
        for topic in TOPICS[:2]:
            wanted = f"notes/{one.root.name}-{topic}.md"
            probes.append(Probe(question=topic, workspace=str(one.root), expected_fact_id=wanted))
    for topic in TOPICS[:3]:
        probes.append(Probe(question=topic, expected_excluded_fact_ids=(f"notes/alpha-{topic}.md",)))
    return probes


def evaluated(workspace: Workspace, probes: list[Probe]) -> Evaluation:
    return evaluate_probes(probes, Pool.of(workspaces_of(workspace)), workspace.registry)


def test_a_full_set_over_two_projects_passes_and_counts(two: tuple[Searched, Searched, Workspace]) -> None:
    alpha, beta, workspace = two
    done = evaluated(workspace, full_set(alpha, beta))
    assert done.findings == []
    figures = done.figures
    assert (figures["n_scored_negative"], figures["n_drift_negative"]) == (13, 0)
    assert figures["exclusion_pass_in_prompt"] == figures["exclusion_pass_in_candidates"] == 1.0
    assert (figures["n_scored_positive"], figures["recall@1"], figures["mrr"]) == (4, 1.0, 1.0)
    assert figures["by_active_project"] == {"__none__": 3, alpha.project: 7, beta.project: 7}


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"question": "nothing that ranks at all"}, "proves nothing"),
        ({"expected_excluded_fact_ids": ("notes/absent.md",)}, "names no row"),
        ({"workspace": "/nowhere/at/all"}, "belongs to no project"),
    ],
)
def test_a_probe_that_proves_nothing_fails(
    two: tuple[Searched, Searched, Workspace], change: dict[str, Any], finding: str
) -> None:
    alpha, beta, workspace = two
    probes = full_set(alpha, beta)
    probes.append(leak(alpha, beta, "queues").model_copy(update=change))
    findings = evaluated(workspace, probes).findings
    assert len(findings) == 1 and finding in findings[0]


def test_a_leak_is_found(two: tuple[Searched, Searched, Workspace]) -> None:
    alpha, beta, workspace = two
    keys = {"scope": "global", "scope_source": "operator", "project_id": "", "workspace_root": ""}
    beta.page("notes/beta-webhooks.md", "How beta does webhooks: with the word betaword.", "webhooks", **keys)
    probe = leak(alpha, beta, "webhooks").model_copy(update={"expected_excluded_fact_ids": ("notes/beta-webhooks.md",)})
    findings = evaluated(workspace, [probe]).findings
    assert any("leak: notes/beta-webhooks.md" in finding for finding in findings)


def test_too_few_probes_are_a_finding(two: tuple[Searched, Searched, Workspace]) -> None:
    alpha, beta, workspace = two
    findings = evaluated(workspace, [leak(alpha, beta, "webhooks")]).findings
    assert sum("are needed" in finding for finding in findings) == 5
    only_positive = [probe for probe in full_set(alpha, beta) if probe.expected_fact_id]
    assert any("No leak probe counted" in finding for finding in evaluated(workspace, only_positive).findings)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"question": ""}', '{"question": "x"}', '{"question": "x", "expected_fact_id": 3}', '{"q": 1}']
)
def test_a_line_that_is_no_probe_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "probes.jsonl"
    good = json.dumps({"question": "x", "expected_fact_id": "a/b.md", "workspace": None})
    file.write_text(f"# a note\n{good}\n{line}\n")
    with pytest.raises(ConfigurationError, match=r"probes\.jsonl:3"):
        read_probes(file)


def test_files_without_anything_in_them_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("# nothing\n")
    for read in (read_probes, read_questions):
        with pytest.raises(ConfigurationError):
            read(tmp_path / "a")
        with pytest.raises(ConfigurationError, match="cannot be read"):
            read(tmp_path / "absent")
