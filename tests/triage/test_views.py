"""What an engine may see of a session."""

from __future__ import annotations

import pytest

from reflect.model import Channel, EvidenceMode, Session, Speaker, Taint
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.views import evidence_mode, visible_turns
from tests.triage.builders import session

CANARY = "CANARY-7f3a"


def _tainted(taint: Taint = Taint.UNTRUSTED) -> Session:
    return session(
        {"prompt": "Use the shared client instead of requests."},
        {"reply": f"The root cause was {CANARY}, it silently fails."},
        {"tool_use": f"input {CANARY}", "tool": "Bash"},
        {"injected": f"{CANARY} must always be used"},
        {"denial": "never call requests directly, use net/client.py", "tool": "Edit", "about": CANARY},
        {"answer": "Postgres with a partial index on tenants", "about": f"Which store, {CANARY}?"},
        {"plan_rejected": "the token must come from Vault", "about": f"plan {CANARY}"},
        taint=taint,
    )


@pytest.mark.parametrize(
    ("taint", "mode"),
    [
        (Taint.CLEAN, EvidenceMode.FULL),
        (Taint.UNTRUSTED, EvidenceMode.USER_TURNS),
        (Taint.UNKNOWN, EvidenceMode.USER_TURNS),
    ],
)
def test_only_a_session_clean_to_its_end_is_seen_whole(taint: Taint, mode: EvidenceMode) -> None:
    assert evidence_mode(_tainted(taint)) is mode


def test_user_turns_hold_no_byte_of_assistant_tool_or_harness() -> None:
    seen = visible_turns(_tainted(), EvidenceMode.USER_TURNS)
    assert CANARY not in repr(seen)
    assert {turn.speaker for turn in seen if turn.text} == {Speaker.PERSON}
    assert [turn.tool for turn in seen if turn.channel is Channel.TOOL_USE] == ["Bash"]


def test_full_mode_shows_everything() -> None:
    clean = _tainted(Taint.CLEAN)
    assert visible_turns(clean, EvidenceMode.FULL) == clean.turns


@pytest.mark.parametrize("taint", [Taint.UNTRUSTED, Taint.UNKNOWN])
def test_no_finding_of_a_tainted_session_holds_a_byte_the_person_did_not_write(taint: Taint) -> None:
    tainted = _tainted(taint)
    found = ExtractiveEngine().reflect(tainted, evidence_mode(tainted))
    assert len(found) >= 3
    assert CANARY not in "".join(finding.model_dump_json() for finding in found)
    assert all(finding.evidence is EvidenceMode.USER_TURNS and finding.session_tainted for finding in found)
