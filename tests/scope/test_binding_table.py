"""The decision table, row by row. A test's name is the row's; R1 and R2 name the rule it shows."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest

from reflect.scope.binding import Binding, bind
from reflect.scope.proposal import Recorded, Verdict
from reflect.scope.vocabulary import reflection_kind
from tests.scope.cases import (
    CHILD,
    START,
    House,
    Q,
    assert_written_to_p,
    bound,
    everywhere,
    of_project,
    proposal,
    stored,
)

AGREES = Verdict("project", "payments", 0.85, "one project")
E1, E2 = of_project("e1"), of_project("e2")
F1 = of_project("f1")
Q1 = of_project("q1", Q)
ANYWHERE = everywhere("f-global")


def assert_queued(
    binding: Binding,
    *reasons: str,
    scope: str | None,
    memory_type: str = "reflection",
    conf: float = 0.6,
    source: str = "extraction_default",
) -> None:
    assert binding.decision == "queue"
    assert binding.reasons == reasons
    assert binding.keys is None
    assert binding.proposed.scope == scope
    assert binding.proposed.project_id is None
    assert binding.proposed.workspace_root is None
    assert binding.proposed.memory_type == memory_type
    assert binding.proposed.scope_confidence == conf
    assert binding.proposed.scope_source == source


def test_rule1_all_project_evidence_writes_project_scope(home: House) -> None:
    """Row 1, R1."""
    assert_written_to_p(bound(home, [E1, E2], [F1]), root=home.p)
    assert_written_to_p(bound(home, [E1], [F1], reasoner_confidence=0.97), root=home.p, conf=0.9)
    assert_written_to_p(bound(home, [E1], [F1], reasoner_confidence=0.7), root=home.p, conf=0.7)


def test_rule1_scope_reasoner_stamps_classifier(home: House) -> None:
    """Row 1b, R1."""
    binding = bound(home, [E1], [F1], verdict=AGREES)
    assert_written_to_p(binding, root=home.p, source="classifier", conf=0.85)


def test_rule1_facts_only_requires_one_project_item(home: House) -> None:
    """Row 1c, R1: "all episodes" says nothing when there is none; one item of the project must exist."""
    assert_written_to_p(bound(home, facts=[F1]), root=home.p)
    assert bound(home, facts=[ANYWHERE]).decision == "queue"


def test_rule1_global_facts_do_not_widen_scope(home: House) -> None:
    """Row 2, R1."""
    assert_written_to_p(bound(home, [E1], [F1, ANYWHERE]), root=home.p)


def test_rule1_global_episode_is_not_rule1(home: House) -> None:
    """Row 2b, R2: only facts may be global."""
    binding = bound(home, [E1, everywhere("e-global")])
    assert_queued(binding, "non_project_episode", scope="global")
    assert binding.rule == "R2"
    assert binding.widens


@pytest.mark.parametrize("facts", [[], [ANYWHERE], [F1]], ids=["episodes", "with-a-global-fact", "with-a-fact-of-p"])
def test_rule2_cross_project_never_silent_global(home: House, facts: list[Any]) -> None:
    """Row 3, R2."""
    binding = bound(home, [E1, Q1], facts, reasoner_confidence=0.99)
    assert_queued(binding, "cross_project_evidence", scope="global")
    assert binding.rule == "R2"
    assert binding.narrowest_scope is None


def test_rule2_high_confidence_reasoner_still_queues(home: House) -> None:
    """Row 3b, R2: confidence is no authority."""
    binding = bound(home, [E1, Q1], verdict=Verdict("global", None, 0.99))
    assert_queued(binding, "cross_project_evidence", scope="global", source="classifier")


def test_rule2_reasoner_cannot_bind_cross_project_to_one_project(home: House) -> None:
    """Row 3c, R2: it would hide Q's content in P."""
    binding = bound(home, [E1, Q1], verdict=AGREES)
    assert_queued(binding, "cross_project_evidence", "scope_verdict_conflict", scope=None, source="classifier")


def test_no_active_workspace_queues(home: House) -> None:
    """Row 4, R2."""
    binding = bound(home, [E1], [F1], workspace=None)
    assert_queued(binding, "no_active_workspace", scope="global")
    assert binding.narrowest_scope == "payments"
    assert binding.widens


def test_missing_cwd_is_marked_inferred_and_capped(home: House) -> None:
    """Row 4b, R1: the repository is known, the directory is not."""
    unsaid = of_project("e1", recorded=Recorded(str(home.p)))
    binding = bound(home, [unsaid], reasoner_confidence=0.95)
    assert_written_to_p(binding, root=home.p, conf=0.6)
    assert binding.workspace_inferred
    assert_queued(bound(home, [unsaid], strict=True), "workspace_inferred", scope=None)


def test_workspace_outside_project_root_queues(home: House) -> None:
    """Row 5."""
    assert_queued(bound(home, [E1], workspace=home.base), "workspace_outside_project", scope=None)
    strayed = of_project("e1", recorded=Recorded(str(home.p), START, (START, "/home/dev/elsewhere")))
    assert_queued(bound(home, [strayed]), "workspace_outside_project", scope=None)


