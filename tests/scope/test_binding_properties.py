"""What holds of every proposal, whatever its evidence looks like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflect.errors import ScopeError
from reflect.model import ReflectionKind
from reflect.scope.binding import Binding, bind
from reflect.scope.metadata import build_scope_metadata
from reflect.scope.proposal import EvidenceScope, Proposal, Recorded, Verdict
from reflect.scope.stored import resolve_stored_scope
from tests.scope.cases import CHILD, NOON, START, House, P, Q, house

Case = tuple[Proposal, dict[str, EvidenceScope]]

quick = settings(max_examples=150, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> House:
    return house(tmp_path_factory.mktemp("house"))


projects = st.sampled_from([P, P, P, Q, CHILD, "retired", "nobody"])
sources = st.sampled_from(["operator", "classifier", "extraction_default", "legacy_default", "someone", None])
confidences = st.one_of(st.none(), st.floats(0, 1), st.sampled_from([1.0, 0.0, 0.9]))


@st.composite
def stored_keys(draw: st.DrawFn) -> dict[str, Any] | None:
    if draw(st.booleans()):
        return {"scope": "project", "project_id": draw(projects), "scope_source": "extraction_default"}
    scope = draw(st.sampled_from(["global", "project", "task", "team", None]))
    keys = {"scope": scope, "project_id": draw(projects), "scope_source": draw(sources)}
    return draw(st.sampled_from([keys, keys, None]))


starts = st.sampled_from([None, START, f"{START}/.claude/worktrees/keen-hopper", "C:\\repo"])
strays = st.sampled_from([START, f"{START}/src", "/home/dev/storefront", "c:\\repo\\src", "/"])
wild_sessions = st.builds(Recorded, st.just("P"), starts, st.lists(strays, max_size=2).map(tuple))
own_sessions = st.sampled_from(
    [Recorded("P"), Recorded("P", START, (f"{START}/src",)), Recorded("P", "C:\\repo", ("c:\\repo\\src",))]
)
verdicts = st.builds(Verdict, st.sampled_from(["global", "project"]), st.sampled_from([P, Q]), confidences)
OWN = {"scope": "project", "project_id": P, "scope_source": "extraction_default"}
EVERYWHERE = {"scope": "global", "scope_source": "operator"}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A proposal and its evidence, half of the time all of it P's own. `settle` puts it into the house of the test."""
    own = draw(st.booleans())
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=4, min_size=int(own)))
    facts = draw(st.lists(st.sampled_from(["w", "x", "y"]), max_size=2))
    known = [*names, *facts] if own or draw(st.integers(0, 5)) else names[:1]
    episode_keys, fact_keys = (st.just(OWN), st.sampled_from([OWN, EVERYWHERE])) if own else (stored_keys(),) * 2
    sessions = st.one_of(st.none(), own_sessions if own else wild_sessions)
    evidence = {
        name: EvidenceScope(
            name, resolve_stored_scope(draw(episode_keys if name in names else fact_keys)), draw(sessions)
        )
        for name in known
    }
    asked = Proposal(
        id="1",
        claim="Always cap retries",
        reflection_kind=draw(st.sampled_from([*ReflectionKind])),
        episodes=tuple(names),
        facts=tuple(facts),
        active_workspace="P" if own else draw(st.sampled_from(["P", "Q", "CHILD", "OUT", None])),
        synthesized_at=NOON,
        domain="behavior",
        always_on=draw(st.booleans()),
        reasoner_confidence=draw(confidences),
        verdict=draw(st.one_of(st.none(), st.none(), verdicts)),
        model_scope_hint=draw(st.sampled_from([None, "global", "project"])),
    )
    return asked, evidence


def settle(case: Case, home: House) -> Case:
    asked, evidence = case
    places = {"P": home.p, "Q": home.q, "CHILD": home.child, "OUT": home.base}
    here = {name: _moved(item, home) for name, item in evidence.items()}
    return _changed(asked, active_workspace=places.get(str(asked.active_workspace))), here


def _moved(item: EvidenceScope, home: House) -> EvidenceScope:
    if item.recorded is None:
        return item
    session = Recorded(str(home.p), item.recorded.start, item.recorded.directories)
    return EvidenceScope(item.id, item.scope, session)


def _changed(asked: Proposal, **changes: Any) -> Proposal:
    fields = {name: getattr(asked, name) for name in Proposal.__dataclass_fields__}
    return Proposal(**{**fields, **changes})


def outcome(binding: Binding) -> tuple[Any, ...]:
    return binding.decision, binding.reasons, binding.keys, binding.proposed, binding.narrowest_scope


@quick
@given(cases())
def test_no_path_writes_global_without_an_operator(home: House, case: Case) -> None:
    """R1 is the one way to a write; what R2 would make global is asked."""
    binding = bind(*settle(case, home), home.registry)
    assert (binding.decision == "write") == (binding.keys is not None)
    if binding.keys is not None:
        assert (binding.keys.scope, binding.keys.project_id) == ("project", P)
        assert binding.keys.scope_source != "operator"
    if binding.proposed.scope == "global":
        assert binding.decision == "queue"


