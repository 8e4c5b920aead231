"""Feeds the readers of transcripts and of pages with damage, for as long as it is told, and stops at what they cannot
take: `make fuzz`, or `python -m benchmarks.fuzz --minutes 10 --seed 1`.

What is damaged are real shapes: a transcript of every agent and pages as people and tools write them. A reader may
refuse what it is given with one of the product's own errors; any other exception is a fault, and the bytes that caused
it are printed smallest first, as a test can repeat them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from benchmarks.evidence import ROOT
from examples.sessions import ClaudeTranscript, GeminiTranscript
from reflect.configuration import DEFAULT_FORMAT, load_config, load_format
from reflect.errors import ReflectError
from reflect.evidence.metadata import parse_metadata
from reflect.evidence.transcripts.reader import read_transcript
from reflect.lint.view import Contents
from reflect.wiki.log import changes_of, landed_runs, with_entry
from reflect.wiki.page import parse_page

DATA = ROOT / "tests" / "data"
AT_ONCE = 400
"""Inputs between two looks at the clock."""

Reader = Callable[[bytes], object]


def read_page(content: bytes) -> None:
    """A page, taken apart as lint does it. A page that is read can be told and linked."""
    page = parse_page(content, "decisions/a-page.md")
    Contents.of(page, page.summary())


def read_session(content: bytes) -> None:
    """A transcript whole, and as git may hold it: in two parts. Every turn can be written down."""
    middle = len(content) // 2
    for chunks in ([content], [content[:middle], content[middle:]]):
        for turn in read_transcript(chunks).turns:
            turn.text.encode()


def read_log(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    list(changes_of(text))
    landed_runs(text)
    entry = "## [2026-03-02] ingest | run abc | 0 created\n"
    once = with_entry(content, entry)
    assert with_entry(once, entry) == once and once.startswith(content)


def read_settings(content: bytes) -> None:
    for name, load in (("config.yaml", load_config), ("format.yaml", load_format)):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_bytes(content)
            load(Path(folder))


READERS: dict[str, Reader] = {
    "transcripts": read_session,
    "pages": read_page,
    "metadata": parse_metadata,
    "log": read_log,
    "settings": read_settings,
}


def grown_from(name: str) -> tuple[bytes, ...]:
    """What the inputs of a reader grow from."""
    if name == "pages":
        return tuple(file.read_bytes() for file in sorted((DATA / "pages").iterdir()))
    if name == "metadata":
        return (b'{"session_id": "s", "created_at": "2026-03-02T09:00:00Z", "summary": {"learnings": {"code": []}}}',)
    if name == "log":
        return (
            f"# Wiki Ingest Log\n\n## [{date(2026, 3, 2)}] ingest | run abc | 1 created\n- create a/b.md\n".encode(),
        )
    if name == "settings":
        return (
            DEFAULT_FORMAT.encode(),
            b"project_id: shop\nredact: ['a+']\nweights: {publish: 3}\nclaude: {caps: {call_usd: 1}}\n",
        )
    said = [file.read_bytes() for file in sorted((DATA / "transcripts").iterdir())]
    claude = ClaudeTranscript("s").prompt("add a cart").tool("Bash", {"command": "ls"}).denial("Edit", {}, "no, never")
    return (
        *said,
        claude.plan("# Plan", approved=False, reason="no").encode(),
        GeminiTranscript("s").prompt("x").encode(),
    )


@st.composite
def damaged(draw: st.DrawFn, whole: Sequence[bytes]) -> bytes:
    """One of `whole` with what happens to files: cut, lines lost, moved or doubled, bytes and values changed."""
    content = draw(st.sampled_from(whole))
    for _ in range(draw(st.integers(0, 4))):
        content = draw(st.sampled_from(_DAMAGES))(draw, content)
    return content


def _cut(draw: st.DrawFn, content: bytes) -> bytes:
    return (
        content[draw(st.integers(0, len(content))) :]
        if draw(st.booleans())
        else content[: draw(st.integers(0, len(content)))]
    )


def _bytes_changed(draw: st.DrawFn, content: bytes) -> bytes:
    at = draw(st.integers(0, len(content)))
    gone = draw(st.integers(0, 6))
    return content[:at] + draw(st.binary(max_size=6)) + content[at + gone :]


def _lines_moved(draw: st.DrawFn, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    picked = draw(st.lists(st.sampled_from(lines), max_size=len(lines) + 3)) if lines else []
    return b"".join(picked)


def _value_changed(draw: st.DrawFn, content: bytes) -> bytes:
    """One JSON value or YAML scalar of the input in place of another: the shape stands, the type does not."""
    known = [b'"', b"{", b"[", b"null", b": ", b",", b"true", b"- ", b"---\n"]
    old, new = draw(st.sampled_from(known)), draw(st.sampled_from([*known, b"1e999", b"\\ud800", b"&a *a", b"!!set"]))
    return content.replace(old, new, draw(st.integers(1, 3)))


_DAMAGES = (_cut, _bytes_changed, _lines_moved, _value_changed)


def fuzz(name: str, number: int, inputs: int) -> None:
    """Give the reader `name` as many `inputs`, chosen by the seed `number`. What it cannot take is raised."""
    read = READERS[name]

    @seed(number)
    @settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    @given(damaged(grown_from(name)))
    def each(content: bytes) -> None:
        try:
            read(content)
        except ReflectError:
            return

    each()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    ends = time.monotonic() + 60 * chosen.minutes
    number = chosen.seed
    tried = dict.fromkeys(READERS, 0)
    while time.monotonic() < ends:
        for name in READERS:
            fuzz(name, number, AT_ONCE)
            tried[name] += AT_ONCE
        number += 1
    said = ", ".join(f"{count:,} {name}" for name, count in tried.items())
    print(f"seeds {chosen.seed} to {number - 1}: {said}; every one was read or refused in one sentence.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
