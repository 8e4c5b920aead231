"""Where a person stepped in, and what of it is a lesson."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from reflect.model import EvidenceMode, Finding, Origin, ReflectionKind, Summary, Taint
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.views import evidence_mode
from tests.triage.builders import session

ENGINE = ExtractiveEngine()


def _lessons(*said: dict[str, Any], taint: Taint = Taint.UNKNOWN, **more: Any) -> list[Finding]:
    one = session(*said, taint=taint, **more)
    return [each for each in ENGINE.reflect(one, evidence_mode(one)) if "completed" not in each.signals]


def _after(kind: str, text: str, **more: Any) -> list[Finding]:
    return _lessons({"prompt": "Look at the service."}, {"reply": "Done."}, {kind: text, **more})


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("no we just need to have entire, self reporting does not work", "decisions"),
        ("i am not in favor of mcp", "preferences"),
        ("default should be auto", "decisions"),
        ("we need this configurable, auto or manual", "decisions"),
        ("also dont advertise entire cli everywhere", "preferences"),
        ("We don’t want another daemon here, use the existing scheduler", "preferences"),
        ("never push to main", "preferences"),
    ],
)
def test_what_people_say_in_passing_is_heard(text: str, category: str) -> None:
    (lesson,) = _after("prompt", text)
    assert lesson.quote == text
    assert lesson.category == category
    assert lesson.origin is Origin.CLEAN


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "fix",
        "Do 123",
        "commit",
        "let's commit",
        "lets commit this session and see what insights we have",
        "rename the repo as well",
        "Install entire cli",
        "how does the harness work without entire?",
        "what are other options",
        "I want to test with this repo, I want to see what gets build here",
        "give codex this plan, or write it to file so it can pick up and review",
        "okay",
        "",
        "   ",
        "\x00",
        "🚀",
    ],
)
def test_tasks_chatter_and_questions_are_no_lessons(text: str) -> None:
    assert _after("prompt", text) == []


def test_a_refusal_with_a_reason_is_a_lesson_and_one_without_is_none() -> None:
    (lesson,) = _after("denial", "the fixtures belong to tests/data, not here", tool="Write")
    assert lesson.kind is ReflectionKind.CORRECTIVE
    assert lesson.trigger == "denial"
    assert lesson.context == "tool: Write"
    assert _after("denial", "", tool="Write") == []


@pytest.mark.parametrize("kind", ["denial", "steer", "plan_rejected"])
def test_a_correction_needs_no_cue(kind: str) -> None:
    assert [each.quote for each in _after(kind, "the invoice number restarts each January")] != []
    assert _after("prompt", "the invoice number restarts each January") == []


def test_the_prompt_after_an_interruption_is_a_correction() -> None:
    (lesson,) = _lessons(
        {"prompt": "Clean up."}, {"reply": "Deleting."}, {"interruption": True}, {"prompt": "keep the vendored folder"}
    )
    assert lesson.trigger == "interruption"
    assert lesson.kind is ReflectionKind.CORRECTIVE


def test_an_answered_question_is_a_decision_only_with_its_question() -> None:
    asked = {"answer": "NATS JetStream", "about": "Which broker should carry the audit events?"}
    (lesson,) = _lessons({"prompt": "Emit events."}, asked, taint=Taint.CLEAN)
    assert (lesson.quote, lesson.category) == ("NATS JetStream", "decisions")
    assert lesson.context == asked["about"]
    assert _lessons({"prompt": "Emit events."}, asked, taint=Taint.UNTRUSTED) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How would you like to run the review?", "Run in background (Recommended)"),
        ("Shall I continue with the migration of the users?", "Go ahead please now"),
        ("Which broker should carry the audit events?", "Yes"),
    ],
)
def test_questions_about_how_to_go_on_are_no_decisions(question: str, answer: str) -> None:
    assert _lessons({"prompt": "Go."}, {"answer": answer, "about": question}, taint=Taint.CLEAN) == []


def test_an_assistant_alone_is_derived_and_seen_only_in_clean_sessions() -> None:
    reply = {"reply": "The root cause is the missing index, queries silently fall back to a scan."}
    (lesson,) = _lessons({"prompt": "Why?"}, reply, taint=Taint.CLEAN)
    assert lesson.origin is Origin.DERIVED
    assert _lessons({"prompt": "Why?"}, reply, taint=Taint.UNKNOWN) == []


def test_a_session_without_a_person_is_derived() -> None:
    (lesson,) = _lessons({"prompt": "never push to main"}, automated=True)
    assert lesson.origin is Origin.DERIVED


def test_a_models_summary_is_derived_and_seen_only_in_clean_sessions() -> None:
    summary = Summary(learnings=("The parser silently drops rows without an id.",), open_items=("Sign the build.",))
    found = _lessons({"prompt": "Go."}, taint=Taint.CLEAN, summary=summary)
    assert {each.origin for each in found} == {Origin.DERIVED}
    assert "The parser silently drops rows without an id." in {each.quote for each in found}
    assert _lessons({"prompt": "Go."}, taint=Taint.UNTRUSTED, summary=summary) == []


def test_a_sentence_with_something_taken_out_is_not_quoted() -> None:
    assert _after("prompt", "the password must always be [REDACTED:password] on staging") == []
    assert _after("prompt", "the password must always be REDACTED on staging") == []


def test_a_joke_is_taken_back_by_the_next_turn() -> None:
    joke = {"prompt": "From now on we must only deploy on Friday."}
    rest = ({"reply": "Noted."}, {"prompt": "just kidding"})
    assert len(_lessons({"prompt": "Hi."}, {"reply": "Hi."}, joke)) == 1
    assert _lessons({"prompt": "Hi."}, {"reply": "Hi."}, joke, *rest) == []


def test_quotes_keep_their_curly_marks() -> None:
    (lesson,) = _after("prompt", "it shouldn’t retry on 4xx, that doesn’t  work")
    assert lesson.quote == "it shouldn’t retry on 4xx, that doesn’t work"


def test_hazard_78_a_fact_in_the_middle_of_a_long_session_is_found() -> None:
    filler = [{"reply": "word " * 400} for _ in range(40)]
    fact = {"prompt": "The export has to stay readable for Excel 2016."}
    found = _lessons({"prompt": "Go."}, *filler, fact, *filler)
    assert [each.quote for each in found] == [fact["prompt"]]


def test_the_strongest_findings_are_kept_and_their_number_is_bounded() -> None:
    said = [{"prompt": f"Component number{n} must never call service{n} directly."} for n in range(40)]
    found = _lessons({"prompt": "Go."}, {"reply": "Ok."}, *said)
    assert len(found) == ENGINE._weights.findings_per_evidence


def test_findings_do_not_depend_on_what_came_before() -> None:
    one = session({"prompt": "Go."}, {"reply": "Ok."}, {"prompt": "never push to main"})
    assert ENGINE.reflect(one, EvidenceMode.USER_TURNS) == ExtractiveEngine().reflect(one, EvidenceMode.USER_TURNS)


@pytest.mark.parametrize(
    "text",
    [
        "log " * 250_000 + ":",
        "a." * 500_000,
        "never " * 170_000,
        "`" * 1_000_000,
        "😀" * 50_000,
        "must not (" * 100_000,
        "\ud83d x" * 9,
    ],
    ids=["log", "dots", "never", "ticks", "hazard-34-emoji", "brackets", "hazard-34-surrogate"],
)
def test_a_megabyte_on_one_line_is_survived_in_seconds(text: str) -> None:
    began = time.process_time()
    _after("prompt", text)
    _after("denial", text)
    _lessons({"prompt": "Go."}, {"reply": text}, taint=Taint.CLEAN)
    assert time.process_time() - began < 5.0


def test_turns_without_a_time_take_the_one_before_or_the_sessions() -> None:
    one = session({"prompt": "Go."}, {"reply": "Ok."}, {"prompt": "never push to main"})
    timeless = replace(one, turns=tuple(replace(turn, at=None) for turn in one.turns))
    (lesson,) = ENGINE.reflect(timeless, EvidenceMode.USER_TURNS)
    assert lesson.said_at == one.created_at
    assert ENGINE.reflect(replace(timeless, created_at=None), EvidenceMode.USER_TURNS)[0].said_at.year == 1970