def test_workspace_in_other_project_queues(home: House) -> None:
    """Row 5b: it would write P's text while Q is worked on."""
    assert_queued(bound(home, [E1], workspace=home.q), "workspace_outside_project", scope=None)
    in_q = of_project("e1", recorded=Recorded(str(home.p), str(home.p), (str(home.q),)))
    assert_queued(bound(home, [in_q]), "workspace_outside_project", scope=None)


def test_nested_child_workspace_is_not_parent(home: House) -> None:
    """Row 5c: the longest root wins."""
    assert_queued(bound(home, [E1], workspace=home.child / "src"), "workspace_outside_project", scope=None)
    assert_queued(bound(home, [E1, of_project("c1", CHILD)]), "cross_project_evidence", scope="global")


def test_sibling_prefix_is_outside(home: House) -> None:
    """Row 5d: containment, not prefix."""
    assert_queued(bound(home, [E1], workspace=f"{home.p}2"), "workspace_outside_project", scope=None)


def test_symlinked_workspace_binds_canonical_root(home: House) -> None:
    """Row 5e, R1: resolve first."""
    link = home.base / "link"
    link.symlink_to(home.p / "src")
    assert_written_to_p(bound(home, [E1], workspace=link), root=home.p)


def test_symlink_escape_is_outside(home: House) -> None:
    """Row 5f."""
    (home.p / "escape").symlink_to(home.q)
    assert_queued(bound(home, [E1], workspace=home.p / "escape"), "workspace_outside_project", scope=None)


@pytest.mark.parametrize("keys", [None, {}, {"project_id": "payments"}], ids=["no-metadata", "empty", "id-only"])
def test_unscoped_evidence_queues_not_global(home: House, keys: dict[str, Any] | None) -> None:
    """Row 6: absent is not global."""
    assert_queued(bound(home, [E1, stored("old", keys)]), "evidence_scope_unresolved", scope=None, conf=0.0)


@pytest.mark.parametrize(
    "keys",
    [
        {"scope": "team", "scope_source": "operator"},
        {"scope": ["project"], "scope_source": "operator"},
        {"scope": "project", "project_id": "payments"},
        {"scope": "project", "project_id": "payments", "scope_source": "legacy_default"},
        {"scope": "global", "scope_source": "invalid_default"},
        {"scope": "global", "scope_source": "someone"},
        {"scope": "project", "project_id": "payments", "scope_source": "operator", "scope_confidence": float("nan")},
        {"scope": "project", "project_id": "payments", "scope_source": "operator", "scope_confidence": True},
    ],
)
def test_invalid_scope_evidence_queues(home: House, keys: dict[str, Any]) -> None:
    """Row 6b."""
    assert_queued(bound(home, [E1], [stored("bad", keys)]), "evidence_scope_unresolved", scope=None, conf=0.0)


@pytest.mark.parametrize("named", [None, "", " ", 7])
def test_project_evidence_without_id_queues(home: House, named: object) -> None:
    """Row 6c: nobody guesses."""
    item = stored("bad", {"scope": "project", "project_id": named, "scope_source": "classifier"})
    assert_queued(bound(home, [E1, item]), "evidence_scope_unresolved", scope=None, conf=0.0)


def test_task_evidence_queues(home: House) -> None:
    """Row 6d: it does not last."""
    item = stored("t", {"scope": "task", "project_id": "payments", "scope_source": "classifier"})
    assert_queued(bound(home, [E1, item]), "evidence_scope_unresolved", scope=None, conf=0.0)


def test_evidence_without_workspace_root_still_rule1(home: House) -> None:
    """Row 6e, R1: rows that an operator moved have no root; ids are compared, nothing else."""
    moved = of_project("e1", workspace_root=None, scope_source="operator")
    elsewhere = of_project("e2", workspace_root="/srv/old/payments")
    assert_written_to_p(bound(home, [moved, elsewhere]), root=home.p)


@pytest.mark.parametrize("ids", [(), ("",), (" ", "\t", "")], ids=["none", "blank", "blanks"])
def test_empty_evidence_is_refused_not_vacuous_project(home: House, ids: tuple[str, ...]) -> None:
    """Row 7: "every piece is P's" is true of nothing at all."""
    binding = bound(home, unknown=ids)
    assert binding.decision == "reject"
    assert binding.reasons == ("empty_evidence",)
    assert binding.keys is None


def test_unresolvable_evidence_queues(home: House) -> None:
    """Row 7b: made up, or gone."""
    assert_queued(bound(home, [E1], unknown=("ghost",)), "evidence_missing", scope=None, conf=0.0)
    assert_queued(bound(home, unknown=("ghost",)), "evidence_missing", scope=None, conf=0.0)


def test_global_only_evidence_queues_even_in_workspace(home: House) -> None:
    """Row 8, R2."""
    assert_queued(bound(home, facts=[ANYWHERE]), "global_only_evidence", scope="global")


