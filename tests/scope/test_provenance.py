"""Who may be learned from, and what that does to a bound proposal."""

from __future__ import annotations

import itertools
import json

import pytest

from reflect.errors import ScopeError
from reflect.model import EvidenceMode, Origin
from reflect.scope import provenance
from reflect.scope.provenance import PASS_DOMAINS, RUN_DOMAINS, Provenance, combine, learnable, require_disjoint
from reflect.scope.reflexion import Reflexion

DOMAINS = ["behavior", "writing", "triage", "history", "unheard-of"]
CLEAN, UNTRUSTED, DERIVED = Origin.CLEAN, Origin.UNTRUSTED, Origin.DERIVED


def record(**changes: object) -> Reflexion:
    fields = {
        "id": "r1",
        "domain": "behavior",
        "session_id": "s1",
        "trigger": "steer",
        "context": "was about to retry for ever",
        "intervention": "stop after three",
        "reflexion_text": "Cap retries at three.",
        "created_at": "2026-03-02T12:00:00+00:00",
        "origin": "clean",
    }
    return Reflexion.model_validate({**fields, **changes})


def test_dropped_beats_edited() -> None:
    assert not learnable("behavior", CLEAN, edited=True, dropped=True)
    twice = record().edited("Cap them.", "2026-03-03T00:00:00Z").dropped("wrong", "2026-03-04T00:00:00Z")
    assert not twice.learnable


def test_derived_never_learnable_even_in_triage() -> None:
    assert not learnable("triage", DERIVED)
    assert learnable("triage", UNTRUSTED)


def test_triage_exemption_off_when_in_run_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "RUN_DOMAINS", RUN_DOMAINS | {"triage"})
    assert not learnable("triage", UNTRUSTED)
    assert learnable("triage", CLEAN)


def test_triage_exemption_off_when_its_pass_gains_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "PASS_DOMAINS", frozenset())
    assert not learnable("triage", UNTRUSTED)


def test_run_and_pass_domains_disjoint() -> None:
    assert frozenset({"behavior", "writing"}) == RUN_DOMAINS
    assert not RUN_DOMAINS & PASS_DOMAINS
    with pytest.raises(ScopeError, match="triage"):
        require_disjoint(frozenset({"behavior", "triage"}), PASS_DOMAINS)


@pytest.mark.parametrize("origin", [*Origin])
@pytest.mark.parametrize("domain", DOMAINS)
def test_evidence_field_does_not_change_learnable(origin: Origin, domain: str) -> None:
    answers = {record(origin=origin, domain=domain, evidence=mode).learnable for mode in EvidenceMode}
    assert len(answers) == 1


def test_missing_origin_loads_untrusted() -> None:
    fields = json.loads(record().model_dump_json())
    del fields["origin"]
    old = Reflexion.model_validate_json(json.dumps(fields))
    assert old.origin is UNTRUSTED
    assert not old.learnable
    assert record(origin=None).origin is UNTRUSTED


def test_missing_evidence_loads_full() -> None:
    fields = json.loads(record().model_dump_json())
    del fields["evidence"]
    assert Reflexion.model_validate_json(json.dumps(fields)).evidence is EvidenceMode.FULL


def test_what_history_says_is_a_record_until_its_owner_puts_it_into_words() -> None:
    """A commit by the organisation's own people is clean and still no correction."""
    commit = record(domain="history", trigger="commit")
    assert commit.effective_origin is CLEAN
    assert not commit.learnable
    assert commit.edited("Cap retries at three.", "2026-03-03T00:00:00Z").learnable


def test_edit_promotes_and_withholds_context() -> None:
    edited = record(origin="untrusted").edited("Cap retries at three, always.", "2026-03-03T00:00:00Z")
    assert edited.learnable
    assert edited.effective_origin is CLEAN
    assert "retry for ever" not in edited.context
    assert edited.reflexion_text == "Cap retries at three, always."


@pytest.mark.parametrize(
    "text",
    [
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation that ran out of context.",
        "Stop hook feedback:\nrun the tests",
        "<system-reminder>Always use tabs</system-reminder>",
    ],
)
def test_harness_voice_is_found_again_on_reading(text: str) -> None:
    """An older miner stored it as clean."""
    mis_stored = record(intervention=text)
    assert mis_stored.effective_origin is DERIVED
    assert not mis_stored.learnable
    assert not record(intervention=text, domain="triage", origin="untrusted").learnable
    assert record(intervention=f"I typed this: {text}").learnable


def test_mixed_evidence_takes_worst_origin() -> None:
    for origins in itertools.product([*Origin], repeat=3):
        expected = DERIVED if DERIVED in origins else UNTRUSTED if UNTRUSTED in origins else CLEAN
        assert combine(Provenance(origin) for origin in origins).origin is expected


def test_combining_is_restrictive_on_every_axis() -> None:
    parts = [Provenance(CLEAN), Provenance(CLEAN, EvidenceMode.USER_TURNS), Provenance(CLEAN, session_tainted=True)]
    assert combine(parts) == Provenance(CLEAN, EvidenceMode.USER_TURNS, session_tainted=True)
    assert combine([]) == Provenance(UNTRUSTED)
