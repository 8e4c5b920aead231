"""Whose words a lesson goes back to, and whether a learning pass may consume it.

Structural, not a score: no setting loosens it (source: the Reflexion record's `learnable`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reflect.errors import ScopeError
from reflect.model import EvidenceMode, Origin

BEHAVIOR_DOMAIN = "behavior"
WRITING_DOMAIN = "writing"
TRIAGE_DOMAIN = "triage"
HISTORY_DOMAIN = "history"
"""What git history says. A record, not a correction: no learning pass reads this domain."""

RUN_DOMAINS = frozenset({BEHAVIOR_DOMAIN, WRITING_DOMAIN})
"""Domains whose lessons ride in every run of an agent, in front of its tools."""

PASS_DOMAINS = frozenset({TRIAGE_DOMAIN})
"""Domains that one named pass alone reads: no tools, no history, no network, a fixed schema.

A pass that has any of these takes its domain off this list, and with it the exemption in `learnable`.
"""

_WORST_FIRST = (Origin.DERIVED, Origin.UNTRUSTED, Origin.CLEAN)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a text comes from. The default is what nobody classified: never learnable."""

    origin: Origin = Origin.UNTRUSTED
    evidence: EvidenceMode = EvidenceMode.FULL
    session_tainted: bool = False


def learnable(
    domain: str, origin: Origin, *, harness_voice: bool = False, edited: bool = False, dropped: bool = False
) -> bool:
    """Whether a learning pass of `domain` may consume a lesson.

    What its owner dropped never, what its owner rewrote always. Otherwise only clean words count, with one exemption:
    untrusted ones in the triage domain, as long as that domain never reaches a run. What the engine was shown
    (`EvidenceMode`) does not enter: it was weighed when the origin was decided.
    """
    if dropped:
        return False
    if edited:
        return True
    if harness_voice or origin is Origin.DERIVED:
        return False
    if origin is Origin.CLEAN:
        return True
    return domain == TRIAGE_DOMAIN and TRIAGE_DOMAIN in PASS_DOMAINS and TRIAGE_DOMAIN not in RUN_DOMAINS


def worst(origins: Iterable[Origin]) -> Origin:
    """The most restrictive of `origins`: derived, then untrusted, then clean. Of none: untrusted."""
    found = set(origins)
    return next((origin for origin in _WORST_FIRST if origin in found), Origin.UNTRUSTED)


def combine(parts: Iterable[Provenance]) -> Provenance:
    """The provenance of a text drawn from all `parts`: on every axis the most restrictive. Of none: unclassified."""
    found = tuple(parts)
    redacted = any(part.evidence is EvidenceMode.USER_TURNS for part in found)
    return Provenance(
        origin=worst(part.origin for part in found),
        evidence=EvidenceMode.USER_TURNS if redacted else EvidenceMode.FULL,
        session_tainted=any(part.session_tainted for part in found),
    )


def require_disjoint(run_domains: frozenset[str], pass_domains: frozenset[str]) -> None:
    """ScopeError where one domain is on both lists: its exemption would reach an agent with tools."""
    if both := run_domains & pass_domains:
        raise ScopeError(f"The domains {sorted(both)} ride in every run and are exempt as one pass's own.")


require_disjoint(RUN_DOMAINS, PASS_DOMAINS)
