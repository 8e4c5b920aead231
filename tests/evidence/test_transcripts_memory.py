"""Going on where an earlier checkpoint ended gives what reading from the beginning gives."""

from __future__ import annotations

import pytest

from examples.sessions import ClaudeTranscript
from reflect.evidence.transcripts.memory import MAX_BYTES
from reflect.evidence.transcripts.reader import TranscriptMemory, read_transcript
from tests.evidence.transcripts import DATA

_ROOT = "/home/dev/project"
_CLAUDE = sorted(DATA.glob("claude-*.jsonl"))


def _long_session() -> bytes:
    said = ClaudeTranscript("s", cwd=_ROOT).prompt("go")
    for number in range(4):
        said.tool("Read", {"file_path": f"{_ROOT}/a"}, "x" * 400).reply(f"r{number}").prompt(f"p{number}")
    said.tool("WebFetch", {"url": "x"}).denial("WebFetch", {"url": "y"}, "no").question("q?", ["a"], "a").reply("end")
    return said.encode()


_INPUTS = {**{path.name: path.read_bytes() for path in _CLAUDE}, "long": _long_session()}


@pytest.mark.parametrize("name", list(_INPUTS))
@pytest.mark.parametrize("ending", [b"\n", b""], ids=["whole-lines", "no-last-line-end"])
def test_cut_behind_any_line_and_continued(name: str, ending: bytes) -> None:
    lines = _INPUTS[name].splitlines()
    for number in range(1, len(lines) + 1):
        memory = TranscriptMemory()
        before = b"\n".join(lines[:number]) + ending
        whole = b"\n".join(lines) + ending

        first = read_transcript([before], memory=memory)

        assert first == read_transcript([before])
        assert read_transcript([whole], memory=memory) == read_transcript([whole])


@pytest.mark.parametrize("name", list(_INPUTS))
def test_cut_at_any_byte_and_continued(name: str) -> None:
    data = _INPUTS[name]
    for end in range(1100, len(data), 97):
        memory = TranscriptMemory()
        read_transcript([data[:end]], memory=memory)

        assert read_transcript([data], memory=memory) == read_transcript([data])


def test_continued_step_by_step() -> None:
    lines = _long_session().splitlines()
    memory = TranscriptMemory()
    for number in range(1, len(lines) + 1):
        data = b"\n".join(lines[:number]) + b"\n"
        taken = read_transcript([data], memory=memory)
        assert taken == read_transcript([data])


def test_the_same_bytes_again() -> None:
    memory = TranscriptMemory()
    data = _long_session()

    assert read_transcript([data], memory=memory) == read_transcript([data], memory=memory) == read_transcript([data])


def test_a_transcript_that_was_changed_is_read_afresh() -> None:
    memory = TranscriptMemory()
    data = _long_session()
    read_transcript([data], memory=memory)
    changed = data.replace(b'"text": "r2"', b'"text": "R2"')

    assert changed != data
    assert read_transcript([changed], memory=memory) == read_transcript([changed])


def test_sessions_beside_each_other() -> None:
    memory = TranscriptMemory()
    sessions = [ClaudeTranscript(f"s{n}", cwd=_ROOT).prompt(f"go {n} " + "x" * 2000) for n in range(3)]
    for step in range(3):
        for said in sessions:
            data = said.reply(f"r{step}").encode()
            assert read_transcript([data], memory=memory) == read_transcript([data])


def test_only_so_much_is_remembered() -> None:
    memory = TranscriptMemory()
    big = ClaudeTranscript("s", cwd=_ROOT).prompt("x" * (MAX_BYTES // 2 + 10)).encode()
    other = ClaudeTranscript("t", cwd=_ROOT).prompt("y" * (MAX_BYTES // 2 + 10)).encode()
    read_transcript([big], memory=memory)
    read_transcript([other], memory=memory)

    assert memory.continued_by(big) is None
    assert memory.continued_by(other) is not None


def test_what_is_still_open_is_not_gone_on_with() -> None:
    """A call that has not come back may still be refused: the end of the shorter file must not count it as run."""
    said = (
        ClaudeTranscript("s", cwd=_ROOT).prompt("go " + "x" * 2000).denial("WebFetch", {"url": "x"}, "no").reply("ok")
    )
    lines = said.encode().splitlines()
    memory = TranscriptMemory()
    read_transcript([b"\n".join(lines[:2]) + b"\n"], memory=memory)
    whole = b"\n".join(lines) + b"\n"

    assert read_transcript([whole], memory=memory) == read_transcript([whole])
