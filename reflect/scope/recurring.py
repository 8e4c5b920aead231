"""The question whether what several projects learned is true for all: made by the binder, like every other question."""

from __future__ import annotations

from collections.abc import Sequence

from reflect.model import Action, Finding
from reflect.scope.binding import bind
from reflect.scope.gate import gate
from reflect.scope.projects import Registry
from reflect.scope.proposal import EvidenceScope, Proposal
from reflect.scope.provenance import BEHAVIOR_DOMAIN, Provenance, combine, learnable
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import EXCERPT_CHARS, ReviewEvidence, ReviewItem, question, review_id, text_sha256
from reflect.scope.rows import reads_as_rule
from reflect.scope.vocabulary import ORGANISATION, Decision, Reason


def recurring_item(action: Action, lessons: Sequence[Reflexion], registry: Registry) -> ReviewItem | None:
    """The organisation's own question about `lessons`, worded as the one finding of `action`.

    The accepted lessons are its evidence, as facts of their projects. None where they are not several projects':
    then nothing recurs, and the lesson is its project's already.
    """
    proposal = _proposal(action.findings[0], lessons)
    evidence = {row.id: EvidenceScope(row.id, row.stored_scope) for row in lessons}
    binding = bind(proposal, evidence, registry)
    if binding.decision is not Decision.QUEUE or binding.reasons[:1] != (Reason.CROSS_PROJECT_EVIDENCE,):
        return None
    gated = gate(binding, learnable=learnable(BEHAVIOR_DOMAIN, proposal.origin), origin=proposal.origin)
    cited = tuple(_evidence(row) for row in sorted(lessons, key=lambda row: row.id))
    return question(ORGANISATION, proposal, action, binding, gated, cited)


def _proposal(finding: Finding, lessons: Sequence[Reflexion]) -> Proposal:
    provenance = combine(Provenance(row.effective_origin, row.evidence, row.session_tainted) for row in lessons)
    ids = tuple(sorted(row.id for row in lessons))
    return Proposal(
        id=review_id(ORGANISATION, [finding.quote], ids),
        claim=finding.quote,
        reflection_kind=finding.kind,
        episodes=(),
        facts=ids,
        active_workspace=None,
        synthesized_at=finding.said_at,
        domain=BEHAVIOR_DOMAIN,
        trigger=finding.trigger,
        origin=provenance.origin,
        evidence=provenance.evidence,
        session_tainted=provenance.session_tainted,
        always_on=reads_as_rule(finding) or any(row.always_on for row in lessons),
    )


def _evidence(row: Reflexion) -> ReviewEvidence:
    scope = row.stored_scope
    return ReviewEvidence(
        id=row.id,
        scope=scope.scope,
        scope_source=scope.scope_source,
        project_id=scope.project_id,
        sha256=text_sha256(row.reflexion_text),
        excerpt=row.intervention[:EXCERPT_CHARS],
    )
