"""The sample organisation is what it claims to be: real repositories, every shape once, the same bytes each time."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from examples.infra import OUTSIDER_RULE, POISONED_RULE
from examples.organisation import NAMES, build, next_night
from examples.payments_api import PLANTED_SECRET
from reflect.configuration import load_config, load_format
from reflect.model import is_checkpoint_id

TRAILER = re.compile(r"^Entire-Checkpoint: (\S+)$", re.MULTILINE)


def git(path: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(path), *arguments], capture_output=True, check=True)
    return done.stdout.decode()


def refs(path: Path) -> dict[str, str]:
    lines = git(path, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in lines)


def checkpoints(path: Path) -> set[str]:
    """Every checkpoint that is stored, in whichever backend."""
    listed = git(path, "for-each-ref", "--format=%(refname:lstrip=4)", "refs/entire/checkpoints/*/*").split()
    if "refs/heads/entire/checkpoints/v1" in refs(path):
        names = git(path, "ls-tree", "-r", "-d", "--name-only", "entire/checkpoints/v1").splitlines()
        listed += ["".join(name.split("/")) for name in names if name.count("/") == 1]
    return set(listed)


def messages(path: Path) -> list[str]:
    return [text.strip() for text in git(path, "log", "--format=%B%x00", "main").split("\0") if text.strip()]


def transcripts(path: Path) -> bytes:
    """Every stored transcript, one after the other."""
    objects = git(path, "rev-list", "--objects", "--all").splitlines()
    wanted = [line.split(" ")[0] for line in objects if line.endswith("full.jsonl")]
    request = "".join(f"{name}\n" for name in wanted).encode()
    return subprocess.run(
        ["git", "-C", str(path), "cat-file", "--batch"], input=request, capture_output=True, check=True
    ).stdout


def test_same_commits_on_every_build(
    organisation: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Somebody\n\temail = else@example.com\n[core]\n\tautocrlf = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = build(tmp_path / "again")
    assert [refs(path) for path in again] == [refs(path) for path in organisation]


def test_second_night_is_the_same_with_and_without_ours(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    build(first)
    build(second)
    before = [refs(path) for path in next_night(first)]
    assert before == [refs(path) for path in next_night(second)]
    assert all("refs/heads/main" in listed for listed in before)


def test_builds_in_seconds(tmp_path: Path) -> None:
    began = time.perf_counter()
    build(tmp_path)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("name", NAMES)
def test_each_repository_shows_every_shape_of_history(organisation: tuple[Path, ...], name: str) -> None:
    path = organisation[NAMES.index(name)]
    texts = messages(path)
    stored = checkpoints(path)
    squashed = [text for text in texts if len(set(TRAILER.findall(text))) > 1]
    reverts = [text for text in texts if text.startswith("Revert ")]
    assert 10 <= len(texts) <= 25
    assert 5 <= len(stored) <= 8
    assert all(is_checkpoint_id(checkpoint) for checkpoint in stored)
    assert {checkpoint for text in texts for checkpoint in TRAILER.findall(text)} <= stored
    assert len(squashed) == 1
    assert len(reverts) == 1
    assert len(reverts[0].splitlines()) > 4
    assert len(git(path, "rev-list", "--merges", "main").split()) == 1
    assert git(path, "status", "--porcelain") == ""


def test_reverts_name_a_commit_that_exists(organisation: tuple[Path, ...]) -> None:
    for path in organisation:
        text = next(text for text in messages(path) if text.startswith("Revert "))
        found = re.search(r"This reverts commit ([0-9a-f]{40})\.", text)
        assert found is not None
        assert git(path, "cat-file", "-t", found[1]).strip() == "commit"


def test_both_backends_are_there(organisation: tuple[Path, ...]) -> None:
    payments, storefront, infra = (refs(path) for path in organisation)
    assert "refs/heads/entire/checkpoints/v1" in payments
    assert "refs/heads/entire/checkpoints/v1" in infra
    ulids = [name.rsplit("/", 1)[1] for name in storefront if name.startswith("refs/entire/checkpoints/")]
    assert len(ulids) >= 5
    assert {len(name) for name in ulids} == {26}


def test_configuration_loads(organisation: tuple[Path, ...]) -> None:
    for path, name in zip(organisation, NAMES, strict=True):
        assert load_config(path / ".reflect").project_id == name
    assert "preferences" in load_format(organisation[1] / ".reflect").categories


def test_what_must_not_come_out_is_in_there(organisation: tuple[Path, ...]) -> None:
    payments, _, infra = organisation
    assert PLANTED_SECRET.encode() in transcripts(payments)
    assert POISONED_RULE.encode() in transcripts(infra)
    assert any(OUTSIDER_RULE in text for text in messages(infra))


def test_no_source_file_holds_the_secret() -> None:
    folder = Path(__file__).parents[2] / "examples"
    assert not [path for path in folder.glob("*.py") if PLANTED_SECRET in path.read_text(encoding="utf-8")]


def test_second_night_adds_one_checkpoint_and_commits(tmp_path: Path) -> None:
    paths = build(tmp_path)
    before = [(checkpoints(path), len(messages(path))) for path in paths]
    next_night(tmp_path)
    for path, (known, count) in zip(paths, before, strict=True):
        assert len(checkpoints(path) - known) == 1
        assert len(messages(path)) == count + 2


def test_second_night_commits_the_wiki_alone(tmp_path: Path) -> None:
    paths = build(tmp_path)
    for path in paths:
        page = path / ".reflect" / "wiki" / "decisions" / "a-page.md"
        page.parent.mkdir(parents=True)
        page.write_text("# A page\n", encoding="utf-8")
    next_night(tmp_path)
    for path in paths:
        assert git(path, "log", "--format=%s", "--", ".reflect/wiki").splitlines() == [
            "docs: the wiki of the first night"
        ]
        assert git(path, "status", "--porcelain") == ""
