"""The answer that is given before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.sessions import GitRepository
from reflect.freshness import CHECKPOINT_REFS, LastRun, find_root, fingerprint, nothing_new
from reflect.report import RunReport


def _last_run() -> LastRun:
    return LastRun(
        last_checkpoint=None,
        last_git_sha=None,
        timestamp="2026-03-02T09:00:00+00:00",
        run="3f2a91c0aa11",
        project="shop",
        engine="extractive",
        refs=("refs/heads/main",),
        fingerprint="0" * 32,
        ledger="",
        pending=0,
        landed=True,
        unfinished=False,
    )


def test_nothing_new_has_the_shape_of_every_other_report() -> None:
    report = RunReport(project="shop", run="3f2a91c0aa11", engine="extractive")
    assert nothing_new(_last_run()) == report.as_json()


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    (tmp_path / ".last_run").write_bytes(_last_run().encode())
    read = LastRun.read(tmp_path)
    assert read is not None and vars(read) == vars(_last_run())


def test_a_folder_that_does_not_exist_has_no_repository_around_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert find_root(tmp_path) == tmp_path.resolve()
    assert find_root(tmp_path / "nope") is None


@pytest.mark.parametrize("name", ["REFLECT_LEDGER_URL", "REFLECT_STATE_DIR", "XDG_STATE_HOME"])
def test_an_answer_for_one_ledger_is_none_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    repository = GitRepository.create(tmp_path)
    repository.commit("feat: first")
    before = fingerprint(repository.path, CHECKPOINT_REFS)
    assert before is not None and fingerprint(repository.path, CHECKPOINT_REFS) == before
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert fingerprint(repository.path, CHECKPOINT_REFS) != before


def test_no_repository_no_answer(tmp_path: Path) -> None:
    assert fingerprint(tmp_path, CHECKPOINT_REFS) is None
