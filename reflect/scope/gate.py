"""Scope first, then provenance: what finally happens to a proposal.

An operator's approval settles who may see a lesson. It does not make an outsider's words the organisation's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from reflect.model import Origin
from reflect.scope.binding import Binding
from reflect.scope.vocabulary import Decision, Reason


@dataclass(frozen=True, slots=True)
class Gated:
    """The final decision.

    `quarantined`: the scope is settled, the words are not the organisation's; the lesson is kept as a record with its
    scope keys, on no page and in no index. `approvable`: an operator may approve it as it stands; otherwise its owner
    has to rewrite it first.
    """

    decision: Decision
    reasons: tuple[Reason, ...]
    quarantined: bool = False
    approvable: bool = True


def gate(binding: Binding, *, learnable: bool, origin: Origin) -> Gated:
    """What becomes of `binding` when the words behind it have `origin` and are or are not `learnable`."""
    if binding.decision is Decision.REJECT:
        return Gated(Decision.REJECT, binding.reasons, approvable=False)
    if learnable:
        return Gated(binding.decision, binding.reasons)
    objection = Reason.DERIVED_ORIGIN if origin is Origin.DERIVED else Reason.UNTRUSTED_ORIGIN
    return Gated(
        Decision.QUEUE,
        (*binding.reasons, objection),
        quarantined=binding.decision is Decision.WRITE,
        approvable=False,
    )
