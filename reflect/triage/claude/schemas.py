"""What a model may answer. Small and flat, because a provider compiles them; all that it does not enforce is checked
again here and in `checks`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reflect.triage.categories import KINDS

Confidence = Literal["high", "medium", "low"]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FoundClaim(_Answer):
    """One finding of a reflection."""

    category: str
    kind: Literal["procedural", "corrective", "episode_lesson"]
    headline: str = Field(min_length=1, max_length=200)
    item: str
    quote: str = Field(min_length=1)
    confidence: Confidence


class ReflectAnswer(_Answer):
    findings: tuple[FoundClaim, ...]


class PlannedPage(_Answer):
    """One action of a plan. `target` is the path of a page that exists, empty for a new one."""

    op: Literal["create", "update", "resolve"]
    category: str
    title: str
    target: str
    findings: tuple[str, ...]
    reason: str
    tags: tuple[str, ...]


class SkippedFinding(_Answer):
    finding: str
    reason: str


class PlanAnswer(_Answer):
    actions: tuple[PlannedPage, ...]
    skipped: tuple[SkippedFinding, ...]


class WrittenBullet(_Answer):
    """One statement. `replaces` is what the page says and no longer holds, else empty."""

    heading: str = Field(min_length=1, max_length=120)
    text: str = Field(min_length=1, max_length=1200)
    findings: tuple[str, ...]
    quote: str
    replaces: str


class WriteAnswer(_Answer):
    outcome: Literal["written", "no_changes"]
    reason: str
    title: str
    bullets: tuple[WrittenBullet, ...]


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


def reflect_schema() -> dict[str, Any]:
    finding = _object(
        category=_one_of(KINDS),
        kind=_one_of(("procedural", "corrective", "episode_lesson")),
        headline=_TEXT,
        item=_TEXT,
        quote=_TEXT,
        confidence=_one_of(("high", "medium", "low")),
    )
    return _object(findings={"type": "array", "items": finding})


def plan_schema(categories: Iterable[str]) -> dict[str, Any]:
    action = _object(
        op=_one_of(("create", "update", "resolve")),
        category=_one_of(categories),
        title=_TEXT,
        target=_TEXT,
        findings=_TEXTS,
        reason=_TEXT,
        tags=_TEXTS,
    )
    skipped = _object(finding=_TEXT, reason=_TEXT)
    return _object(actions={"type": "array", "items": action}, skipped={"type": "array", "items": skipped})


def write_schema() -> dict[str, Any]:
    bullet = _object(heading=_TEXT, text=_TEXT, findings=_TEXTS, quote=_TEXT, replaces=_TEXT)
    return _object(
        outcome=_one_of(("written", "no_changes")),
        reason=_TEXT,
        title=_TEXT,
        bullets={"type": "array", "items": bullet},
    )


def _one_of(values: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
