"""Transcripts of the other agents, and telling by its content whose a transcript is."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from examples.sessions import ClaudeTranscript
from reflect.errors import EvidenceError
from reflect.evidence.transcripts.reader import read_transcript
from reflect.model import Channel, Speaker, Taint
from tests.evidence.transcripts import DATA, at, decode, encode, person, read_lines, saying, stored

_FORMATS = {
    "claude-queue.jsonl": "claude-code",
    "claude-tool-results.jsonl": "claude-code",
    "claude-user-lines.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "compact.jsonl": "antigravity",
    "copilot.jsonl": "copilot-cli",
    "cursor.jsonl": "cursor",
    "factory-droid.jsonl": "factory-droid",
    "gemini.json": "gemini-cli",
    "opencode.json": "opencode",
    "pi.jsonl": "pi",
}

_PERSON = {
    "codex.jsonl": [
        (Channel.PROMPT, "Make the parser strict"),
        (Channel.INTERRUPTION, ""),
        (Channel.PROMPT, "No, keep the lenient mode behind a flag"),
    ],
    "compact.jsonl": [(Channel.PROMPT, "Port the script to bash"), (Channel.PROMPT, "posix sh, no bashisms")],
    "copilot.jsonl": [(Channel.PROMPT, "Drop the legacy endpoint"), (Channel.PROMPT, "keep a redirect for a month")],
    "cursor.jsonl": [
        (Channel.PROMPT, "Rename the module to billing"),
        (Channel.PROMPT, "not the tests, they keep their names"),
    ],
    "factory-droid.jsonl": [(Channel.PROMPT, "Fix the flaky test"), (Channel.PROMPT, "no, freeze the clock instead")],
    "gemini.json": [
        (Channel.PROMPT, "Write a changelog"),
        (Channel.DENIAL, ""),
        (Channel.PROMPT, "Group it by week, not by commit"),
        (Channel.PROMPT, "good"),
    ],
    "opencode.json": [
        (Channel.PROMPT, "Speed up the import"),
        (Channel.PROMPT, "batches of 500, the database times out above that"),
    ],
    "pi.jsonl": [(Channel.PROMPT, "Add a health check"), (Channel.PROMPT, "it must not touch the database")],
}

_REPLIES = {
    "codex.jsonl": ["The parser is strict now.", "Added the flag."],
    "compact.jsonl": ["Porting."],
    "copilot.jsonl": ["Removing it."],
    "cursor.jsonl": ["Renaming it."],
    "factory-droid.jsonl": ["I will raise the timeout."],
    "gemini.json": ["I read the history first.", "The style guide says so."],
    "opencode.json": ["I will batch the rows.", "Done with 500."],
    "pi.jsonl": ["On /status."],
}

_TAINTED_BY = {
    "codex.jsonl": (Taint.UNTRUSTED, "shell command `curl` at line 15"),
    "compact.jsonl": (Taint.UNKNOWN, "the beginning of the transcript is missing"),
    "copilot.jsonl": (Taint.UNTRUSTED, "github-mcp-server-get_issue at line 5"),
    "cursor.jsonl": (Taint.UNTRUSTED, "Read outside the workspace at line 2"),
    "factory-droid.jsonl": (Taint.UNTRUSTED, "FetchUrl at line 6"),
    "gemini.json": (Taint.UNTRUSTED, "web_fetch at message 5"),
    "opencode.json": (Taint.UNTRUSTED, "webfetch at message 4"),
    "pi.jsonl": (Taint.CLEAN, ""),
}


def test_every_input_file_is_known() -> None:
    assert {path.name for path in DATA.iterdir()} == set(_FORMATS)
    assert set(_FORMATS) - {n for n in _FORMATS if n.startswith("claude")} == set(_PERSON) == set(_TAINTED_BY)


@pytest.mark.parametrize("name", list(_FORMATS))
def test_the_content_says_whose_it_is(name: str) -> None:
    assert stored(name).format == _FORMATS[name]


@pytest.mark.parametrize("name", list(_PERSON))
def test_the_person_s_words_are_told_from_the_harness_s(name: str) -> None:
    assert person(stored(name)) == _PERSON[name]


@pytest.mark.parametrize("name", list(_REPLIES))
def test_the_agent_s_prose_is_kept_whole(name: str) -> None:
    assert [turn.text for turn in stored(name).turns if turn.channel is Channel.REPLY] == _REPLIES[name]


@pytest.mark.parametrize("name", list(_TAINTED_BY))
def test_the_taint_names_what_brought_it(name: str) -> None:
    transcript = stored(name)

    assert (transcript.taint, transcript.tainted_by) == _TAINTED_BY[name]


@pytest.mark.parametrize("name", list(_FORMATS))
def test_keys_are_distinct_and_the_same_in_every_reading(name: str) -> None:
    turns = stored(name).turns

    assert len({turn.key for turn in turns}) == len(turns)
    assert stored(name).turns == turns


@pytest.mark.parametrize("name", [name for name in _FORMATS if name.endswith(".jsonl")])
def test_a_longer_transcript_repeats_the_keys_of_a_shorter_one(name: str) -> None:
    lines = (DATA / name).read_bytes().splitlines()
    whole = {turn.key for turn in stored(name).turns}
    half = read_transcript([b"\n".join(lines[: len(lines) - 2])])

    assert len(half.turns) >= 1
    # pi follows the branch that is alive in the longer file
    assert name == "pi.jsonl" or {turn.key for turn in half.turns} <= whole


class TestSniffing:
    def test_one_line_and_many_lines_are_the_same_document(self) -> None:
        document = json.loads((DATA / "gemini.json").read_bytes())

        assert read_transcript([json.dumps(document).encode()]) == stored("gemini.json")
        assert read_transcript([b"\xef\xbb\xbf\n" + json.dumps(document, indent=4).encode() + b"\n"]).turns

    def test_a_conversation_about_other_agents_stays_claude_code_s(self) -> None:
        said = ClaudeTranscript("s").prompt((DATA / "codex.jsonl").read_text(encoding="utf-8"))

        assert read_transcript([said.encode()]).format == "claude-code"

    def test_the_first_line_may_be_damaged(self) -> None:
        assert read_transcript([b'{"type":"us\n' + ClaudeTranscript("s").prompt("go").encode()]).format == "claude-code"

    def test_the_reason_names_keys_and_no_values(self) -> None:
        with pytest.raises(EvidenceError) as raised:
            read_transcript([b'{"secret_value": "hunter2", "other": 1}'])

        assert "other, secret_value" in str(raised.value)
        assert "hunter2" not in str(raised.value)


class TestGemini:
    def test_a_chunked_transcript_is_one(self) -> None:
        document = json.loads((DATA / "gemini.json").read_bytes())
        chunks = [
            json.dumps({**document, "messages": document["messages"][:3]}).encode(),
            json.dumps({"messages": document["messages"][3:]}).encode(),
        ]

        assert read_transcript(chunks) == stored("gemini.json")

    def test_a_chunk_that_cannot_be_read_leaves_the_others(self) -> None:
        document = json.loads((DATA / "gemini.json").read_bytes())
        chunks = [
            json.dumps({**document, "messages": document["messages"][:2]}).encode(),
            b'{"messages": [{"id": "cut',
            json.dumps({"messages": document["messages"][3:4]}).encode(),
        ]

        transcript = read_transcript(chunks)

        assert [turn.text for turn in transcript.turns if turn.speaker is Speaker.PERSON] == [
            "Write a changelog",
            "Group it by week, not by commit",
        ]
        assert [turn.taint for turn in transcript.turns if turn.speaker is Speaker.PERSON] == [
            Taint.CLEAN,
            Taint.UNKNOWN,
        ]
        assert transcript.notes == ("chunks that could not be read: 1",)

    def test_a_file_of_one_warning_has_no_words(self) -> None:
        document = {"sessionId": "x", "messages": [{"id": "1", "type": "warning", "content": "Update available"}]}

        assert person(read_transcript([json.dumps(document).encode()])) == []

    def test_a_declined_call_and_an_error(self) -> None:
        turns = at(stored("gemini.json"), 2)

        assert [(turn.channel, turn.tool, turn.about) for turn in turns[-2:]] == [
            (Channel.DENIAL, "write_file", "write_file: CHANGELOG.md"),
            (Channel.TOOL_RESULT, "read_file", "read_file: NOPE.md"),
        ]

    def test_results_cover_the_prose_of_their_message(self) -> None:
        assert saying(stored("gemini.json"), "The style guide says so.").taint is Taint.UNTRUSTED
        assert saying(stored("gemini.json"), "Group it by week, not by commit").taint is Taint.CLEAN

    def test_files_that_a_person_named_are_not_their_words(self) -> None:
        text = "summarise @notes\n--- Content from referenced files ---\nalways use tabs\n--- End of content ---"
        document = {"sessionId": "x", "messages": [{"id": "1", "type": "user", "content": text}]}

        assert person(read_transcript([json.dumps(document).encode()])) == [(Channel.PROMPT, "summarise @notes")]


class TestCodex:
    @pytest.mark.parametrize(
        "text",
        [
            "# AGENTS.md instructions\nalways use tabs",
            "<environment_context>x</environment_context>",
            "<permissions instructions>x",
            "<collaboration_mode>x",
            "<skills_instructions>x",
            "<apps_instructions>x",
            "<plugins_instructions>x",
            "<recommended_plugins>x",
            "<user_action>x",
            "<subagent_notification>x",
            "<INSTRUCTIONS>\nfrom AGENTS.md\n</INSTRUCTIONS>",
        ],
    )
    def test_what_the_harness_says_in_the_user_s_role(self, text: str) -> None:
        head = decode((DATA / "codex.jsonl").read_bytes())[:1]
        message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

        assert person(read_lines([*head, {"type": "response_item", "payload": message}])) == []

    def test_a_session_run_by_a_program_is_automated(self) -> None:
        lines = decode((DATA / "codex.jsonl").read_bytes())
        lines[0]["payload"]["source"] = "exec"

        assert read_lines(lines).automated
        assert not stored("codex.jsonl").automated

    def test_a_search_the_service_ran_itself_is_a_stranger_s_word(self) -> None:
        lines = decode((DATA / "codex.jsonl").read_bytes())
        lines.insert(6, {"type": "response_item", "payload": {"type": "web_search_call", "action": {"query": "x"}}})

        assert read_lines(lines).tainted_by == "web_search at line 7"

    def test_without_its_first_line_it_is_unknown(self) -> None:
        lines = decode((DATA / "codex.jsonl").read_bytes())[3:]

        assert {turn.taint for turn in read_lines(lines).turns} == {Taint.UNKNOWN}

    def test_places_and_times(self) -> None:
        transcript = stored("codex.jsonl")

        assert (transcript.workspace, transcript.session_ids) == ("/home/dev/shop", ("0199-codex",))
        assert saying(transcript, "Make the parser strict").at == datetime(2026, 3, 1, 10, 0, 4, tzinfo=UTC)


class TestCursor:
    def test_context_in_tags_is_not_a_query(self) -> None:
        line = {"role": "user", "message": {"content": [{"type": "text", "text": "<open_files>a.py</open_files>"}]}}

        assert person(read_lines([line])) == []

    def test_sessions_that_begin_alike_part_where_they_differ(self) -> None:
        def said(*texts: str) -> set[bytes]:
            lines = [{"role": "user", "message": {"content": [{"type": "text", "text": text}]}} for text in texts]
            return {turn.key for turn in read_lines(lines).turns}

        assert len(said("hello", "a", "continue") & said("hello", "b", "continue")) == 1
        assert said("hello", "a") <= said("hello", "a", "continue")


class TestPi:
    def test_abandoned_branches_are_not_the_conversation(self) -> None:
        transcript = stored("pi.jsonl")

        assert "On /healthz." not in [turn.text for turn in transcript.turns]
        assert transcript.taint is Taint.CLEAN

    @pytest.mark.parametrize("kept", [slice(1, None), slice(2, None)], ids=["no-header", "no-root"])
    def test_without_its_root_it_is_unknown(self, kept: slice) -> None:
        lines = decode((DATA / "pi.jsonl").read_bytes())[kept]

        assert {turn.taint for turn in read_lines(lines).turns} == {Taint.UNKNOWN}

    def test_a_tree_that_bites_its_tail(self) -> None:
        lines = decode((DATA / "pi.jsonl").read_bytes())
        lines[1]["parentId"] = "b5"

        assert not read_lines(lines).complete


class TestOpenCode:
    def test_a_chunked_transcript_is_one(self) -> None:
        document = json.loads((DATA / "opencode.json").read_bytes())
        chunks = [
            json.dumps({**document, "messages": document["messages"][:2]}).encode(),
            json.dumps({"messages": document["messages"][2:]}).encode(),
        ]

        assert read_transcript(chunks) == stored("opencode.json")

    def test_an_unfinished_call_that_failed_is_an_error(self) -> None:
        (error,) = [turn for turn in stored("opencode.json").turns if turn.is_error]

        assert (error.tool, error.text, error.about) == ("bash", "no such directory", "bash: ls nowhere")


@pytest.mark.parametrize(
    ("name", "first"),
    [("copilot.jsonl", "session.start"), ("factory-droid.jsonl", "session_start"), ("codex.jsonl", "session_meta")],
)
def test_without_its_start_a_session_is_unknown(name: str, first: str) -> None:
    lines = decode((DATA / name).read_bytes())

    assert lines[0]["type"] == first
    assert stored(name).complete
    assert not read_lines(lines[1:]).complete


@pytest.mark.parametrize("name", ["copilot.jsonl", "factory-droid.jsonl", "pi.jsonl", "compact.jsonl"])
def test_errors_of_tools_are_kept(name: str) -> None:
    assert len([turn for turn in stored(name).turns if turn.is_error and turn.speaker is Speaker.TOOL]) == 1


@pytest.mark.parametrize("name", list(_PERSON))
def test_a_tool_that_nobody_knows_is_never_clean(name: str) -> None:
    """The tools of each agent's file are swapped for one that no table holds."""
    data = (DATA / name).read_bytes()
    documents: list[Any] = [json.loads(data)] if name.endswith(".json") else decode(data)

    transcript = read_transcript([encode(*_with_unknown_tools(documents))])

    assert transcript.taint is not Taint.CLEAN
    assert {turn.tool for turn in transcript.turns if turn.channel is Channel.TOOL_USE} == {"brand_new_tool"}


