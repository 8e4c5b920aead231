"""Records without a scope get one: census, a file to review, the file applied as it stands, and a way back.

Only reflections are selected. A candidate preference, and whatever an operator was asked about and has not approved, is
left alone whatever a verdict says: a classifier must not become the approval path. Nothing here can make a record
global: the one builder refuses that to everyone but an operator who answers a question.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeVar

from pydantic import Field, ValidationError

from reflect.errors import ConfigurationError
from reflect.ledger.ledger import Ledger
from reflect.ledger.text import dump
from reflect.model import Value, digest
from reflect.review.preimages import Preimages
from reflect.scope.binding import MACHINE_CONFIDENCE, UNSURE_CONFIDENCE
from reflect.scope.metadata import SCOPE_FIELDS, build_scope_metadata
from reflect.scope.projects import Registry
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem, ReviewStatus, normalised_claim, text_sha256
from reflect.scope.rows import row_id
from reflect.scope.vocabulary import MemoryType, Scope, ScopeSource
from reflect.wiki.passages import quote_key

_V = TypeVar("_V", bound=Value)

_SURE = "it was said, word for word, in this repository's evidence"
_UNSAID = "its evidence is in this repository and does not say it"
_ELSEWHERE = "not all it rests on is in this repository"

THRESHOLD = 0.8
"""A verdict below this is left for the reviewer, who may say `apply` instead."""


class Left(StrEnum):
    """Why a record is not reclassified."""

    DROPPED = "dropped"
    CANDIDATE_PREFERENCE = "candidate_preference"  # only an operator's answer makes one a rule
    NOT_A_REFLECTION = "not_a_reflection"
    NOT_APPROVED = "not_approved"  # an operator was asked about it and has not said yes
    OPERATOR_SETTLED = "operator_settled"  # authoritative, never written over
    CLASSIFIER_SETTLED = "classifier_settled"  # a second verdict would only flip it
    INVALID_SCOPE = "invalid_scope"  # a repair would hide what broke it
    SCOPE_SETTLED = "scope_settled"
    BELOW_THRESHOLD = "below_threshold"
    REVIEWER_LEFT_IT = "reviewer_left_it"
    ROW_GONE = "row_gone"
    DESELECTED = "deselected"
    TEXT_DRIFT = "text_drift"
    UNREGISTERED_TARGET = "unregistered_target"
    DISABLED_TARGET = "disabled_target"
    FOREIGN_TARGET = "foreign_target"  # a project's records stay with the project
    OPERATOR_CORRECTION = "operator_correction"
    CHANGED_SINCE = "changed_since"


class Disposition(StrEnum):
    APPLY = "apply"
    LEAVE = "leave"


class Header(Value):
    """The first line of a file of proposals."""

    reclassify: int = 1
    project: str
    threshold: float = THRESHOLD


class Verdict(Value):
    """What is proposed for one record. `text` is for the reviewer; the hashes, of it and of the whole record, are what
    is looked at again."""

    id: str
    text: str
    text_sha256: str
    record_sha256: str
    scope: Scope
    project_id: str
    confidence: float = Field(ge=0, le=MACHINE_CONFIDENCE, allow_inf_nan=False)
    reason: str
    disposition: Disposition


@dataclass(frozen=True, slots=True)
class Census:
    """Every record of a project: those that would be reclassified, and how many are left alone, by reason."""

    selected: tuple[Reflexion, ...]
    left: Mapping[Left, int]


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply or a rollback came to. `run_id` names it; `left` says why by id."""

    run_id: str
    changed: tuple[str, ...]
    left: Mapping[str, Left]


