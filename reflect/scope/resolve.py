"""From one planned action to what happens with it: written with its keys, queued with its reasons, or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from functools import cached_property
from pathlib import PurePath

from reflect.model import (
    Action,
    EvidenceMode,
    Finding,
    Operation,
    Origin,
    PageSummary,
    Speaker,
    Taint,
)
from reflect.scope.binding import UNSURE_CONFIDENCE, Binding, bind
from reflect.scope.context import EpisodeScope, ScopeContext
from reflect.scope.gate import Gated, gate
from reflect.scope.metadata import ScopeKeys
from reflect.scope.page_keys import PageKeys, kind_of, page_keys, stated_provenance
from reflect.scope.proposal import EvidenceScope, Proposal
from reflect.scope.provenance import BEHAVIOR_DOMAIN, Provenance, combine, learnable
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import (
    EXCERPT_CHARS,
    ReviewEvidence,
    ReviewItem,
    claim_text,
    normalised_claim,
    question,
    review_id,
    text_sha256,
)
from reflect.scope.rows import lesson, reads_as_rule
from reflect.scope.vocabulary import Decision, MemoryType, Reason, Rule, Scope

_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class BoundAction:
    """An action and what was decided about it.

    A write has `keys` for its page and a row per finding. A queued one has its review item; rows as well where the
    scope is settled and only the words are not the organisation's (`quarantined`). A refused one has reasons alone.
    """

    action: Action
    decision: Decision
    reasons: tuple[Reason, ...]
    keys: PageKeys | None
    reflexions: tuple[Reflexion, ...]
    item: ReviewItem | None
    binding: Binding
    quarantined: bool = False


def bind_action(action: Action, page: PageSummary | None, context: ScopeContext) -> BoundAction:
    """Decide what happens with `action`. `page` is the page at its path, None where there is none.

    An update is judged on everything: the new evidence and, as a fact, the page as it stands. So one project's words
    never join another project's page.
    """
    case = _Case.of(action, page, context)
    binding = case.bound()
    gated = gate(binding, learnable=learnable(BEHAVIOR_DOMAIN, case.provenance.origin), origin=case.provenance.origin)
    return BoundAction(
        action=action,
        decision=gated.decision,
        reasons=gated.reasons,
        keys=case.page_keys(binding) if gated.decision is Decision.WRITE else None,
        reflexions=case.rows(binding) if gated.decision is Decision.WRITE or gated.quarantined else (),
        item=case.item(binding, gated) if gated.decision is Decision.QUEUE else None,
        binding=binding,
        quarantined=gated.quarantined,
    )


def provenance_of(finding: Finding, episodes: Sequence[EpisodeScope]) -> Provenance:
    """The provenance of `finding`: its own, made worse by whatever its `episodes` know better.

    An engine's word is believed only downwards: nothing it says turns an outsider's or a machine's session clean.
    """
    own = Provenance(finding.origin, finding.evidence, finding.session_tainted)
    return combine((own, _of_speaker(finding, episodes), *(_of_episode(episode) for episode in episodes)))


def _of_speaker(finding: Finding, episodes: Sequence[EpisodeScope]) -> Provenance:
    if finding.speaker is Speaker.PERSON:
        return Provenance(Origin.CLEAN)
    said_in = next((episode for episode in episodes if episode.id == finding.evidence_id), None)
    exposed = said_in is not None and said_in.taint not in (None, Taint.CLEAN)
    outside = finding.speaker is Speaker.TOOL or (finding.speaker is Speaker.ASSISTANT and exposed)
    return Provenance(Origin.UNTRUSTED if outside else Origin.DERIVED)


def _of_episode(episode: EpisodeScope) -> Provenance:
    if episode.automated:
        return Provenance(Origin.DERIVED)
    if episode.trusted is False:
        return Provenance(Origin.UNTRUSTED)
    if episode.taint in (None, Taint.CLEAN):
        return Provenance(Origin.CLEAN)
    return Provenance(Origin.CLEAN, EvidenceMode.USER_TURNS, session_tainted=True)


@dataclass(frozen=True)
class _Case:
    """One action with everything that is known about it."""

    action: Action
    page: PageSummary | None
    context: ScopeContext
    episodes: Mapping[str, EpisodeScope]
    provenances: tuple[Provenance, ...]
    provenance: Provenance
    proposal: Proposal

    @classmethod
    def of(cls, action: Action, page: PageSummary | None, context: ScopeContext) -> _Case:
        episodes = {
            name: episode
            for finding in action.findings
            for name in finding.evidence_ids
            if (episode := context.episode(name, finding)) is not None
        }
        provenances = tuple(
            provenance_of(finding, [episodes[name] for name in finding.evidence_ids if name in episodes])
            for finding in action.findings
        )
        provenance = combine(provenances)
        if not provenances and page is not None:
            provenance = stated_provenance(page)
        proposal = _proposal(action, page, context, provenance)
        return cls(action, page, context, episodes, provenances, provenance, proposal)

    def bound(self) -> Binding:
        binding = bind(
            self.proposal, self.evidence, self.context.registry, strict_workspace=self.context.strict_workspace
        )
        if self._page_is_global:
            return _for_global_page(binding)
        return _asked_again(binding) if self._was_refused else binding

    @cached_property
    def evidence(self) -> dict[str, EvidenceScope]:
        found = {name: self.context.scope_of(episode) for name, episode in self.episodes.items()}
        if self.page is not None:
            found[self.page.path] = EvidenceScope(self.page.path, self.context.scope_of_page(self.page))
        return found

    @property
    def _was_refused(self) -> bool:
        return any(normalised_claim(finding.quote) in self.context.refused for finding in self.action.findings)

    @property
    def _page_is_global(self) -> bool:
        if self.page is None:
            return False
        scope = self.context.scope_of_page(self.page)
        return scope.is_settled and scope.scope is Scope.GLOBAL

    def page_keys(self, binding: Binding) -> PageKeys | None:
        if binding.keys is None:
            return None
        return page_keys(
            self.action.findings,
            self.provenance,
            binding.keys,
            repository=PurePath(self.context.repository),
            proposal_id=self.proposal.id,
            always_on=self.proposal.always_on,
            page=self.page,
            page_scope=self.context.scope_of_page(self.page) if self.page is not None else None,
        )

    def rows(self, binding: Binding) -> tuple[Reflexion, ...]:
        if binding.keys is None:
            return ()
        pairs = zip(self.action.findings, self.provenances, strict=True)
        return tuple(self._row(finding, provenance, binding.keys) for finding, provenance in pairs)

    def _row(self, finding: Finding, provenance: Provenance, keys: ScopeKeys) -> Reflexion:
        episode = self.episodes.get(finding.evidence_id)
        session_id = episode.session_id if episode is not None else ""
        return lesson(finding, provenance, keys, project_id=self.context.project.project_id, session_id=session_id)

    def item(self, binding: Binding, gated: Gated) -> ReviewItem:
        project_id = self.context.project.project_id
        return question(project_id, self.proposal, self.action, binding, gated, self._review_evidence())

    def _review_evidence(self) -> tuple[ReviewEvidence, ...]:
        known = self.evidence
        return tuple(self._one_review_evidence(name, known.get(name)) for name in self.proposal.cited)

    def _one_review_evidence(self, name: str, known: EvidenceScope | None) -> ReviewEvidence:
        if known is None:
            return ReviewEvidence(id=name)
        excerpt = next((finding.quote for finding in self.action.findings if name in finding.evidence_ids), "")
        content = self.episodes[name].content if name in self.episodes else ""
        if self.page is not None and name == self.page.path:
            content, excerpt = self.page.body, self.page.lead
        return ReviewEvidence(
            id=name,
            scope=known.scope.scope,
            scope_source=known.scope.scope_source,
            project_id=known.scope.project_id,
            sha256=text_sha256(content) if content else "",
            excerpt=excerpt[:EXCERPT_CHARS],
        )


def _proposal(action: Action, page: PageSummary | None, context: ScopeContext, provenance: Provenance) -> Proposal:
    claims = _claims(action)
    is_change = page is not None or action.operation is not Operation.CREATE
    said = [finding.said_at for finding in action.findings]
    updated = datetime.combine(page.updated, time(), UTC) if page is not None and page.updated else _UNDATED
    return Proposal(
        id=review_id(context.project.project_id, claims or (action.path, action.reason), action.evidence_ids),
        claim=claim_text(claims) or action.title or action.path,
        reflection_kind=kind_of(action.findings),
        episodes=action.evidence_ids,
        facts=(page.path if page is not None else action.path,) if is_change else (),
        active_workspace=context.repository,
        synthesized_at=max(said, default=updated),
        domain=BEHAVIOR_DOMAIN,
        trigger=next((finding.trigger for finding in action.findings if finding.trigger), ""),
        origin=provenance.origin,
        evidence=provenance.evidence,
        session_tainted=provenance.session_tainted,
        always_on=any(reads_as_rule(finding) for finding in action.findings),
    )


def _claims(action: Action) -> tuple[str, ...]:
    return tuple(finding.quote for finding in action.findings)


def _asked_again(binding: Binding) -> Binding:
    """An operator refused these words once: said again, they are asked about again and not written by themselves."""
    if binding.decision is Decision.REJECT:
        return binding
    reasons = (*binding.reasons, Reason.REFUSED_BEFORE)
    return replace(binding, decision=Decision.QUEUE, reasons=reasons, keys=None)


def _for_global_page(binding: Binding) -> Binding:
    """A global page is an operator's: one project's words on it would be shown to everyone, so that is asked first."""
    reasons = (*binding.reasons, Reason.TARGET_PAGE_IS_GLOBAL)
    if binding.decision is not Decision.WRITE:
        return binding if binding.decision is Decision.REJECT else replace(binding, reasons=reasons)
    proposed = binding.proposed.model_copy(
        update={
            "scope": Scope.GLOBAL,
            "project_id": None,
            "workspace_root": None,
            "memory_type": MemoryType.CANDIDATE_PREFERENCE if binding.always_on else MemoryType.REFLECTION,
            "scope_confidence": min(binding.proposed.scope_confidence, UNSURE_CONFIDENCE),
        }
    )
    return replace(
        binding,
        decision=Decision.QUEUE,
        reasons=reasons,
        rule=Rule.CROSS_PROJECT,
        keys=None,
        proposed=proposed,
    )
