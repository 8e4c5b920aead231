"""Whose words teach, and what that makes of a bound lesson: three tables, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest

from reflect.model import Commit, EvidenceMode, Origin, Session, Speaker, Taint
from reflect.scope import provenance
from reflect.scope.provenance import RUN_DOMAINS
from reflect.scope.reflexion import Reflexion
from reflect.scope.resolve import BoundAction, bind_action
from reflect.scope.vocabulary import WRITTEN_SOURCES
from tests.scope.cases import House, P, Q, action, commit, context, finding, p_keys, page, session
from tests.written import assert_row_written

HARNESS = "[Request interrupted by user for tool use]"
LATER = "2026-03-03T00:00:00Z"


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
    }
    return Reflexion.model_validate({**fields, **changes})


DOMAINS = ("behavior", "writing", "triage", "unheard-of")
NOT_TRIAGE = ("behavior", "writing", "unheard-of")


@dataclass(frozen=True)
class Learns:
    """One row of what a learning pass may consume: every record that it means, and the answer."""

    id: str
    answer: bool
    origins: tuple[Origin, ...] = (*Origin,)
    domains: tuple[str, ...] = DOMAINS
    dropped: tuple[bool, ...] = (False,)
    edited: tuple[bool, ...] = (False,)
    said_by_harness: tuple[bool, ...] = (False,)
    in_runs: tuple[bool, ...] = (False, True)
    """Whether `triage` rides in every run."""


CLEAN, UNTRUSTED, DERIVED = Origin.CLEAN, Origin.UNTRUSTED, Origin.DERIVED
EITHER = (False, True)
LEARNABLE = (
    Learns(
        "dropped, whatever else",
        False,
        domains=(*DOMAINS, "history"),
        dropped=(True,),
        edited=EITHER,
        said_by_harness=EITHER,
    ),
    Learns("edited by its owner", True, edited=(True,), said_by_harness=EITHER),
    Learns("clean, any domain", True, (CLEAN,)),
    Learns(
        "untrusted, in a run's domain or an unknown one", False, (UNTRUSTED,), ("behavior", "writing", "unheard-of")
    ),
    Learns("untrusted, in triage while it is exempt", True, (UNTRUSTED,), ("triage",), in_runs=(False,)),
    Learns("untrusted, in triage once it rides in runs", False, (UNTRUSTED,), ("triage",), in_runs=(True,)),
    Learns("derived, in a run's domain", False, (DERIVED,), NOT_TRIAGE),
    Learns("derived, in triage while it is exempt", False, (DERIVED,), ("triage",), in_runs=(False,)),
    Learns("derived, in triage once it rides in runs", False, (DERIVED,), ("triage",), in_runs=(True,)),
    Learns("the harness's, stored as clean by an older miner", False, (CLEAN,), said_by_harness=(True,)),
    Learns("the harness's, stored as what it is", False, (UNTRUSTED, DERIVED), said_by_harness=(True,)),
    Learns("what history says", False, domains=("history",), said_by_harness=EITHER),
    Learns(
        "what history says, in its owner's words", True, domains=("history",), edited=(True,), said_by_harness=EITHER
    ),
)


@pytest.mark.parametrize("mode", EvidenceMode)
@pytest.mark.parametrize("row", LEARNABLE, ids=lambda row: row.id)
def test_learnable_row(monkeypatch: pytest.MonkeyPatch, row: Learns, mode: EvidenceMode) -> None:
    """What the engine was shown (`mode`) never changes the answer."""
    given = product(row.origins, row.domains, row.dropped, row.edited, row.said_by_harness, row.in_runs)
    for origin, domain, dropped, edited, harness, in_runs in given:
        held = record(origin=origin, domain=domain, evidence=mode, **({"intervention": HARNESS} if harness else {}))
        held = held.edited("Cap them at three.", LATER) if edited else held
        held = held.dropped("wrong", LATER) if dropped else held
        monkeypatch.setattr(provenance, "RUN_DOMAINS", RUN_DOMAINS | ({"triage"} if in_runs else set()))
        assert held.learnable is row.answer, held


def test_every_record_is_in_a_row() -> None:
    """And in one alone: no two rows answer for the same record."""
    whole = product(Origin, (*DOMAINS, "history"), EITHER, EITHER, EITHER, EITHER)
    rows = [
        one
        for row in LEARNABLE
        for one in product(row.origins, row.domains, row.dropped, row.edited, row.said_by_harness, row.in_runs)
    ]
    assert sorted(rows) == sorted(whole)


@dataclass(frozen=True)
class Source:
    """One row of where words come from: what they are, and where they may teach."""

    id: str
    said_in: Session | Commit
    origin: Origin
    evidence: EvidenceMode
    behavior: bool
    triage: bool
    speaker: Speaker = Speaker.PERSON
    a_page: bool = True


FULL, USER_TURNS = EvidenceMode.FULL, EvidenceMode.USER_TURNS
TAINTED, UNKNOWN = session(taint=Taint.UNTRUSTED), session(taint=Taint.UNKNOWN)
SOURCES = (
    Source("a person's turn, clean so far", session(), CLEAN, FULL, True, True),
    Source("a person's turn, tainted", TAINTED, CLEAN, USER_TURNS, True, True),
    Source("a person's turn, nobody knows", UNKNOWN, CLEAN, USER_TURNS, True, True),
    Source("an agent's prose alone, clean so far", session(), DERIVED, FULL, False, False, Speaker.ASSISTANT, False),
    Source("an agent's prose, tainted", TAINTED, UNTRUSTED, USER_TURNS, False, True, Speaker.ASSISTANT, False),
    Source("an agent's prose, nobody knows", UNKNOWN, UNTRUSTED, USER_TURNS, False, True, Speaker.ASSISTANT, False),
    Source("a tool's output", session(), UNTRUSTED, FULL, False, True, Speaker.TOOL, False),
    Source("a commit of our own", commit(), CLEAN, FULL, False, False),
    Source("a commit of a stranger", commit(trusted=False), UNTRUSTED, FULL, False, True, a_page=False),
    Source("a session without a person", session(automated=True), DERIVED, FULL, False, False, a_page=False),
    Source("the harness's voice", session(), DERIVED, FULL, False, False, Speaker.HARNESS, False),
)


@pytest.mark.parametrize("row", SOURCES, ids=lambda row: row.id)
def test_source_row(home: House, row: Source) -> None:
    """R1 binds all of them to their project; the words decide whether there is a page. The engine says "clean"."""
    said = finding(row.said_in, speaker=row.speaker, origin=Origin.CLEAN, evidence=EvidenceMode.FULL)
    bound = bind_action(action(said), None, context(home, row.said_in))
    (kept,) = bound.reflexions
    assert (kept.origin, kept.evidence) == (row.origin, row.evidence)
    assert_row_written(kept, project=P, scope_source="extraction_default", workspace_root=str(home.p))
    assert kept.learnable is row.behavior
    if isinstance(row.said_in, Session):
        assert kept.model_copy(update={"domain": "triage"}).learnable is row.triage
    assert kept.session_tainted == (row.said_in in (TAINTED, UNKNOWN))
    assert (bound.decision == "write") == (bound.keys is not None) == row.a_page
    if bound.keys is not None:
        assert (bound.keys.scope, bound.keys.project_id) == ("project", P)
        assert bound.keys.scope_source in WRITTEN_SOURCES
        assert (bound.keys.origin, bound.keys.evidence) == (row.origin, row.evidence)
        assert bound.keys.learnable is row.behavior


def test_owner_and_loading_rows() -> None:
    """What says nothing of its origin is untrusted; the owner's words are clean and their excerpt withheld."""
    unsaid = record()
    assert (unsaid.origin, unsaid.evidence, unsaid.learnable) == (UNTRUSTED, FULL, False)
    assert unsaid.model_copy(update={"domain": "triage"}).learnable
    rewritten = unsaid.edited("Cap them at three.", LATER)
    assert (rewritten.effective_origin, rewritten.learnable) == (CLEAN, True)
    assert "retry for ever" not in rewritten.context
    assert not rewritten.dropped("wrong", LATER).learnable