def why_left(row: Reflexion, unapproved: Collection[str]) -> Left | None:
    """Why `row` is not selected; None where it is.

    `unapproved` are the ids and the claims, normalised, of every question without a yes: the same words under another
    id are the same question.
    """
    scope = row.stored_scope
    asked = {row.id, normalised_claim(row.intervention), normalised_claim(row.reflexion_text)}
    reasons = (
        (row.dropped_at is not None, Left.DROPPED),
        (row.memory_type is MemoryType.CANDIDATE_PREFERENCE, Left.CANDIDATE_PREFERENCE),
        (row.memory_type is not MemoryType.REFLECTION, Left.NOT_A_REFLECTION),
        (not asked.isdisjoint(unapproved), Left.NOT_APPROVED),
        (scope.invalid_defaulted, Left.INVALID_SCOPE),
        (scope.scope_source is ScopeSource.OPERATOR, Left.OPERATOR_SETTLED),
        (scope.scope_source is ScopeSource.CLASSIFIER, Left.CLASSIFIER_SETTLED),
        (not scope.legacy_defaulted, Left.SCOPE_SETTLED),
    )
    return next((reason for applies, reason in reasons if applies), None)


def census(rows: Iterable[Reflexion], items: Iterable[ReviewItem]) -> Census:
    """Look at every record once."""
    unapproved, selected, left = _unapproved(items), [], Counter[Left]()
    for row in rows:
        reason = why_left(row, unapproved)
        if reason is None:
            selected.append(row)
        else:
            left[reason] += 1
    return Census(tuple(selected), dict(sorted(left.items())))


def verdict_on(row: Reflexion, project: str, words: Mapping[str, str]) -> Verdict:
    """What is proposed for a record kept under `project`; `words` is what each piece of evidence there is says.

    Sure where the repository holds all its evidence and what was said stands there word for word: a file can name any
    evidence that exists. Otherwise that it is kept here says little.
    """
    here = bool(row.evidence_ids) and all(name in words for name in row.evidence_ids)
    claim = quote_key(row.intervention)
    sure = here and bool(claim) and any(claim in quote_key(words[name]) for name in row.evidence_ids)
    reason = _SURE if sure else _UNSAID if here else _ELSEWHERE
    return Verdict(
        id=row.id,
        text=_shown(row),
        text_sha256=text_sha256(row.reflexion_text),
        record_sha256=text_sha256(dump(row)),
        scope=Scope.PROJECT,
        project_id=project,
        confidence=MACHINE_CONFIDENCE if sure else UNSURE_CONFIDENCE,
        reason=reason,
        disposition=Disposition.APPLY if sure else Disposition.LEAVE,
    )


def _shown(row: Reflexion) -> str:
    return row.reflexion_text.encode("utf-8", "replace").decode()


def proposals_text(project: str, verdicts: Iterable[Verdict]) -> str:
    """The file to review: a header, then a line for each record, `disposition` being what the reviewer may change."""
    values: tuple[Value, ...] = (Header(project=project), *verdicts)
    return "".join(f"{json.dumps(one.model_dump(mode='json'), ensure_ascii=False)}\n" for one in values)


def read_proposals(text: str, project: str) -> tuple[Verdict, ...]:
    """The verdicts of a reviewed file. Raises ConfigurationError, naming the line, for anything else."""
    lines = [line for line in text.split("\n") if line.strip()]
    header = _parsed(Header, lines[0] if lines else "", 1)
    if header.project != project:
        raise ConfigurationError(
            f"The proposals are for {header.project!r} and this repository is {project!r}; nothing was changed."
        )
    found = tuple(_parsed(Verdict, line, number) for number, line in enumerate(lines[1:], start=2))
    twice = sorted(name for name, count in Counter(one.id for one in found).items() if count > 1)
    if twice:
        raise ConfigurationError(f"The proposals name {twice[0]!r} more than once; nothing was changed.")
    return found


def apply(ledger: Ledger, registry: Registry, project: str, text: str, preimages: Preimages) -> Applied:
    """Apply a reviewed file as it stands, each record looked at again; what it replaces is on disk before anything.

    Repeating it changes nothing. Raises ConfigurationError, with nothing changed, for a file that is none.
    """
    verdicts, run_id = read_proposals(text, project), digest("reclassify", project, text)
    held = {row.id: row for row in ledger.reflexions(project)}
    unapproved = _unapproved(ledger.queue(project))
    left: dict[str, Left] = {}
    chosen: dict[str, Verdict] = {}
    for verdict in verdicts:
        reason = _refusal(verdict, held.get(verdict.id), unapproved, registry, project)
        if reason is None:
            chosen[verdict.id] = verdict
        else:
            left[verdict.id] = reason
    if not chosen:
        return Applied(run_id, (), left)
    preimages.write(run_id, [held[name] for name in sorted(chosen)])
    changes = {
        name: partial(_stamped, verdict=one, registry=registry, run_id=run_id, before=held[name])
        for name, one in chosen.items()
    }
    changed = ledger.change_reflexions(project, changes)
    return Applied(run_id, changed, left | dict.fromkeys(set(chosen) - set(changed), Left.CHANGED_SINCE))