def test_global_only_without_workspace_queues(home: House) -> None:
    """Row 8b, R2."""
    binding = bound(home, facts=[ANYWHERE], workspace=None)
    assert_queued(binding, "global_only_evidence", "no_active_workspace", scope="global")
    assert not binding.widens


@pytest.mark.parametrize("shape", ["cross_project_evidence", "no_active_workspace", "global_only_evidence"])
def test_always_on_cross_project_is_candidate_preference(home: House, shape: str) -> None:
    """Row 9, R2's second outcome: it influences nothing until an operator approves."""
    shapes = {
        "cross_project_evidence": bound(home, [E1, Q1], always_on=True),
        "no_active_workspace": bound(home, [E1], workspace=None, always_on=True),
        "global_only_evidence": bound(home, facts=[ANYWHERE], always_on=True),
    }
    assert_queued(shapes[shape], shape, scope="global", memory_type="candidate_preference")


def test_always_on_single_project_stays_project(home: House) -> None:
    """Row 9b, R1: phrasing does not widen; the flag keeps it off surfaces that are always on."""
    binding = bound(home, [E1], always_on=True)
    assert_written_to_p(binding, root=home.p)
    assert binding.always_on


@pytest.mark.parametrize("bad", [None, {"scope": "task", "scope_source": "classifier"}, {"scope": "x"}])
def test_always_on_does_not_bypass_unresolved(home: House, bad: dict[str, Any] | None) -> None:
    """Row 9c."""
    binding = bound(home, [E1, stored("bad", bad)], always_on=True)
    assert_queued(binding, "evidence_scope_unresolved", scope=None, memory_type="candidate_preference", conf=0.0)


def test_disabled_project_queues_not_global(home: House) -> None:
    """Row 10: Kai's own fallback, global, would be a silent global row."""
    retired = bound(home, [of_project("e", "retired")], workspace=home.base / "retired")
    assert_queued(retired, "project_memory_disabled", scope=None)
    unknown = bound(home, [of_project("e", "nobody")])
    assert_queued(unknown, "project_unregistered", "workspace_outside_project", scope=None)


def test_model_scope_string_is_ignored(home: House) -> None:
    """Row 11, R1: computed, not picked."""
    hinted = bound(home, [E1], model_scope_hint="global")
    assert_written_to_p(hinted, root=home.p)
    assert hinted == bound(home, [E1])


@pytest.mark.parametrize("verdict", [Verdict("global", None, 0.99), Verdict("project", Q, 0.99)])
def test_scope_reasoner_that_disagrees_only_stops(home: House, verdict: Verdict) -> None:
    """Step 11: it never widens and never re-targets."""
    assert_queued(bound(home, [E1], verdict=verdict), "scope_verdict_conflict", scope=None, source="classifier")


KINDS = ["procedural", "corrective", "episode_lesson", "episodic_lesson", "procedural_lesson"]


@pytest.mark.parametrize("kind", KINDS)
def test_kind_does_not_change_scope(home: House, kind: str) -> None:
    """Row 12, R1 and R2."""
    shapes: list[dict[str, Any]] = [
        {"episodes": [E1], "facts": [F1, ANYWHERE]},
        {"episodes": [E1, Q1]},
        {"facts": [ANYWHERE]},
        {"episodes": [E1], "workspace": None},
        {"episodes": [E1], "workspace": home.q},
        {"episodes": [E1, stored("old", None)]},
    ]
    for shape in shapes:
        usual, other = bound(home, **shape), bound(home, **shape, reflection_kind=kind)
        assert (other.decision, other.reasons, other.keys) == (usual.decision, usual.reasons, usual.keys)
        assert other.proposed.reflection_kind == reflection_kind(kind)
        assert other.proposed.scope == usual.proposed.scope


def test_multi_root_project_uses_matched_root(home: House) -> None:
    """Row 13, R1."""
    from_first_root = of_project("e1", workspace_root=str(home.p))
    assert_written_to_p(bound(home, [from_first_root], workspace=home.second_p), root=home.second_p)


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
    binding = bind(malformed, {E1.id: E1}, home.registry)
    assert (binding.decision, binding.reasons, binding.keys) == ("reject", ("malformed_proposal",), None)


@pytest.mark.parametrize("written", ["relative/path", "~nobody-of-that-name/x", "/srv/\x00", "  "])
def test_workspace_that_names_no_place_is_unresolvable(home: House, written: str) -> None:
    """Step 9, R2."""
    assert_queued(bound(home, [E1], workspace=written), "workspace_unresolvable", scope="global")


def test_confidence_capped_below_one_without_operator(home: House) -> None:
    for said in (0.0, 0.5, 0.9, 1.0, 1):
        keys = bound(home, [E1], reasoner_confidence=said).keys
        assert keys is not None
        assert keys.scope_confidence == min(said, 0.9)


def test_the_lower_of_two_confidences_counts(home: House) -> None:
    keys = bound(home, [E1], reasoner_confidence=0.5, verdict=AGREES).keys
    assert keys is not None
    assert keys.scope_confidence == 0.5


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