@quick
@given(cases())
def test_a_write_has_keys_the_builder_accepts(home: House, case: Case) -> None:
    binding = bind(*settle(case, home), home.registry)
    if binding.keys is not None:
        assert build_scope_metadata(**binding.keys.flat()) == binding.keys
        assert binding.keys.workspace_root in {str(home.p), str(home.second_p), str(home.q), str(home.child)}
        assert binding.keys.scope_confidence <= 0.9
        assert not binding.workspace_inferred or binding.keys.scope_confidence <= 0.6


@quick
@given(cases(), st.randoms(use_true_random=False))
def test_evidence_order_and_duplicates_irrelevant(home: House, case: Case, random: Any) -> None:
    asked, evidence = settle(case, home)
    episodes, facts = [*asked.episodes, *asked.episodes[:2], " "], [*asked.facts, *asked.facts[:1]]
    random.shuffle(episodes)
    random.shuffle(facts)
    names = list(evidence)
    random.shuffle(names)
    shuffled = _changed(asked, episodes=tuple(episodes), facts=tuple(facts))
    again = bind(shuffled, {name: evidence[name] for name in names}, home.registry)
    assert outcome(again) == outcome(bind(asked, evidence, home.registry))


FOREIGN = {
    "another-project": {"scope": "project", "project_id": Q, "scope_source": "operator"},
    "unscoped": None,
    "invalid": {"scope": "team", "scope_source": "operator"},
    "no-project": {"scope": "project", "scope_source": "operator"},
    "task": {"scope": "task", "project_id": P, "scope_source": "operator"},
}


@quick
@given(cases(), st.sampled_from(sorted(FOREIGN)), st.booleans())
def test_adding_foreign_evidence_never_stays_write(home: House, case: Case, shape: str, as_fact: bool) -> None:
    asked, evidence = settle(case, home)
    before = bind(asked, evidence, home.registry)
    side = "facts" if as_fact else "episodes"
    more = _changed(asked, **{side: (*getattr(asked, side), "zz")})
    after = bind(more, {**evidence, "zz": EvidenceScope("zz", resolve_stored_scope(FOREIGN[shape]))}, home.registry)
    assert after.decision != "write"
    if before.decision == "write":
        assert after.decision == "queue"
    missing = bind(more, evidence, home.registry)
    assert missing.decision != "write"


@quick
@given(cases(), st.sampled_from([*ReflectionKind]))
def test_kind_never_changes_scope(home: House, case: Case, kind: ReflectionKind) -> None:
    asked, evidence = settle(case, home)
    usual = bind(asked, evidence, home.registry)
    other = bind(_changed(asked, reflection_kind=kind), evidence, home.registry)
    assert (usual.decision, usual.reasons, usual.keys) == (other.decision, other.reasons, other.keys)


def test_the_generator_reaches_every_decision(home: House) -> None:
    """The properties above would hold of a generator that never made a write."""
    seen: set[str] = set()

    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    @given(cases())
    def look(case: Case) -> None:
        seen.add(str(bind(*settle(case, home), home.registry).decision))

    look()
    assert seen == {"write", "queue", "reject"}


GOOD: dict[str, Any] = {
    "scope": "project",
    "project_id": P,
    "workspace_root": "/srv/payments",
    "scope_confidence": 0.6,
    "scope_source": "extraction_default",
}


@pytest.mark.parametrize("value", [True, False, float("nan"), 1.5, -0.1, float("inf"), "0.5", None])
def test_confidence_bool_nan_out_of_range_rejected(value: Any) -> None:
    with pytest.raises(ScopeError, match="`scope_confidence`"):
        build_scope_metadata(**{**GOOD, "scope_confidence": value, "scope_source": "operator"})


@pytest.mark.parametrize("value", [None, "", "  ", 3])
@pytest.mark.parametrize("field", ["workspace_root", "project_id"])
def test_workspace_root_required_for_project_reflection(field: str, value: Any) -> None:
    with pytest.raises(ScopeError, match=f"`{field}`"):
        build_scope_metadata(**{**GOOD, field: value})


@pytest.mark.parametrize("source", ["legacy_default", "invalid_default", "", "extracted", None])
def test_sources_of_the_resolver_are_never_written(source: Any) -> None:
    with pytest.raises(ScopeError, match="`scope_source`"):
        build_scope_metadata(**{**GOOD, "scope_source": source})


@pytest.mark.parametrize("scope", ["task", "team", "", None])
def test_scopes_that_do_not_last_are_never_written(scope: Any) -> None:
    with pytest.raises(ScopeError, match="`scope`"):
        build_scope_metadata(**{**GOOD, "scope": scope})


@pytest.mark.parametrize("source", ["classifier", "extraction_default"])
def test_global_needs_an_operator(source: str) -> None:
    with pytest.raises(ScopeError, match="only an operator makes a row global"):
        build_scope_metadata(**{**GOOD, "scope": "global", "scope_source": source})


def test_global_drops_its_project() -> None:
    keys = build_scope_metadata(**{**GOOD, "scope": "global", "scope_source": "operator", "scope_confidence": 1})
    assert (keys.project_id, keys.workspace_root, keys.scope_confidence) == (None, None, 1.0)


def test_certainty_is_an_operators_alone() -> None:
    with pytest.raises(ScopeError, match="never certain"):
        build_scope_metadata(**{**GOOD, "scope_confidence": 1.0})
    assert build_scope_metadata(**{**GOOD, "scope_confidence": 1.0, "scope_source": "operator"}).scope_confidence == 1