def roll_back(ledger: Ledger, project: str, run_id: str, preimages: Preimages) -> Applied:
    """Give the records of a run back the scope they had; what an operator changed since stays as it is.

    Raises ConfigurationError where no such run is known.
    """
    before = {row.id: row for row in preimages.read(run_id)}
    held = {row.id: row for row in ledger.reflexions(project)}
    left = {name: reason for name in before if (reason := _kept(held.get(name), run_id)) is not None}
    changes = {name: partial(_restored, before=row, run_id=run_id) for name, row in before.items() if name not in left}
    return Applied(run_id, ledger.change_reflexions(project, changes), left)


def _unapproved(items: Iterable[ReviewItem]) -> frozenset[str]:
    asked = [item for item in items if item.status is not ReviewStatus.APPROVED]
    told = [(item, finding) for item in asked for finding in item.action.findings]
    claims = {
        normalised_claim(text) for item, finding in told for text in (item.claim, finding.quote, finding.headline)
    }
    return frozenset({row_id(item.project_id, finding) for item, finding in told} | claims)


def _refusal(
    verdict: Verdict, row: Reflexion | None, unapproved: Collection[str], registry: Registry, project: str
) -> Left | None:
    target = registry.project(verdict.project_id)
    if verdict.disposition is Disposition.LEAVE:
        return Left.BELOW_THRESHOLD if verdict.confidence < THRESHOLD else Left.REVIEWER_LEFT_IT
    if row is None:
        return Left.ROW_GONE
    if why_left(row, unapproved) is not None:
        return Left.DESELECTED
    if text_sha256(row.reflexion_text) != verdict.text_sha256 or _shown(row) != verdict.text:
        return Left.TEXT_DRIFT
    if text_sha256(dump(row)) != verdict.record_sha256:
        return Left.CHANGED_SINCE
    if target is None:
        return Left.UNREGISTERED_TARGET
    if not target.memory_enabled:
        return Left.DISABLED_TARGET
    return None if verdict.project_id == project and verdict.scope is Scope.PROJECT else Left.FOREIGN_TARGET


def _stamped(
    row: Reflexion, *, verdict: Verdict, registry: Registry, run_id: str, before: Reflexion
) -> Reflexion | None:
    target = registry.project(verdict.project_id)
    if row != before or target is None:  # somebody was faster
        return None
    keys = build_scope_metadata(
        scope=verdict.scope,
        project_id=target.project_id,
        workspace_root=target.workspace_roots[0],
        scope_confidence=verdict.confidence,
        scope_source=ScopeSource.CLASSIFIER,
    )
    return row.model_copy(update=keys.flat() | {"scope_run_id": run_id})


def _kept(row: Reflexion | None, run_id: str) -> Left | None:
    if row is None:
        return Left.ROW_GONE
    if row.scope_source is ScopeSource.OPERATOR:
        return Left.OPERATOR_CORRECTION
    return None if row.scope_run_id == run_id else Left.CHANGED_SINCE


def _restored(row: Reflexion, *, before: Reflexion, run_id: str) -> Reflexion | None:
    if _kept(row, run_id) is not None:
        return None
    return row.model_copy(update={name: getattr(before, name) for name in (*SCOPE_FIELDS, "scope_run_id")})


def _parsed(kind: type[_V], line: str, number: int) -> _V:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "it"
        raise ConfigurationError(
            f"Line {number} of the proposals is no {kind.__name__.lower()} ({where}: {problem['msg']}); nothing was "
            "changed; `reflect reclassify` writes a new file."
        ) from error
