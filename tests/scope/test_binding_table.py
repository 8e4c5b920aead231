"""The decision table, row by row: the evidence that comes in, and what has to come out of it, with the reason.

A row's id is its number and its name; R1 and R2 are the rules it shows. Rows 14 to 16 are an operator's:
`test_approval.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from reflect.scope.binding import Binding, bind
from reflect.scope.proposal import EvidenceScope, Recorded, Verdict
from reflect.scope.vocabulary import reflection_kind
from tests.scope.cases import (
    CHILD,
    START,
    House,
    P,
    Q,
    assert_written_to_p,
    bound,
    everywhere,
    of_project,
    proposal,
    stored,
)

E1, E2, F1 = of_project("e1"), of_project("e2"), of_project("f1")
Q1, C1 = of_project("q1", Q), of_project("c1", CHILD)
ANYWHERE, EVENT = everywhere("f-global"), everywhere("e-global")
AGREES = Verdict("project", P, 0.85, "one project")
SURE_OF_GLOBAL = Verdict("global", None, 0.99)

Place = Callable[[House], Path | str | None]


def src(home: House) -> Path:
    return home.p / "src"


def linked(home: House) -> Path:
    (home.base / "link").symlink_to(home.p / "src")
    return home.base / "link"


def escaping(home: House) -> Path:
    (home.p / "escape").symlink_to(home.q)
    return home.p / "escape"


@dataclass(frozen=True)
class Written:
    """R1: the five keys of P's row."""

    root: Place = lambda home: home.p
    source: str = "extraction_default"
    conf: float = 0.6
    inferred: bool = False

    def check(self, binding: Binding, home: House) -> None:
        root = self.root(home)
        assert isinstance(root, Path)
        assert_written_to_p(binding, root=root, source=self.source, conf=self.conf)
        assert binding.workspace_inferred == self.inferred
        assert (binding.narrowest_scope, binding.widens) == (P, False)


@dataclass(frozen=True)
class Queued:
    """A question without keys, with what an approval would be asked to write. Global is R2's proposal."""

    reasons: tuple[str, ...]
    scope: str | None = None
    conf: float = 0.6
    memory_type: str = "reflection"
    source: str = "extraction_default"
    narrowest: str | None = None
    rule: str | None = None

    def check(self, binding: Binding, home: House) -> None:
        proposed = binding.proposed
        assert (binding.decision, binding.reasons, binding.keys) == ("queue", self.reasons, None)
        assert (proposed.scope, proposed.project_id, proposed.workspace_root) == (self.scope, None, None)
        assert (proposed.memory_type, proposed.scope_source) == (self.memory_type, self.source)
        assert proposed.scope_confidence == self.conf
        assert binding.narrowest_scope == self.narrowest
        assert binding.widens == (self.scope == "global" and self.narrowest is not None)
        assert binding.rule == (self.rule or ("R2" if self.scope == "global" else None))


@dataclass(frozen=True)
class Refused:
    """Nothing to ask: a line in the report."""

    reason: str

    def check(self, binding: Binding, home: House) -> None:
        assert (binding.decision, binding.reasons, binding.keys) == ("reject", (self.reason,), None)
        assert (binding.proposed.scope, binding.proposed.scope_confidence) == (None, 0.0)


@dataclass(frozen=True)
class Row:
    """`id` is the row's number and name, and a shape where the row has several.

    `unknown` ids name nothing; `session` is one more episode, whose directories are those of the test.
    """

    id: str
    outcome: Written | Queued | Refused
    episodes: tuple[EvidenceScope, ...] = ()
    facts: tuple[EvidenceScope, ...] = ()
    unknown: tuple[str, ...] = ()
    session: Callable[[House], EvidenceScope] | None = None
    workspace: Place = src
    strict: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def number(self) -> str:
        return self.id.split()[0]

    def bound(self, home: House, **changes: Any) -> Binding:
        return bound(
            home,
            (*self.episodes, *(() if self.session is None else (self.session(home),))),
            self.facts,
            workspace=self.workspace(home),
            strict=self.strict,
            unknown=self.unknown,
            **{**self.changes, **changes},
        )