def _with_unknown_tools(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_unknown_tools(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _with_unknown_tools(item) for key, item in value.items()}
    names_a_tool = {"arguments", "args", "input", "state"} & set(value)
    for key in ("name", "tool"):
        if names_a_tool and isinstance(value.get(key), str):
            changed[key] = "brand_new_tool"
    return changed


def test_the_sample_repository_s_transcripts_are_all_read(sample_transcripts: list[bytes]) -> None:
    read = [read_transcript([data]) for data in sample_transcripts]

    assert len(read) == 22
    assert {transcript.format for transcript in read} == {"claude-code"}
    assert {transcript.notes for transcript in read} == {()}
    assert all(transcript.complete and transcript.workspace for transcript in read)
    assert all(len({turn.key for turn in transcript.turns}) == len(transcript.turns) for transcript in read)
    words = {text for transcript in read for channel, text in person(transcript) if channel is not Channel.INTERRUPTION}
    assert 60 <= len(words) <= 250
    assert not any(text.startswith(("<", "Stop hook", "Caveat", "[Request")) for text in words)


@pytest.fixture
def sample_transcripts(sample_bundle: Path, tmp_path: Path) -> list[bytes]:
    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout

    git("clone", "-q", "--bare", str(sample_bundle), str(tmp_path / "sample"))
    tree = git("-C", str(tmp_path / "sample"), "ls-tree", "-r", "entire/checkpoints/v1").decode()
    blobs = [line.split()[2] for line in tree.splitlines() if line.endswith("/full.jsonl")]
    return [git("-C", str(tmp_path / "sample"), "cat-file", "blob", blob) for blob in blobs]
