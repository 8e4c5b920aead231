"""Progress goes to whoever watches, and to standard error alone."""

from __future__ import annotations

import logging

import pytest

from reflect.cli.progress import COUNTING, progress_shown, waiting_for
from tasks.parallel import counting, over


def work() -> None:
    logging.getLogger("reflect.triage").info("triage: reflecting on %d sessions [not markup]", 5)
    over(range(5), str, workers=2, counted="reading sessions")


def test_the_counter_is_the_one_that_tasks_tell() -> None:
    assert counting.name == COUNTING


def test_a_terminal_gets_lines_and_bars(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "100")
    with progress_shown():
        work()
    said = capsys.readouterr()
    assert "reflecting on 5 sessions [not markup]" in said.err
    assert "reading sessions" in said.err and "5/5" in said.err
    assert said.out == ""


def test_a_pipe_gets_lines_alone_and_a_program_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_shown():
        work()
    said = capsys.readouterr()
    assert said.err == "triage: reflecting on 5 sessions [not markup]\n" and said.out == ""
    with progress_shown(wanted=False), waiting_for("Reading …"):
        work()
    assert capsys.readouterr() == ("", "")


def test_nobody_is_told_after_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        with progress_shown():
            work()
    assert capsys.readouterr().err.count("reflecting") == 2
    work()
    assert capsys.readouterr().err == ""