def ran(start: Place, *directories: Place) -> Callable[[House], EvidenceScope]:
    """P's session that was started in `start` and went on in `directories`."""

    def session(home: House) -> EvidenceScope:
        begun, went = start(home), tuple(str(place(home)) for place in directories)
        return of_project("s", recorded=Recorded(str(home.p), None if begun is None else str(begun), went))

    return session


def nowhere(home: House) -> None:
    return None


def there(path: str = START) -> Place:
    """A directory of the machine that the session ran on."""
    return lambda home: path


CROSS, WIDE, STRAY = ("cross_project_evidence",), ("global_only_evidence",), ("workspace_outside_project",)
UNRESOLVED = Queued(("evidence_scope_unresolved",), conf=0.0)
OF_P = Queued(STRAY, narrowest=P)
PREFERENCE = "candidate_preference"

TABLE = (
    Row("1 test_rule1_all_project_evidence_writes_project_scope", Written(), (E1, E2), (F1,)),
    Row(
        "1 test_rule1_all_project_evidence_writes_project_scope: sure",
        Written(conf=0.9),
        (E1,),
        (F1,),
        changes={"reasoner_confidence": 0.97},
    ),
    Row(
        "1 test_rule1_all_project_evidence_writes_project_scope: less sure",
        Written(conf=0.7),
        (E1,),
        (F1,),
        changes={"reasoner_confidence": 0.7},
    ),
    Row(
        "1b test_rule1_scope_reasoner_stamps_classifier",
        Written(source="classifier", conf=0.85),
        (E1,),
        (F1,),
        changes={"verdict": AGREES},
    ),
    Row("1c test_rule1_facts_only_requires_one_project_item", Written(), facts=(F1,)),
    Row("1c test_rule1_facts_only_requires_one_project_item: none", Queued(WIDE, "global"), facts=(ANYWHERE,)),
    Row("2 test_rule1_global_facts_do_not_widen_scope", Written(), (E1,), (F1, ANYWHERE)),
    Row(
        "2b test_rule1_global_episode_is_not_rule1",
        Queued(("non_project_episode",), "global", narrowest=P),
        (E1, EVENT),
    ),
    Row("3 test_rule2_cross_project_never_silent_global", Queued(CROSS, "global"), (E1, Q1)),
    Row("3 test_rule2_cross_project_never_silent_global: everyone's", Queued(CROSS, "global"), (E1, Q1), (ANYWHERE,)),
    Row("3 test_rule2_cross_project_never_silent_global: a fact", Queued(CROSS, "global"), (E1,), (Q1,)),
    Row(
        "3 test_rule2_cross_project_never_silent_global: sure",
        Queued(CROSS, "global"),
        (E1, Q1),
        (F1,),
        changes={"reasoner_confidence": 0.99},
    ),
    Row(
        "3b test_rule2_high_confidence_reasoner_still_queues",
        Queued(CROSS, "global", source="classifier"),
        (E1, Q1),
        changes={"verdict": SURE_OF_GLOBAL, "reasoner_confidence": 0.99},
    ),
    Row(
        "3c test_rule2_reasoner_cannot_bind_cross_project_to_one_project",
        Queued((*CROSS, "scope_verdict_conflict"), source="classifier", rule="R2"),
        (E1, Q1),
        changes={"verdict": AGREES},
    ),
    Row(
        "4 test_no_active_workspace_queues",
        Queued(("no_active_workspace",), "global", narrowest=P),
        (E1,),
        (F1,),
        workspace=nowhere,
    ),
    Row(
        "4b test_missing_cwd_is_marked_inferred_and_capped",
        Written(inferred=True),
        session=ran(nowhere),
        changes={"reasoner_confidence": 0.95},
    ),
    Row(
        "4b test_missing_cwd_is_marked_inferred_and_capped: strict",
        Queued(("workspace_inferred",), narrowest=P),
        session=ran(nowhere),
        strict=True,
    ),
    Row("5 test_workspace_outside_project_root_queues", OF_P, (E1,), workspace=lambda home: home.base),
    Row(
        "5 test_workspace_outside_project_root_queues: the session's",
        OF_P,
        session=ran(there(), there(), there("/home/dev/elsewhere")),
    ),
    Row(
        "5b test_workspace_in_other_project_queues: the session's",
        OF_P,
        session=ran(lambda home: home.p, lambda home: home.q),
    ),
    Row("5b test_workspace_in_other_project_queues", OF_P, (E1,), workspace=lambda home: home.q),
    Row("5c test_nested_child_workspace_is_not_parent", OF_P, (E1,), workspace=lambda home: home.child / "src"),
    Row(
        "5c test_nested_child_workspace_is_not_parent: the session's",
        OF_P,
        session=ran(there(), there(f"{START}/ledger/src")),
    ),
    Row("5c test_nested_child_workspace_is_not_parent: its evidence", Queued(CROSS, "global"), (E1, C1)),
    Row("5d test_sibling_prefix_is_outside: the session's", OF_P, session=ran(there(), there(f"{START}2"))),
    Row("5d test_sibling_prefix_is_outside", OF_P, (E1,), workspace=lambda home: f"{home.p}2"),
    Row("5e test_symlinked_workspace_binds_canonical_root", Written(), (E1,), workspace=linked),
    Row("5f test_symlink_escape_is_outside", OF_P, (E1,), workspace=escaping),
    *(
        Row(f"6 test_unscoped_evidence_queues_not_global: {shape}", replace(UNRESOLVED, narrowest=P), (E1, old))
        for shape, old in {
            "no keys": stored("old", None),
            "empty": stored("old", {}),
            "an id alone": stored("old", {"project_id": P}),
        }.items()
    ),
    Row("6 test_unscoped_evidence_queues_not_global: alone", UNRESOLVED, (stored("old", None),)),
    *(
        Row(f"6b test_invalid_scope_evidence_queues: {shape}", replace(UNRESOLVED, narrowest=P), (E1,), (bad,))
        for shape, bad in {
            "no scope of ours": stored("bad", {"scope": "team", "scope_source": "operator"}),
            "a list": stored("bad", {"scope": ["project"], "scope_source": "operator"}),
            "no source": stored("bad", {"scope": "project", "project_id": P}),
            "a reader's source": stored("bad", {"scope": "project", "project_id": P, "scope_source": "legacy_default"}),
            "a reader's other source": stored("bad", {"scope": "global", "scope_source": "invalid_default"}),
            "anybody": stored("bad", {"scope": "global", "scope_source": "someone"}),
            "no number": of_project("bad", scope_confidence=float("nan")),
            "a truth value": of_project("bad", scope_confidence=True),
        }.items()
    ),
    *(
        Row(f"6c test_project_evidence_without_id_queues: {name!r}", replace(UNRESOLVED, narrowest=P), (E1, bad))
        for name in (None, "", " ", 7)
        for bad in (stored("bad", {"scope": "project", "project_id": name, "scope_source": "classifier"}),)
    ),
    Row(
        "6d test_task_evidence_queues",
        replace(UNRESOLVED, narrowest=P),
        (E1, stored("t", {"scope": "task", "project_id": P, "scope_source": "classifier"})),
    ),
    Row(
        "6e test_evidence_without_workspace_root_still_rule1",
        Written(),
        (of_project("e1", workspace_root=None, scope_source="operator"), of_project("e2", workspace_root="/srv/old")),
    ),
    *(
        Row(f"7 test_empty_evidence_is_refused_not_vacuous_project: {ids}", Refused("empty_evidence"), unknown=ids)
        for ids in ((), ("",), (" ", "\t", ""))
    ),
    Row(
        "7b test_unresolvable_evidence_queues",
        Queued(("evidence_missing",), conf=0.0, narrowest=P),
        (E1,),
        unknown=("ghost",),
    ),
    Row("7b test_unresolvable_evidence_queues: alone", Queued(("evidence_missing",), conf=0.0), unknown=("ghost",)),
    Row("8 test_global_only_evidence_queues_even_in_workspace", Queued(WIDE, "global"), facts=(ANYWHERE,)),
    Row("8 test_global_only_evidence_queues_even_in_workspace: an event", Queued(WIDE, "global"), (EVENT,)),
    Row(
        "8b test_global_only_without_workspace_queues",
        Queued((*WIDE, "no_active_workspace"), "global"),
        facts=(ANYWHERE,),
        workspace=nowhere,
    ),
    Row(
        "9 test_always_on_cross_project_is_candidate_preference: two projects",
        Queued(CROSS, "global", memory_type=PREFERENCE),
        (E1, Q1),
        changes={"always_on": True},
    ),
    Row(
        "9 test_always_on_cross_project_is_candidate_preference: no workspace",
        Queued(("no_active_workspace",), "global", memory_type=PREFERENCE, narrowest=P),
        (E1,),
        workspace=nowhere,
        changes={"always_on": True},
    ),
    Row(
        "9 test_always_on_cross_project_is_candidate_preference: nobody's",
        Queued(WIDE, "global", memory_type=PREFERENCE),
        facts=(ANYWHERE,),
        changes={"always_on": True},
    ),
    Row("9b test_always_on_single_project_stays_project", Written(), (E1,), changes={"always_on": True}),
    *(
        Row(
            f"9c test_always_on_does_not_bypass_unresolved: {shape}",
            replace(UNRESOLVED, memory_type=PREFERENCE, narrowest=P),
            (E1, bad),
            changes={"always_on": True},
        )
        for shape, bad in {
            "no keys": stored("bad", None),
            "a task": stored("bad", {"scope": "task", "scope_source": "classifier"}),
            "no scope of ours": stored("bad", {"scope": "x"}),
        }.items()
    ),
    Row(
        "10 test_disabled_project_queues_not_global",
        Queued(("project_memory_disabled",), narrowest="retired"),
        (of_project("e", "retired"),),
        workspace=lambda home: home.base / "retired",
    ),
    Row(
        "10 test_disabled_project_queues_not_global: unregistered",
        Queued(("project_unregistered", *STRAY), narrowest="nobody"),
        (of_project("e", "nobody"),),
    ),
    Row("11 test_model_scope_string_is_ignored", Written(), (E1,), changes={"model_scope_hint": "global"}),
    Row(
        "13 test_multi_root_project_uses_matched_root",
        Written(root=lambda home: home.second_p),
        (of_project("e1", workspace_root="/srv/payments"),),
        workspace=lambda home: home.second_p,
    ),
    Row(
        "step-9 a workspace that names no place",
        Queued(("workspace_unresolvable",), "global", narrowest=P),
        (E1,),
        workspace=lambda home: "relative/path",
    ),
    *(
        Row(
            f"step-11 a scope reasoner that disagrees only stops: {verdict.scope}",
            Queued(("scope_verdict_conflict",), source="classifier", narrowest=P),
            (E1,),
            changes={"verdict": verdict},
        )
        for verdict in (SURE_OF_GLOBAL, Verdict("project", Q, 0.99))
    ),
)

