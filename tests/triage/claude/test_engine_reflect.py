"""Reflecting: what becomes of a model's findings, good, bad, repeated, refused or missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from reflect.configuration import Format
from reflect.model import EvidenceMode, Origin, ReflectionKind, Session, Speaker, Taint
from reflect.pipeline.triage import cache_key
from reflect.triage.claude import chunks, prompt
from reflect.triage.claude.answers import KeptInMemory
from reflect.triage.claude.engine import ClaudeEngine, Surroundings
from reflect.triage.claude.faults import CapReached, ProviderFault, Refused, Unreadable
from reflect.triage.claude.reflecting import unusable
from reflect.triage.engine import Unusable
from reflect.triage.extractive.engine import ExtractiveEngine
from tests.triage.builders import commit, session
from tests.triage.claude.provider import MODELS, Provider, engine

RULE = "never use floats for money"


def found(quote: str, item: str = "e1", **more: Any) -> dict[str, Any]:
    given = {"category": "preferences", "kind": "procedural", "headline": quote, "confidence": "high", **more}
    return {"quote": quote, "item": item, **given}


def answer(*findings: dict[str, Any]) -> dict[str, Any]:
    return {"findings": list(findings)}


def one(**more: Any) -> Session:
    said = ({"prompt": "add a cart"}, {"reply": "Done with floats."}, {"steer": RULE + ", only in reports."})
    return session(*said, taint=more.pop("taint", Taint.CLEAN), **more)


def test_a_finding_gets_everything_that_code_knows() -> None:
    provider = Provider({"reflect": [answer(found("use floats for money", "e3"))]})
    given = one(workspace="/home/dev/shop", workspaces=("/home/dev/shop", "/home/dev/lib"), branch="cart")
    (finding,) = engine(provider).reflect(given, EvidenceMode.FULL)
    assert finding.quote == "never use floats for money, only in reports."
    assert finding.kind is ReflectionKind.CORRECTIVE and finding.trigger == "steer"
    assert finding.speaker is Speaker.PERSON and finding.origin is Origin.CLEAN and finding.always_on
    assert (finding.workspace, finding.started_in, finding.ran_in) == (
        "/home/dev/shop",
        "/home/dev/shop",
        given.workspaces,
    )
    assert finding.evidence_id == given.id and finding.position == 2 and "branch:cart" in finding.signals
    assert finding.headline.casefold() != "use floats for money"


def test_what_the_assistant_said_is_derived_and_a_tainted_session_says_so() -> None:
    provider = Provider({"reflect": [answer(found("Done with floats.", "e2")), answer(found(RULE, "e2"))]})
    made = engine(provider)
    (by_machine,) = made.reflect(one(), EvidenceMode.FULL)
    assert by_machine.origin is Origin.DERIVED
    (own,) = made.reflect(one(taint=Taint.UNTRUSTED), EvidenceMode.USER_TURNS)
    assert own.origin is Origin.CLEAN and own.session_tainted and own.evidence is EvidenceMode.USER_TURNS
    assert "Done with floats" not in provider.asked[1].content and "branch" not in provider.asked[1].content


OTHER_MODELS: tuple[dict[str, str], ...] = ({}, {"plan": "x"}, {"write": "x"}, {"reflect": "x"})
WRONG = [
    (found("use decimals for money", "e3"), "word for word"),
    (found(RULE, "e9"), "no item"),
    (found(RULE, "e1"), "word for word"),
    (found("  ", "e3"), "word for word"),
    (found(RULE, "e3", category="secrets"), "no category"),
    (found(RULE, "e3", headline="the key is AKIAIOSFODNN7EXAMPLQ"), "secret"),
]


@pytest.mark.parametrize(("wrong", "reason"), WRONG)
def test_hazard_146_what_fails_is_asked_for_once_more_with_the_reason_and_then_set_aside(
    wrong: Any, reason: str
) -> None:
    good = found(RULE, "e3")
    provider = Provider({"reflect": [answer(wrong, good), answer(wrong, good)]})
    findings = engine(provider).reflect(one(), EvidenceMode.FULL)
    assert len(provider.asked) == 2 and reason in provider.asked[1].content
    usable = [each for each in findings if unusable(each) is None]
    assert [each.quote for each in usable] == ["never use floats for money, only in reports."]
    (bad,) = [each for each in findings if unusable(each) is not None]
    assert reason in (unusable(bad) or "") and bad.score == 0
    assert "AKIA" not in bad.model_dump_json()


def test_a_second_answer_that_stands_is_taken() -> None:
    provider = Provider({"reflect": [answer(found("invented", "e3")), answer(found(RULE, "e3"))]})
    findings = engine(provider).reflect(one(), EvidenceMode.FULL)
    assert len(findings) == 1 and unusable(findings[0]) is None


def test_no_findings_is_an_answer() -> None:
    provider = Provider({"reflect": [answer()]})
    assert engine(provider).reflect(one(), EvidenceMode.FULL) == () and len(provider.asked) == 1


@pytest.mark.parametrize("data", [{}, {"findings": "none"}, {"findings": [{"quote": "x"}]}, [], "text", None, 7])
def test_hazard_83_an_answer_that_does_not_fit_twice_is_unusable(data: Any) -> None:
    provider = Provider({"reflect": [data, data]})
    with pytest.raises(Unusable, match="twice"):
        engine(provider).reflect(one(), EvidenceMode.FULL)
    assert len(provider.asked) == 2 and "does not fit" in provider.asked[1].content


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "pause_turn", "something_new", ""])
def test_hazard_143_and_144_no_answer_is_complete_unless_its_stop_reason_says_so(stop: str) -> None:
    provider = Provider({"reflect": [answer(found(RULE, "e3"))] * 2}, stop_reason=stop)
    with pytest.raises(Unusable, match="not complete"):
        engine(provider).reflect(one(), EvidenceMode.FULL)


def test_hazard_85_unreadable_is_asked_again_once() -> None:
    provider = Provider({"reflect": [Unreadable("cut short."), answer(found(RULE, "e3"))]})
    assert len(engine(provider).reflect(one(), EvidenceMode.FULL)) == 1
    assert "cut short" in provider.asked[1].content


@pytest.mark.parametrize("error", [ProviderFault("529"), CapReached("cap")])
def test_no_answer_is_no_finding_and_no_silence(error: Exception) -> None:
    with pytest.raises(type(error)):
        engine(Provider({"reflect": [error]})).reflect(one(), EvidenceMode.FULL)


def test_a_refusal_falls_back_to_the_embedded_engine_for_that_item() -> None:
    given = one()
    made = engine(Provider({"reflect": [Refused("no")]}))
    assert made.reflect(given, EvidenceMode.FULL) == ExtractiveEngine().reflect(given, EvidenceMode.FULL) != ()
    commits = [commit("fix: buffer", "The root cause was a stale lock file.")]
    made = engine(Provider({"reflect": [Refused("no")]}))
    assert set(made.reflect_on_commits(commits)) == set(ExtractiveEngine().reflect_on_commits(commits)) != set()


def test_hazard_78_all_of_a_long_session_is_sent_and_each_finding_kept_once() -> None:
    said: list[dict[str, Any]] = [{"prompt": f"part {number} " + "filler words " * 500} for number in range(30)]
    said += [{"prompt": RULE}, {"prompt": RULE}]
    given = session(*said, taint=Taint.CLEAN)
    provider = Provider()
    findings = engine(provider).reflect(given, EvidenceMode.FULL)
    assert len(provider.asked) > 2
    assert all(len(ask.content) < chunks.CHUNK_CHARS + 500 for ask in provider.asked)
    assert all(f"part {number} " in provider.everything for number in range(30))
    assert [each.quote for each in findings] == [RULE]


def test_commits_are_reflected_on_with_their_standing() -> None:
    commits = [
        commit("fix: embed", "The root cause was a buffer in tail.", number=1, checkpoints=("aaaaaaaaaaaa",)),
        commit("fix: more", "It fails because the lock is stale.", number=2, trusted=False),
    ]
    findings = engine(Provider()).reflect_on_commits(commits)
    assert {each.evidence_id: each.origin for each in findings} == {
        commits[0].id: Origin.CLEAN,
        commits[1].id: Origin.UNTRUSTED,
    }
    assert {each.checkpoints for each in findings} == {("aaaaaaaaaaaa",), ()}


def test_the_same_question_is_paid_for_once() -> None:
    provider = Provider()
    made = engine(provider)
    assert made.reflect(one(), EvidenceMode.FULL) == made.reflect(one(), EvidenceMode.FULL)
    assert len(provider.asked) == 1


def test_only_model_and_prompt_of_reflect_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(**changed: str) -> tuple[str, ...]:
        versions = {"reflect": "1", "plan": "1", "write": "1", **changed}
        loaded = {name: prompt.Prompt(name, version, "text") for name, version in versions.items()}
        monkeypatch.setattr("reflect.triage.claude.engine.load_prompt", loaded.__getitem__)
        return cache_key(engine(Provider()), one())

    plain = version()
    assert version(plan="2", write="3") == plain
    assert version(reflect="2") != plain
    monkeypatch.undo()
    keys = {cache_key(ClaudeEngine(Provider(), Surroundings({**MODELS, **changed})), one()) for changed in OTHER_MODELS}
    assert len(keys) == 2


def test_a_new_reflect_prompt_re_asks_reflections_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInMemory()
    loaded = {name: prompt.load_prompt(name) for name in ("reflect", "plan", "write")}
    monkeypatch.setattr("reflect.triage.claude.engine.load_prompt", loaded.__getitem__)

    def night() -> Counter[str]:
        provider = Provider()
        made = ClaudeEngine(provider, Surroundings(MODELS), kept=kept)
        sessions = [session({"prompt": f"never use floats in service{number}"}, number=number) for number in range(5)]
        findings = [each for one in sessions for each in made.reflect(one, EvidenceMode.FULL)]
        for action in made.plan(findings, (), Format(), 9).actions:
            made.write(action, None)
        return Counter(ask.purpose for ask in provider.asked)

    asked = night()
    assert asked["reflect"] == 5 and asked["plan"] == 1 and asked["write"] >= 1
    assert night() == Counter()
    loaded["reflect"] = replace(loaded["reflect"], version="2")
    assert night() == Counter(reflect=5)
    loaded["write"] = replace(loaded["write"], version="2")
    assert night() == Counter(write=asked["write"])


def test_a_prefilter_sends_the_person_and_what_the_embedded_engine_hears() -> None:
    said = (
        {"prompt": "add a cart"},
        {"reply": "I have read all the files now."},
        {"reply": "The root cause was a stale lock file."},
    )
    provider = Provider()
    made = engine(provider, prefilter=True)
    made.reflect(session(*said, taint=Taint.CLEAN), EvidenceMode.FULL)
    assert "add a cart" in provider.everything and "stale lock" in provider.everything
    assert "read all the files" not in provider.everything
    assert made.version != engine(Provider()).version