@dataclass(frozen=True)
class Final:
    """One row of what finally happens: how it was bound, whose words it is, and what is left of it."""

    id: str
    strayed: bool | None
    """Whether it was queued by its scope; None: there was nothing to bind."""
    words: Origin
    decision: str
    reasons: tuple[str, ...]
    kept: bool = False
    approvable: bool = True


STRAY = "workspace_outside_project"
FINALS = (
    Final("write, learnable", False, CLEAN, "write", (), kept=True),
    Final("write, untrusted", False, UNTRUSTED, "queue", ("untrusted_origin",), kept=True, approvable=False),
    Final("write, derived", False, DERIVED, "queue", ("derived_origin",), kept=True, approvable=False),
    Final("queue, learnable", True, CLEAN, "queue", (STRAY,)),
    Final("queue, untrusted", True, UNTRUSTED, "queue", (STRAY, "untrusted_origin"), approvable=False),
    Final("queue, derived", True, DERIVED, "queue", (STRAY, "derived_origin"), approvable=False),
    Final("reject, any", None, CLEAN, "reject", ("empty_evidence",)),
)


@pytest.mark.parametrize("row", FINALS, ids=lambda row: row.id)
def test_final_row(home: House, row: Final) -> None:
    """R1 writes a page and its record; without the words for it, the record alone, with its scope, and a question."""
    said_in = session(workspaces=("/home/dev/elsewhere",) if row.strayed else ())
    said = () if row.strayed is None else (finding(said_in, origin=row.words),)
    bound = bind_action(action(*said), None, context(home, said_in))
    assert (bound.decision, bound.reasons) == (row.decision, row.reasons)
    assert [(one.scope, one.project_id, one.scope_source, one.origin) for one in bound.reflexions] == (
        [("project", P, "extraction_default", row.words)] if row.kept else []
    )
    assert bound.quarantined == (row.kept and row.decision == "queue")
    assert (bound.keys is not None) == (row.decision == "write")
    assert approvable(bound) == (row.approvable if row.decision == "queue" else None)


def approvable(bound: BoundAction) -> bool | None:
    return None if bound.item is None else bound.item.approvable


@pytest.mark.parametrize("words", [UNTRUSTED, DERIVED])
def test_what_would_join_anothers_page_keeps_no_record(home: House, words: Origin) -> None:
    """R2: where no scope was settled, nothing is kept but the question."""
    neighbours = page(scope_keys=p_keys(project_id=Q))
    bound = bind_action(action(finding(session(), origin=words)), neighbours, context(home, session()))
    assert bound.reasons == ("cross_project_evidence", f"{words}_origin")
    assert (bound.reflexions, bound.quarantined, approvable(bound)) == ((), False, False)