IN_THIS_TABLE = (
    "1 1b 1c 2 2b 3 3b 3c 4 4b 5 5b 5c 5d 5e 5f 6 6b 6c 6d 6e 7 7b 8 8b 9 9b 9c 10 11 13 step-9 step-11".split()
)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_row(home: House, row: Row) -> None:
    """R1 where it is written, R2 where it is asked about for everyone."""
    row.outcome.check(row.bound(home), home)


def test_no_row_is_left_out() -> None:
    assert {row.number for row in TABLE} == set(IN_THIS_TABLE)
    assert len({row.id for row in TABLE}) == len(TABLE)


KINDS = ["procedural", "corrective", "episode_lesson", "episodic_lesson", "procedural_lesson"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_kind_does_not_change_scope(home: House, row: Row, kind: str) -> None:
    """Row 12, R1 and R2: every row again, under every name of every kind."""
    other = row.bound(home, reflection_kind=kind)
    row.outcome.check(other, home)
    assert other.proposed.reflection_kind == reflection_kind(kind)


def test_a_hint_leaves_everything_as_it_is(home: House) -> None:
    """Row 11, R1: computed, not picked."""
    assert bound(home, [E1], model_scope_hint="global") == bound(home, [E1])


def test_a_standing_rule_is_marked(home: House) -> None:
    """Row 9b, R1: the flag keeps it off surfaces that are always on."""
    assert bound(home, [E1], always_on=True).always_on
    assert not bound(home, [E1]).always_on


@pytest.mark.parametrize(
    "changes",
    [
        {"reasoner_confidence": True},
        {"reasoner_confidence": float("nan")},
        {"reasoner_confidence": 1.01},
        {"reasoner_confidence": -0.1},
        {"reasoner_confidence": "0.9"},
        {"reflection_kind": "candidate_preference"},
        {"reflection_kind": "wisdom"},
        {"reflection_kind": None},
        {"claim": "  "},
        {"claim": None},
        {"always_on": "yes"},
        {"episodes": "e1"},
        {"episodes": (1,)},
        {"facts": None},
        {"active_workspace": 7},
        {"origin": "clean-ish"},
        {"synthesized_at": "2026-03-02"},
        {"verdict": Verdict("project", None, 0.9)},
        {"verdict": Verdict("team", "payments", 0.9)},
        {"verdict": Verdict("global", None, float("nan"))},
        {"verdict": {"scope": "project"}},
    ],
    ids=str,
)
def test_malformed_proposal_is_rejected(home: House, changes: dict[str, Any]) -> None:
    """Step 1."""
    malformed = replace(proposal([E1], workspace=home.p), **changes)
    Refused("malformed_proposal").check(bind(malformed, {E1.id: E1}, home.registry), home)


@pytest.mark.parametrize("written", ["~nobody-of-that-name/x", "/srv/\x00", "  "])
def test_workspace_that_names_no_place_is_unresolvable(home: House, written: str) -> None:
    """Step 9, R2."""
    assert bound(home, [E1], workspace=written).reasons == ("workspace_unresolvable",)


def test_confidence_capped_below_one_without_operator(home: House) -> None:
    """R1."""
    for said in (0.0, 0.5, 0.9, 1.0, 1):
        assert_written_to_p(bound(home, [E1], reasoner_confidence=said), root=home.p, conf=min(said, 0.9))


def test_the_lower_of_two_confidences_counts(home: House) -> None:
    """R1."""
    binding = bound(home, [E1], reasoner_confidence=0.5, verdict=AGREES)
    assert_written_to_p(binding, root=home.p, source="classifier", conf=0.5)


def test_every_later_reason_is_kept_in_order(home: House) -> None:
    binding = bound(
        home, [E1, Q1, stored("old", None)], workspace=None, unknown=("ghost",), verdict=Verdict("project", Q, 0.5)
    )
    assert binding.reasons == (
        "evidence_missing",
        "evidence_scope_unresolved",
        "cross_project_evidence",
        "no_active_workspace",
        "scope_verdict_conflict",
    )
    assert binding.proposed.scope is None


def test_hazard_104_nothing_switches_the_binder_off() -> None:
    """Isolation is no option that can be left out."""
    assert set(inspect.signature(bind).parameters) == {"proposal", "evidence", "registry", "strict_workspace"}
