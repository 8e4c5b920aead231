"""Findings out of what a model says about numbered evidence. Code decides who spoke, and whether it may count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reflect.evidence.interventions import InterventionKind, interventions
from reflect.folding import fold
from reflect.model import Commit, EvidenceMode, Finding, Origin, ReflectionKind, Session, Speaker, Taint
from reflect.triage.always_on import is_always_on
from reflect.triage.categories import KINDS
from reflect.triage.claude.checks import Checker, Claim, secret_in, shown
from reflect.triage.claude.evidence_blocks import Item, quoted_in, statements_around
from reflect.triage.claude.schemas import FoundClaim, ReflectAnswer
from reflect.triage.extractive.headlines import shortened
from reflect.triage.extractive.names import names_in

UNUSABLE = "unusable:"
"""Begins the signal of a finding that did not stand its checks: it carries the reason, and goes to no page."""

BRANCH = "branch:"
"""Begins the signal that names the branch a session was on."""

MOST_FINDINGS = 24
_SCORES: Mapping[str, float] = {"high": 3.0, "medium": 2.3, "low": 1.75}
_STEPPED_IN = frozenset(
    {
        InterventionKind.DENIAL,
        InterventionKind.INTERRUPTION,
        InterventionKind.STEER,
        InterventionKind.PLAN_REJECTED,
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One call's items and what code knows of them."""

    items: Mapping[str, Item]
    session: Session | None = None
    mode: EvidenceMode = EvidenceMode.FULL
    commits: Mapping[str, Commit] | None = None

    def faults(self, answer: ReflectAnswer) -> dict[str, str]:
        """What is wrong with each claim of `answer`, by its number; empty where it may be used as it is."""
        found = {f"finding {number}": self.fault_of(claim) for number, claim in enumerate(answer.findings, start=1)}
        if len(answer.findings) > MOST_FINDINGS:
            found["findings"] = f"there are {len(answer.findings)} of them, more than {MOST_FINDINGS}"
        return {name: fault for name, fault in found.items() if fault is not None}

    def fault_of(self, claim: FoundClaim) -> str | None:
        item = self.items.get(claim.item)
        if item is None:
            return f"no item {claim.item!r} was sent"
        if claim.category not in KINDS:
            return f"{claim.category!r} is no category"
        quote = quoted_in(item, claim.quote)
        if quote is None:
            return f"{shown(claim.quote)} does not stand word for word in {claim.item}"
        return secret_in(claim.headline, item.text)

    def findings(self, answer: ReflectAnswer) -> tuple[Finding, ...]:
        """Every claim as a finding, each once; those that do not stand carry the reason and a score of nothing."""
        made = [self._finding(claim, number) for number, claim in enumerate(answer.findings)]
        return tuple({finding.id: finding for finding in reversed(made)}.values())[::-1]

    def _finding(self, claim: FoundClaim, number: int) -> Finding:
        fault = self.fault_of(claim)
        if fault is None and number >= MOST_FINDINGS:
            fault = f"more than {MOST_FINDINGS} findings came of one call"
        item = self.items.get(claim.item) or next(iter(self.items.values()))
        if fault is not None:
            return self._unusable(item, fault)
        quote = quoted_in(item, claim.quote) or claim.quote
        finding = self._placed(claim, item, quote, shortened(quote), statements_around(item, quote))
        headline = fold(claim.headline)
        if Checker(_nowhere).fault_of(Claim(headline, "", quote, (finding,))) is not None:
            return finding  # the beginning of the quote says less than a good headline and nothing wrong
        always_on = finding.always_on or is_always_on(headline)
        return finding.model_copy(update={"headline": shortened(headline), "always_on": always_on})

    def _unusable(self, item: Item, reason: str) -> Finding:
        """What is left of a claim that does not stand: none of its words, which nobody said, but why it went."""
        return self._placed(None, item, f"(unusable: {reason[:200]})", "unusable", ()).model_copy(
            update={"signals": (UNUSABLE + reason,), "score": 0.0, "around": (), "identifiers": ()}
        )

    def _placed(
        self, claim: FoundClaim | None, item: Item, quote: str, headline: str, around: Sequence[str]
    ) -> Finding:
        kind = ReflectionKind(claim.kind) if claim is not None else ReflectionKind.EPISODE_LESSON
        base = Finding(
            quote=quote,
            headline=headline,
            category=claim.category if claim is not None else "gotchas",
            kind=kind,
            evidence_id=item.evidence_id,
            position=item.position,
            sentence=_sentence(item, quote),
            speaker=item.speaker,
            said_at=item.at,
            score=_SCORES[claim.confidence] if claim is not None else 0.0,
            signals=(f"confidence:{claim.confidence}",) if claim is not None else (),
            origin=Origin.CLEAN,
            evidence=self.mode,
            always_on=is_always_on(quote),
            around=tuple(around),
            identifiers=names_in(quote),
        )
        return self._of_session(base, item) if self.session is not None else self._of_commit(base, item)

    def _of_session(self, finding: Finding, item: Item) -> Finding:
        session, turn = self.session, item.turn
        assert session is not None
        stepped_in = {each.position: each for each in interventions([i.turn for i in self.items.values() if i.turn])}
        how = stepped_in.get(item.position) if item.speaker is Speaker.PERSON else None
        corrected = how is not None and how.kind in _STEPPED_IN
        person = item.speaker is Speaker.PERSON and not session.automated
        trigger = how.kind.value if how is not None else "prompt" if item.speaker is Speaker.PERSON else "reply"
        branch = (BRANCH + session.branch,) if session.branch and self.mode is EvidenceMode.FULL else ()
        return finding.model_copy(
            update={
                "kind": ReflectionKind.CORRECTIVE if corrected else finding.kind,
                "origin": Origin.CLEAN if person else Origin.DERIVED,
                "session_tainted": session.taint is not Taint.CLEAN,
                "signals": (*finding.signals, *branch),
                "trigger": trigger,
                "context": " ".join(how.context.split())[:600] if how is not None else "",
                "workspace": (turn.cwd if turn is not None else None) or session.workspace,
                "started_in": session.workspace,
                "ran_in": session.workspaces,
            }
        )

    def _of_commit(self, finding: Finding, item: Item) -> Finding:
        commit = (self.commits or {})[item.evidence_id]
        return finding.model_copy(
            update={
                "origin": Origin.CLEAN if commit.trusted else Origin.UNTRUSTED,
                "trigger": "revert" if commit.reverts else "commit",
                "context": fold(commit.subject),
                "checkpoints": commit.checkpoints,
            }
        )


def merged(chunks: Sequence[Sequence[Finding]]) -> tuple[Finding, ...]:
    """The findings of all chunks, each statement once: the stronger of two that quote the same words."""
    best: dict[tuple[str, str], Finding] = {}
    for finding in (finding for chunk in chunks for finding in chunk):
        key = (finding.evidence_id, fold(finding.quote).casefold())
        if key not in best or finding.score > best[key].score:
            best[key] = finding
    ordered = sorted(
        best.values(), key=lambda each: (each.said_at, each.evidence_id, each.position, each.sentence, each.id)
    )
    return tuple(ordered)


def unusable(finding: Finding) -> str | None:
    """Why `finding` did not stand its checks; None for one that did."""
    return next((signal.removeprefix(UNUSABLE) for signal in finding.signals if signal.startswith(UNUSABLE)), None)


def _nowhere(_: str) -> bool:
    return False


def _sentence(item: Item, quote: str) -> int:
    """How many sentences stand before `quote` in its item."""
    before = fold(item.text).partition(quote)[0]
    return sum(before.count(mark) for mark in ".!?")
