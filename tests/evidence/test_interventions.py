"""Where a person stepped in."""

from __future__ import annotations

import pytest

from examples.sessions import ClaudeTranscript
from reflect.evidence.interventions import CONTEXT_CHARS, Intervention, InterventionKind, interventions
from reflect.evidence.transcripts.reader import read_transcript
from reflect.model import Speaker, Taint
from tests.evidence.transcripts import decode, read_lines, stored

_ROOT = "/home/dev/project"


def _found(said: ClaudeTranscript) -> tuple[Intervention, ...]:
    return interventions(read_transcript([said.encode()]).turns)


def _kinds(said: ClaudeTranscript) -> list[tuple[InterventionKind, str]]:
    return [(found.kind, found.text) for found in _found(said)]


def _session() -> ClaudeTranscript:
    return ClaudeTranscript("s").prompt("Add retries").reply("I will add a loop.")


def test_first_turn_is_task() -> None:
    assert _kinds(ClaudeTranscript("s").prompt("Add retries")) == []
    assert _kinds(ClaudeTranscript("s").queued("Add retries").reply("ok")) == []


def test_the_first_user_turn_is_the_task_and_later_ones_are_followup_candidates() -> None:
    assert _kinds(_session().prompt("no, use the helper")) == [(InterventionKind.FOLLOWUP, "no, use the helper")]


def test_a_later_prompt_before_any_answer_is_no_followup() -> None:
    assert _kinds(ClaudeTranscript("s").prompt("Add retries").prompt("to the client")) == []


def test_steer_beside_tool_results() -> None:
    said = _session().tool("Read", {"file_path": f"{_ROOT}/a"})
    said.lines[-1]["message"]["content"].append({"type": "text", "text": "the other file"})

    (found,) = _found(said)

    assert (found.kind, found.text, found.context) == (InterventionKind.STEER, "the other file", "I will add a loop.")


def test_what_is_typed_while_the_agent_works_is_a_steer() -> None:
    assert _kinds(_session().queued("in the client only")) == [(InterventionKind.STEER, "in the client only")]


def test_denial_with_reason() -> None:
    (found,) = _found(_session().denial("Bash", {"command": "git push"}, "never push from here"))

    assert (found.kind, found.text, found.tool) == (InterventionKind.DENIAL, "never push from here", "Bash")


def test_denial_without_reason_yields_no_lesson() -> None:
    assert _kinds(_session().denial("Bash", {"command": "git push"})) == []


def test_an_interruption_followed_by_a_prompt_is_one_intervention() -> None:
    said = _session().interruption().prompt("stop, that file is generated")

    assert _kinds(said) == [(InterventionKind.INTERRUPTION, "stop, that file is generated")]
    assert _kinds(_session().interruption()) == []


def test_a_refusal_without_a_reason_is_explained_by_the_prompt_that_follows() -> None:
    said = _session().denial("Edit", {"file_path": f"{_ROOT}/a"}).prompt("that file is generated")

    assert _kinds(said) == [(InterventionKind.INTERRUPTION, "that file is generated")]


def test_a_prompt_after_the_agent_went_on_no_longer_explains_the_interruption() -> None:
    said = _session().interruption().reply("Shall I go on?").prompt("yes")

    assert _kinds(said) == [(InterventionKind.FOLLOWUP, "yes")]


def test_answered_questions_and_plans() -> None:
    said = _session().question("Which backoff?", ["Linear", "Exponential"], "Exponential")
    said.plan("# Rewrite", approved=False, reason="too much").plan("# Small")

    assert _kinds(said) == [
        (InterventionKind.ANSWER, "Exponential"),
        (InterventionKind.PLAN_REJECTED, "too much"),
        (InterventionKind.PLAN_APPROVED, ""),
    ]


def test_the_plan_that_opens_a_session_is_its_task() -> None:
    lines = decode(ClaudeTranscript("s").prompt("Implement the following plan:\n\n# Small").reply("ok").encode())
    later = decode(ClaudeTranscript("t").prompt("keep the old name").encode())

    found = interventions(read_lines([*lines, *later]).turns)

    assert [(one.kind, one.text) for one in found] == [(InterventionKind.FOLLOWUP, "keep the old name")]


_NOBODY = {
    "a-hook-denial": "Operation stopped by hook: commits need a ticket number",
    "an-interruption-marker-in-a-notification": "<task-notification>\nstop\n</task-notification>",
    "a-reminder": "<system-reminder>Always use tabs</system-reminder>",
    "command-output": "<local-command-stdout>no</local-command-stdout>",
    "a-slash-command": "<command-name>/review</command-name><command-args>the loop</command-args>",
    "a-command-of-the-shell": "<bash-input>ls</bash-input>",
}


@pytest.mark.parametrize("text", _NOBODY.values(), ids=_NOBODY)
def test_slash_and_harness_text_are_not_interventions(text: str) -> None:
    assert _kinds(_session().prompt(text)) == []


@pytest.mark.parametrize(
    "error",
    [
        "Exit code 1\nthe user said:\nalways use tabs",
        "<tool_use_error>File has not been read yet.</tool_use_error>",
        "Permission to use Bash with command rm has been denied.",
        "PreToolUse:Bash hook error: blocked, use the wrapper",
    ],
    ids=["error", "tool-error", "policy", "hook"],
)
def test_hook_and_policy_block_not_intervention(error: str) -> None:
    assert _kinds(_session().tool("Bash", {"command": "ls"}, error, is_error=True)) == []


def test_harness_text_is_filtered_per_block() -> None:
    said = _session().tool("Read", {"file_path": f"{_ROOT}/a"})
    said.lines[-1]["message"]["content"] += [
        {"type": "text", "text": "<system-reminder>You must wrap up.</system-reminder>"},
        {"type": "text", "text": "the other file"},
    ]

    assert _kinds(said) == [(InterventionKind.STEER, "the other file")]


def test_an_intervention_knows_which_message_it_rides_in() -> None:
    said = _session().tool("WebFetch", {"url": "https://example.com"}).prompt("not that page")
    transcript = read_transcript([said.encode()])

    (found,) = interventions(transcript.turns)
    (turn,) = [turn for turn in transcript.turns if turn.position == found.position]

    assert (turn.speaker, turn.text, turn.taint) == (Speaker.PERSON, found.text, Taint.UNTRUSTED)


def test_the_context_is_the_end_of_what_was_said_last() -> None:
    said = ClaudeTranscript("s").prompt("go").reply("x" * 5000 + " Shall I push?").prompt("no")

    (found,) = _found(said)

    assert len(found.context) == CONTEXT_CHARS
    assert found.context.endswith("Shall I push?")


def test_sidechain_is_derived() -> None:
    """What an agent told its sub-agent is nobody's intervention."""
    lines = decode(_session().prompt("search again").encode())

    assert interventions(read_lines([{**line, "isSidechain": True} for line in lines]).turns) == ()


def test_no_turns_no_interventions() -> None:
    assert interventions([]) == ()


def test_the_stored_session_s_interventions_in_order() -> None:
    assert [(found.kind, found.text) for found in interventions(stored("claude-tool-results.jsonl").turns)] == [
        (InterventionKind.DENIAL, "don't check this in, I want to see the diff first"),
        (InterventionKind.INTERRUPTION, "use the shared backoff helper instead"),
        (InterventionKind.ANSWER, "Exponential"),
        (InterventionKind.ANSWER, "ten seconds, the gateway drops us after that"),
        (InterventionKind.PLAN_REJECTED, "too much, only touch the retry loop"),
        (InterventionKind.PLAN_APPROVED, ""),
    ]
