"""`make demo` keeps away from what it did not make, and says so in its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.demo import MARK, environment, main


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("years of work", encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert mine.read_text(encoding="utf-8") == "years of work"
    assert not (tmp_path / MARK).exists()
    assert "was left alone" in capsys.readouterr().err


def test_settings_of_the_machine_do_not_reach_the_demonstration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLECT_LEDGER_URL", "postgresql://team/ledger")
    monkeypatch.setenv("PREFECT_API_URL", "https://prefect.example/api")
    monkeypatch.setenv("GIT_DIR", "/elsewhere/.git")
    monkeypatch.setenv("LANG", "C")
    seen = environment(tmp_path)
    assert not {"REFLECT_LEDGER_URL", "PREFECT_API_URL", "GIT_DIR"} & set(seen)
    assert seen["LANG"] == "C"
    assert Path(seen["REFLECT_STATE_DIR"]).is_relative_to(tmp_path)
    assert Path(seen["PREFECT_HOME"]).is_relative_to(tmp_path)
