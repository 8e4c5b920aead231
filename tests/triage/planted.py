"""Runs planted cases through the whole engine and counts what it found."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from reflect.configuration import DEFAULT_FORMAT, Format
from reflect.model import Action, Commit, Finding, Origin, Session, Taint
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.views import evidence_mode
from tests.triage.builders import START, commit, session

DATA = Path(__file__).parent / "data"
NEVER = frozenset({"finished to-do", "joke", "harness", "wiki"})
"""Families of decoys that may stand on no page at all, not even on a digest."""


@dataclass
class Score:
    """`pages` are published by themselves; `right` hold a planted lesson and no decoy."""

    found: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    in_digest: list[str] = field(default_factory=list)
    wrong_category: list[str] = field(default_factory=list)
    pages: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    decoys_published: list[str] = field(default_factory=list)
    decoys_on_digests: list[str] = field(default_factory=list)
    decoys_never_allowed: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.pages if self.pages else 0.0

    @property
    def recall(self) -> float:
        return len(self.found) / (len(self.found) + len(self.missed))


def cases(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))["cases"]
    return loaded


def evidence(planted: list[dict[str, Any]]) -> tuple[list[Session], list[Commit]]:
    sessions: list[Session] = []
    commits: list[Commit] = []
    for number, case in enumerate(planted):
        at = START + timedelta(days=number)
        if "commit" in case:
            commits.append(commit(**case["commit"], number=number, at=at))
        else:
            taint = Taint.CLEAN if case.get("clean") else Taint.UNTRUSTED
            sessions.append(session(*case["turns"], number=number, taint=taint, at=at))
    return sessions, commits


def run(planted: list[dict[str, Any]]) -> Score:
    engine = ExtractiveEngine()
    sessions, commits = evidence(planted)
    findings: list[Finding] = [each for one in sessions for each in engine.reflect(one, evidence_mode(one))]
    findings += engine.reflect_on_commits(commits)
    plan = engine.plan(findings, (), Format.model_validate(yaml.safe_load(DEFAULT_FORMAT)), 200)
    published = [action for action in plan.actions if all(each.origin is Origin.CLEAN for each in action.findings)]
    return _count(planted, {action.id: _text(engine, action) for action in published}, published)


def _text(engine: ExtractiveEngine, action: Action) -> str:
    return "\n".join(p.text for section in engine.write(action, None).sections for p in section.passages)


def _count(planted: list[dict[str, Any]], texts: dict[str, str], published: list[Action]) -> Score:
    score = Score()
    own = [action for action in published if not action.digest]
    lessons = [case for case in planted if "lesson" in case]
    decoys = [case for case in planted if case.get("text")]
    for case in lessons:
        holding = [action for action in own if case["lesson"] in texts[action.id]]
        (score.found if holding else score.missed).append(case["lesson"])
        if holding and holding[0].category not in case["kinds"]:
            score.wrong_category.append(f"{case['lesson']}: {holding[0].category}")
        if not holding and any(case["lesson"] in texts[each.id] for each in published):
            score.in_digest.append(case["lesson"])
    score.pages = len(own)
    for action in own:
        bad = [case["text"] for case in decoys if case["text"] in texts[action.id]]
        if not bad and any(case["lesson"] in texts[action.id] for case in lessons):
            score.right += 1
        else:
            score.wrong.append(f"{action.path}: {texts[action.id]}")
    for case in decoys:
        label = f"{case['decoy']}: {case['text']}"
        if any(case["text"] in texts[action.id] for action in own):
            score.decoys_published.append(label)
        elif any(case["text"] in texts[action.id] for action in published):
            score.decoys_on_digests.append(label)
        if case["decoy"] in NEVER and any(case["text"] in text for text in texts.values()):
            score.decoys_never_allowed.append(label)
    return score
