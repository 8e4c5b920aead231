"""Damaged transcripts: each fault costs itself and nothing more, and is counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples.sessions import ClaudeTranscript
from reflect.errors import EvidenceError
from reflect.evidence.transcripts.reader import read_transcript
from reflect.model import Channel, Speaker, Taint
from tests.evidence.transcripts import DATA, decode, encode, person, read_lines

_TWO = ClaudeTranscript("s").prompt("first").reply("answer").prompt("second")
_LINES = _TWO.encode().splitlines()


def _texts(data: bytes) -> list[str]:
    return [turn.text for turn in read_transcript([data]).turns]


def _joined(*lines: bytes) -> bytes:
    return b"\n".join(lines)


class TestLines:
    def test_two_objects_on_one_line(self) -> None:
        transcript = read_transcript([_joined(_LINES[0] + _LINES[1], _LINES[2])])

        assert [turn.text for turn in transcript.turns] == ["first", "answer", "second"]
        assert [turn.position for turn in transcript.turns] == [0, 0, 1]
        assert transcript.notes == ("lines held several objects: 1",)
        assert transcript.taint is Taint.CLEAN

    @pytest.mark.parametrize("cut", [1, 20, 60, 130])
    def test_hazard_66_a_cut_last_line_costs_only_itself(self, cut: int) -> None:
        transcript = read_transcript([_joined(_LINES[0], _LINES[1], _LINES[2][:-cut])])

        assert [turn.text for turn in transcript.turns] == ["first", "answer"]
        assert transcript.notes == ("lines could not be read: 1",)
        assert {turn.taint for turn in transcript.turns} == {transcript.taint} == {Taint.CLEAN}

    def test_hazard_67_an_export_cut_within_a_key(self) -> None:
        assert _texts(_joined(_LINES[0], b'{"type":"assis')) == ["first"]

    def test_a_line_lost_in_the_middle_may_have_brought_anything_in(self) -> None:
        transcript = read_transcript([_joined(_LINES[0], b"\x00\xffnot json", _LINES[2])])

        assert [(turn.text, turn.taint) for turn in transcript.turns] == [
            ("first", Taint.CLEAN),
            ("second", Taint.UNKNOWN),
        ]
        assert transcript.tainted_by == "line 2, which could not be read"

    @pytest.mark.parametrize("junk", [b"[]", b"null", b"7", b'"text"', b"{}"], ids=repr)
    def test_json_that_is_no_message(self, junk: bytes) -> None:
        assert _texts(_joined(_LINES[0], junk, _LINES[2])) == ["first", "second"]

    def test_blank_lines_count_as_positions_and_nothing_else(self) -> None:
        transcript = read_transcript([_joined(b"", _LINES[0], b"  ", b"\r", _LINES[2], b"")])

        assert [(turn.position, turn.text) for turn in transcript.turns] == [(1, "first"), (4, "second")]
        assert (transcript.notes, transcript.taint) == ((), Taint.CLEAN)

    def test_line_ends_of_windows(self) -> None:
        assert _texts(b"\r\n".join(_LINES) + b"\r\n") == ["first", "answer", "second"]

    @pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c"], ids=repr)
    def test_only_a_line_feed_ends_a_line(self, sign: str) -> None:
        said = ClaudeTranscript("s").prompt(f"one{sign}two")

        assert _texts(said.encode()) == [f"one{sign}two"]

    def test_a_byte_order_mark(self) -> None:
        assert _texts(b"\xef\xbb\xbf" + _joined(*_LINES)) == ["first", "answer", "second"]

    @pytest.mark.parametrize("nul", [b"\x00", b"\\u0000"], ids=["hazard-35-raw-nul", "hazard-35-escaped-nul"])
    def test_a_nul_is_left_out_and_the_text_stays(self, nul: bytes) -> None:
        assert _texts(_LINES[0].replace(b"first", b"fi" + nul + b"rst")) == ["first"]

    def test_hazard_39_bytes_that_are_no_utf8(self) -> None:
        (text,) = _texts(_LINES[0].replace(b"first", b"caf\xe9 au lait"))

        assert text == "caf\ufffd au lait"

    @pytest.mark.parametrize("surrogate", [b"\\ud83d", b"\\uDE00", b"\\ud83d\\ud83d", b"a\\ud83d\\u0041"], ids=repr)
    def test_hazard_34_a_surrogate_without_its_twin_can_be_encoded(self, surrogate: bytes) -> None:
        (text,) = _texts(_LINES[0].replace(b"first", b"fi" + surrogate + b"rst"))

        assert text.startswith("fi") and text.endswith("rst")
        assert text.encode()

    @pytest.mark.parametrize(
        ("escaped", "meant"),
        [(b"\\ud83d\\ude00", "\U0001f600"), (b"\\\\ud83d", "\\ud83d"), (b"\\\\\\ud83dx", "\\\ufffdx")],
        ids=["pair", "backslash-before-letters", "backslash-before-a-surrogate"],
    )
    def test_hazard_34_repairs_leave_whole_signs_alone(self, escaped: bytes, meant: str) -> None:
        (text,) = _texts(_LINES[0].replace(b"first", escaped + b"\\ud83d"))

        assert text == meant + "\ufffd"

    def test_hazard_34_an_emoji_transcript_cut_at_every_byte(self) -> None:
        line = ClaudeTranscript("s").prompt("😀" * 40).encode()
        for end in range(len(line)):
            transcript = read_transcript([_joined(*_LINES, line[:end])])
            assert [turn.text for turn in transcript.turns][:3] == ["first", "answer", "second"]

    @pytest.mark.parametrize("size", [70_000, 1_200_000, 6_000_000])
    def test_long_lines(self, size: int) -> None:
        said = ClaudeTranscript("s").prompt("x" * size).tool("Bash", {"command": "ls"}, "y" * size).reply("done")

        texts = _texts(said.encode())

        assert [len(text) for text in texts] == [size, 0, 4]

    @pytest.mark.parametrize("depth", [500, 1_500, 200_000])
    def test_deep_nesting_costs_the_line_at_most(self, depth: int) -> None:
        deep = b'{"type":"user","uuid":"d","parentUuid":"x","x":' + b"[" * depth + b"]" * depth + b"}"

        assert _texts(_joined(_LINES[0], deep, _LINES[2])) == ["first", "second"]

    def test_a_number_too_large_for_anything(self) -> None:
        line = b'{"type":"user","x":' + b"9" * 6000 + b"}"

        assert _texts(_joined(_LINES[0], line, _LINES[2])) == ["first", "second"]

    @pytest.mark.parametrize(
        "time",
        ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-02-30T00:00:00Z", "", 1e30, True, [], {}],
    )
    def test_times_that_are_none(self, time: object) -> None:
        (line,) = decode(ClaudeTranscript("s").prompt("one").encode())

        (turn,) = read_lines([{**line, "timestamp": time}]).turns

        assert (turn.text, turn.at) == ("one", None)


class TestWrongTypes:
    """Every value of a line may be of any type: written by another version, or by somebody who wants to break us."""

    _JUNK: tuple[object, ...] = (
        None,
        5,
        1.5,
        True,
        "text",
        [],
        [[]],
        [5, None, "text", {}],
        {},
        {"type": 5},
        {"type": "text", "text": 5},
    )

    @pytest.mark.parametrize("junk", _JUNK, ids=repr)
    def test_any_value_in_any_place(self, junk: object) -> None:
        for name in ("claude-user-lines", "claude-tool-results", "claude-queue"):
            for line in decode((DATA / f"{name}.jsonl").read_bytes()):
                for key in line:
                    if key != "type":
                        read_lines([*decode(_LINES[0]), {**line, key: junk}])
                if isinstance(line.get("message"), dict):
                    read_lines([*decode(_LINES[0]), {**line, "message": {"role": "user", "content": junk}}])
                    read_lines([*decode(_LINES[0]), {**line, "message": {"role": "user", "content": [junk, junk]}}])

    @pytest.mark.parametrize("name", sorted(p.name for p in DATA.iterdir() if not p.name.startswith("claude")))
    @pytest.mark.parametrize("junk", _JUNK, ids=repr)
    def test_any_value_in_any_place_of_other_agents(self, name: str, junk: object) -> None:
        data = (DATA / name).read_bytes()
        documents = [json.loads(data)] if name.endswith(".json") else decode(data)
        for path in _paths(documents):
            changed = json.loads(json.dumps(documents))
            _put(changed, path, junk)
            try:
                transcript = read_transcript([encode(*[d for d in changed if isinstance(d, dict)])])
            except EvidenceError:
                continue
            assert all(turn.text.encode() is not None for turn in transcript.turns)


def _paths(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += _paths(item, (*path, key))
    return found


def _put(value: object, path: tuple[object, ...], junk: object) -> None:
    for key in path[:-1]:
        value = value[key]  # type: ignore[index]
    value[path[-1]] = junk  # type: ignore[index]


def test_hazard_73_times_and_boxes_in_a_text_stay_text() -> None:
    text = "[24:33.098] first\n[12:01] second\n- [x] third\n[retry] fourth"

    assert _texts(ClaudeTranscript("s").prompt(text).encode()) == [text]


class TestNothingToRead:
    def test_hazard_69_the_output_of_a_command_is_no_transcript(self) -> None:
        for output in (b'[{"type":"result","result":"done"}]', b'{"type":"result","subtype":"success","result":"x"}'):
            with pytest.raises(EvidenceError):
                read_transcript([output])

    @pytest.mark.parametrize("chunks", [[], [b""], [b"\n \r\n"], [b"", b"\n"]], ids=repr)
    def test_an_empty_transcript(self, chunks: list[bytes]) -> None:
        with pytest.raises(EvidenceError, match="empty"):
            read_transcript(chunks)

    @pytest.mark.parametrize(
        "data",
        [b"plain text", b"\x00\x01\x02", b"[1, 2]", b'{"foo": 1}', b'{"type": "unheard-of", "x": {}}', b"\xff" * 99],
        ids=repr,
    )
    def test_a_shape_that_no_agent_writes(self, data: bytes) -> None:
        with pytest.raises(EvidenceError, match=r"no JSON object|shape of no agent"):
            read_transcript([data])


_FILES = {path.name: path.read_bytes() for path in sorted(DATA.iterdir())}


@pytest.mark.parametrize("name", list(_FILES))
def test_cut_at_every_byte_a_transcript_gives_turns_or_a_reason(name: str) -> None:
    data = _FILES[name]
    for end in range(0, len(data), 1 if len(data) < 4000 else 7):
        try:
            read_transcript([data[:end]])
        except EvidenceError as error:
            assert str(error)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(list(_FILES)), junk=st.binary(max_size=60), draw=st.data())
def test_junk_in_place_of_any_stretch_gives_turns_or_a_reason(name: str, junk: bytes, draw: st.DataObject) -> None:
    data = _FILES[name]
    begin = draw.draw(st.integers(0, len(data)))
    end = draw.draw(st.integers(begin, min(len(data), begin + 400)))
    try:
        transcript = read_transcript([data[:begin] + junk + data[end:]])
    except EvidenceError:
        return
    for turn in transcript.turns:
        turn.text.encode()
        turn.about.encode()


@settings(max_examples=60, deadline=None)
@given(junk=st.binary(max_size=60), number=st.integers(0, 24))
def test_junk_in_place_of_any_line_leaves_the_others(junk: bytes, number: int) -> None:
    lines = _FILES["claude-tool-results.jsonl"].splitlines()
    lines[number : number + 1] = [junk.replace(b"\n", b"")]

    transcript = read_transcript([_joined(*lines)])

    untouched = read_transcript([_FILES["claude-tool-results.jsonl"]])
    assert {turn.position for turn in transcript.turns} >= {
        turn.position for turn in untouched.turns if turn.position != number and turn.speaker is Speaker.ASSISTANT
    }


_OUTPUTS = [
    'plain "text" and "is_error": true',
    '{"type":"text","text":"no"}',
    '"text"',
    'ends in \\"text',
    '"is_error":true',
    '"toolUseResult":{"a":1}',
    "x" * 3000,
    'y"' * 1500,
    '\\"' * 1500,
    "😀" * 800,
    '"tool_use_id":"toolu_x"' * 90,
]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    outputs=st.lists(st.tuples(st.sampled_from(_OUTPUTS), st.sampled_from(_OUTPUTS), st.booleans()), max_size=6),
    steered=st.integers(0, 6),
    spaced=st.booleans(),
)
def test_the_short_way_for_plain_results_gives_what_the_long_way_gives(
    outputs: list[tuple[str, str, bool]], steered: int, spaced: bool
) -> None:
    """An empty block of text beside a result says nothing, and makes the line one that is looked at closely."""
    said = ClaudeTranscript("s").prompt("go")
    for number, (one, two, is_error) in enumerate(outputs):
        said.tool("Bash" if number % 2 else "WebFetch", {"command": "ls"}, one + "z" * 900 + two, is_error=is_error)
        if number == steered:
            said.lines[-1]["message"]["content"].append({"type": "text", "text": "steer"})
    separators = (", ", ": ") if spaced else (",", ":")
    closely = [_with_empty_block(line) for line in said.lines]

    plain, close = (
        b"".join(json.dumps(line, separators=separators).encode() + b"\n" for line in lines)
        for lines in (said.lines, closely)
    )

    assert read_transcript([plain]) == read_transcript([close])


def _with_empty_block(line: dict[str, Any]) -> dict[str, Any]:
    content = line["message"]["content"]
    if line["type"] != "user" or isinstance(content, str):
        return line
    return {**line, "message": {**line["message"], "content": [*content, {"type": "text", "text": " "}]}}


def test_what_stands_beside_tool_output_of_any_size_is_read() -> None:
    said = ClaudeTranscript("s").prompt("go").tool("Bash", {"command": "ls"}, 'z"' * 5000)
    said.lines[-1]["message"]["content"].append({"type": "text", "text": "stop here"})

    assert person(read_transcript([said.encode()])) == [(Channel.PROMPT, "go"), (Channel.STEER, "stop here")]


@pytest.mark.parametrize("mark", ["\u202a", "\u202e", "\u2066", "\u2069"])
def test_marks_that_turn_the_reading_direction_are_dropped(mark: str) -> None:
    read = read_transcript([ClaudeTranscript("s1").prompt(f"keep {mark}שלום{mark} as it is").encode()])
    assert [turn.text for turn in read.turns] == ["keep שלום as it is"]
