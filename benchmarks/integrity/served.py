"""Whether the checks of the Claude engine catch a wrong page, when a local server that speaks its API serves one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from benchmarks.integrity.extractive import CORRECTION, OMITTED, Case
from examples.sessions import START
from reflect.configuration import Caps, ClaudeConfig, Format
from reflect.evidence.redaction import Redactor
from reflect.model import Action, EvidenceMode, Finding, Operation, Origin, ReflectionKind, Speaker
from reflect.triage.claude.asking import Clock, Messages, once
from reflect.triage.claude.breaker import Breaker
from reflect.triage.claude.engine import ClaudeEngine, Surroundings
from reflect.triage.claude.fake_api import FakeApi
from reflect.triage.claude.money import CallsInMemory
from reflect.triage.claude.prices import priced
from reflect.triage.claude.sdk import SdkWire
from reflect.triage.engine import Unusable


def uncaught(every: Sequence[Case]) -> dict[tuple[str, int], str]:
    """What became of each wrong page that was not turned away for its family; a case that is not in it was caught."""
    found = {(case.family, case.number): _served(case) for case in every}
    return {key: wrong for key, wrong in found.items() if wrong}


def _served(case: Case) -> str:
    """Serve the wrong page twice: it must be asked for again with the reason, and then not be written."""
    findings = tuple(_findings(case))
    page = {"outcome": "written", "reason": "", "title": "A page", "bullets": [_wrong(case, findings)]}
    with FakeApi(lambda body: page) as api, _engine(api) as engine:
        asked = Action(operation=Operation.CREATE, category="gotchas", slug="a-page", title="A page",
                       reason="It matters.", findings=findings)  # fmt: skip
        try:
            content = engine.write(asked, None)
        except Unusable:
            reasons = json.dumps([request.body for request in api.asked][1:], ensure_ascii=False)
            return "" if case.family in reasons else f"turned away for another reason: {reasons[-300:]}"
    return f"written: {[passage.text for section in content.sections for passage in section.passages]}"


def _findings(case: Case) -> Iterator[Finding]:
    said = case.said if case.family != OMITTED else [part.strip() for part in case.said[0].split(".") if part.strip()]
    for step, text in enumerate(said):
        yield Finding(
            quote=text,
            headline=text,
            category="gotchas",
            kind=ReflectionKind.EPISODE_LESSON,
            evidence_id=f"{step + 1:012x}/0" if case.family == CORRECTION else f"{1:012x}/0",
            position=step,
            speaker=Speaker.PERSON,
            said_at=START + timedelta(days=step),
            score=3.0,
            signals=(),
            origin=Origin.CLEAN,
            evidence=EvidenceMode.FULL,
        )


def _wrong(case: Case, findings: Sequence[Finding]) -> Mapping[str, Any]:
    """The bullet that a model would write: it cites what was said, and tells it otherwise."""
    return {
        "heading": "What is known",
        "text": case.wrong,
        "findings": ["f1"],
        "quote": findings[0].quote,
        "replaces": "",
    }


@contextmanager
def _engine(api: FakeApi) -> Iterator[ClaudeEngine]:
    config = ClaudeConfig(caps=Caps())
    asking = Messages(
        once(lambda: SdkWire(config, "sk-of-our-own", api.url)),
        config,
        priced(config.model_of.values(), config.prices),
        CallsInMemory(config.caps),
        Breaker(),
        Clock(lambda: 0.0, lambda seconds: None),
        random.Random(1),
    )
    yield ClaudeEngine(asking, Surroundings(config.model_of, redact=Redactor().redact, format=Format()))
