"""A provider that answers from a script, and writes down everything it was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from examples.obedient_model import answer
from reflect.configuration import Format, FormatSection
from reflect.evidence.redaction import Redactor
from reflect.model import Action, EvidenceMode, Finding, Operation, Origin, ReflectionKind, Speaker
from reflect.triage.claude.engine import ClaudeEngine, Surroundings
from reflect.triage.claude.messages import Ask, Reply

Script = Callable[[Ask], Any]
MODELS = {"reflect": "small-1", "plan": "small-1", "write": "large-1"}
SAID = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CHECKPOINT = "aaaaaaaaaaaa/0"


@dataclass
class Provider:
    """Answers like the obedient model, or with the next entry of `script` for its purpose: data, or an error."""

    script: dict[str, list[Any]] = field(default_factory=dict)
    asked: list[Ask] = field(default_factory=list)
    stop_reason: str = "end_turn"

    def ask(self, ask: Ask) -> Reply:
        self.asked.append(ask)
        waiting = self.script.get(ask.purpose, [])
        data = waiting.pop(0) if waiting else answer(ask.schema, ask.content)
        if isinstance(data, Exception):
            raise data
        return Reply(data, self.stop_reason, {}, f"req_{len(self.asked)}")

    def sent(self, purpose: str) -> list[Ask]:
        return [ask for ask in self.asked if ask.purpose == purpose]

    @property
    def everything(self) -> str:
        return "\n".join(f"{ask.system}\n{ask.content}\n{ask.subject}" for ask in self.asked)


def engine(provider: Provider, **more: Any) -> ClaudeEngine:
    return ClaudeEngine(
        provider, Surroundings(MODELS, **{"redact": Redactor().redact, "shows": lambda page: True, **more})
    )


def format_with(**keys: Any) -> Format:
    return Format(sections=(FormatSection(name="Gotchas", purpose="what burned time", **keys),))


def finding(quote: str, **more: Any) -> Finding:
    keys: dict[str, Any] = {
        "headline": quote,
        "category": "gotchas",
        "kind": ReflectionKind.EPISODE_LESSON,
        "evidence_id": CHECKPOINT,
        "position": 0,
        "speaker": Speaker.PERSON,
        "said_at": SAID,
        "score": 3.0,
        "signals": (),
        "origin": Origin.CLEAN,
        "evidence": EvidenceMode.FULL,
        **more,
    }
    return Finding(quote=quote, **keys)


def action(*findings: Finding, operation: Operation = Operation.CREATE, **more: Any) -> Action:
    keys: dict[str, Any] = {"category": "gotchas", "slug": "a-page", "title": findings[0].headline, **more}
    return Action(operation=operation, reason="It matters.", findings=findings, **keys)


def bullet(text: str, quote: str, findings: Sequence[str] = ("f1",), **more: str) -> dict[str, Any]:
    given = {"heading": "What is known", "replaces": "", **more}
    return {"text": text, "quote": quote, "findings": list(findings), **given}


def page(*bullets: dict[str, Any], title: str = "A page", outcome: str = "written", reason: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reason": reason, "title": title, "bullets": list(bullets)}
