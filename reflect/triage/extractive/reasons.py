"""Why a page is made, in a sentence for people: how much was said, where, and what it amounts to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflect.model import Finding, Origin, Source
from reflect.triage.extractive.weights import Weights

_AMOUNTS_TO = {
    "decision": "says what was decided",
    "rule": "asks for a rule",
    "problem": "names what went wrong",
    "behaviour": "says how something behaves",
    "reason": "gives a reason",
    "structure": "says how something is built",
    "open": "says what is open",
}
_HAPPENED = {
    "denial": "a call was refused with it",
    "plan-rejected": "a plan was rejected with it",
    "interruption": "the agent was stopped with it",
    "steer": "said while the agent worked",
    "queued": "said while the agent worked",
    "follow-up": "said right after the agent's turn",
    "answer": "answers a question of the agent",
    "revert": "something was reverted",
    "fix": "something was fixed",
}
_WHOSE = {
    Origin.DERIVED: "An agent's words that no person said",
    Origin.UNTRUSTED: "Words of somebody who is not trusted",
}
_MOST_NAMED = 2
_MOST_SIGNS = 3


def why_new(weights: Weights, findings: Sequence[Finding]) -> str:
    """`2 statements in commit 4fbf1acefc12: names what went wrong, gives a reason`."""
    many = "1 statement" if len(findings) == 1 else f"{len(findings)} statements"
    sources = list(dict.fromkeys(str(Source.of(each)) for finding in findings for each in finding.evidence_ids))
    where = " and ".join(sources) if len(sources) <= _MOST_NAMED else f"{len(sources)} sources"
    signs = _signs(weights, findings)
    return f"{many} in {where}" + (f": {signs}" if signs else "")


def why_review(weights: Weights, finding: Finding) -> str:
    """`An agent's words that no person said, for review: names what went wrong`."""
    signs = _signs(weights, [finding])
    whose = _WHOSE.get(finding.origin, f"Words of origin {finding.origin}")
    return f"{whose}, for review" + (f": {signs}" if signs else "")


def _signs(weights: Weights, findings: Sequence[Finding]) -> str:
    signals = list(dict.fromkeys(signal for finding in findings for signal in finding.signals))
    roles = _roles(weights)
    happened = [_HAPPENED[signal] for signal in signals if signal in _HAPPENED]
    said = [_AMOUNTS_TO[roles[signal]] for signal in signals if signal in roles]
    return ", ".join(list(dict.fromkeys([*said, *happened]))[:_MOST_SIGNS])


def _roles(weights: Weights) -> Mapping[str, str]:
    return {cue.name: cue.role for cue in weights.cues}
