"""Reading objects: in order, ahead, and past whatever is missing or damaged."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from examples.sessions import GitRepository
from reflect.errors import RepositoryError
from reflect.evidence.git import Git
from reflect.evidence.objects import AHEAD_BYTES, ObjectReader

ABSENT = "1234567890" * 4


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


def blob(repository: GitRepository, content: bytes) -> str:
    return repository.git("hash-object", "-w", "--stdin", input=content)


def test_what_is_stored_comes_back(repository: GitRepository) -> None:
    contents = [b"", b"\n", b"no newline", b"a\0b\n" * 1000, bytes(range(256)) * 9000]
    oids = [blob(repository, content) for content in contents]
    with Git.open(repository.path).objects() as reader:
        assert [reader.read(oid) for oid in oids] == contents
        assert list(reader.read_all(reversed(oids))) == contents[::-1]


def test_hazard_49_a_missing_object_is_none_and_the_next_ones_are_read(repository: GitRepository) -> None:
    one, two = blob(repository, b"one"), blob(repository, b"two")
    with Git.open(repository.path).objects() as reader:
        assert list(reader.read_all([one, ABSENT, two, ABSENT])) == [b"one", None, b"two", None]


def test_a_damaged_object_is_none_and_the_next_ones_are_read(repository: GitRepository) -> None:
    one, damaged, two = blob(repository, b"one"), blob(repository, b"damaged" * 999), blob(repository, b"two")
    path = repository.path / ".git" / "objects" / damaged[:2] / damaged[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:30])
    with Git.open(repository.path).objects() as reader:
        assert list(reader.read_all([one, damaged, two, damaged, damaged, one])) == [
            b"one", None, b"two", None, None, b"one",
        ]  # fmt: skip


def test_more_than_is_read_ahead(repository: GitRepository) -> None:
    size = AHEAD_BYTES // 10
    oids = [blob(repository, bytes([number]) * size) for number in range(13)]
    asked: list[int] = []

    def wanted() -> Iterator[tuple[str, int]]:
        for number, oid in enumerate(oids):
            asked.append(number)
            yield oid, size

    with Git.open(repository.path).objects() as reader:
        pieces = reader.ahead(wanted())
        assert next(pieces) == bytes([0]) * size
        assert len(asked) == 11
        assert list(pieces) == [bytes([number]) * size for number in range(1, 13)]


@pytest.mark.parametrize("size", [0, 1, 9, 10, 99, 100, 12345])
def test_sizes_at_which_the_header_grows(repository: GitRepository, size: int) -> None:
    oid = blob(repository, b"x" * size)
    with Git.open(repository.path).objects() as reader:
        assert list(reader.ahead([(oid, size)] * 3)) == [b"x" * size] * 3


def test_a_damaged_object_is_none_when_read_ahead(repository: GitRepository) -> None:
    one, damaged, two = blob(repository, b"one"), blob(repository, b"damaged" * 9999), blob(repository, b"two")
    path = repository.path / ".git" / "objects" / damaged[:2] / damaged[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:60])
    wanted = [(one, 3), (damaged, 69993), (two, 3), (damaged, 69993), (two, 3)]
    with Git.open(repository.path).objects() as reader:
        assert list(reader.ahead(wanted)) == [b"one", None, b"two", None, b"two"]


def test_an_object_that_went_away_is_none_when_read_ahead(repository: GitRepository) -> None:
    one, two = blob(repository, b"one"), blob(repository, b"two" * 100)
    with Git.open(repository.path).objects() as reader:
        assert list(reader.ahead([(ABSENT, 30), (one, 3), (two, 300)])) == [None, b"one", b"two" * 100]


def test_a_caller_that_stops_reading_ahead_leaves_a_reader_that_works(repository: GitRepository) -> None:
    oids = [(blob(repository, b"%05d" % number), 5) for number in range(10)]
    with Git.open(repository.path).objects() as reader:
        assert next(reader.ahead(oids)) == b"00000"
        assert list(reader.ahead(oids[5:7])) == [b"00005", b"00006"]
        assert reader.read(oids[7][0]) == b"00007"


def test_an_answer_that_comes_in_pieces() -> None:
    script = f"""
import os, time
for _ in range(2):
    answer = b"{ABSENT} blob 12\\nhello, world\\n"
    while answer:
        os.write(1, answer[:7])
        answer = answer[7:]
        time.sleep(0.01)
time.sleep(60)
"""
    reader = ObjectReader([sys.executable, "-c", script], {}, silence_s=5)
    assert list(reader.ahead([(ABSENT, 12), (ABSENT, 12)])) == [b"hello, world"] * 2
    reader.close()


def test_a_process_that_falls_silent_is_given_up(repository: GitRepository) -> None:
    with suppress(RepositoryError):
        reader = ObjectReader(["sleep", "60"], {"PATH": "/usr/bin:/bin"}, silence_s=0.2)
        reader.read(ABSENT)
    with pytest.raises(RepositoryError, match=r"said nothing for 0\.2 s"):
        list(reader.ahead([(ABSENT, 3)]))
    reader.close()


def test_a_process_that_cannot_start(repository: GitRepository) -> None:
    reader = ObjectReader(["false"], {"PATH": "/usr/bin:/bin"}, silence_s=5)
    with pytest.raises(RepositoryError, match="ends as soon as it is started"):
        reader.read(ABSENT)
    reader.close()


def test_many_small_ones(repository: GitRepository) -> None:
    stream = "".join(f"blob\nmark :{number}\ndata {len(str(number))}\n{number}\n" for number in range(1, 3001))
    marks = repository.path / "marks"
    repository.git("fast-import", "--quiet", f"--export-marks={marks}", input=stream.encode())
    oids = dict(line.split() for line in marks.read_text().splitlines())
    with Git.open(repository.path).objects() as reader:
        assert list(reader.read_all(oids.values())) == [mark[1:].encode() for mark in oids]


def test_stopping_early_leaves_a_reader_that_works(repository: GitRepository) -> None:
    oids = [blob(repository, str(number).encode()) for number in range(10)]
    with Git.open(repository.path).objects() as reader:
        assert next(reader.read_all(oids)) == b"0"
        assert reader.read(oids[7]) == b"7"


def test_nothing_is_left_running(repository: GitRepository) -> None:
    one = blob(repository, b"one")
    before = threading.active_count()
    with Git.open(repository.path).objects() as reader:
        reader.read(one)
    assert threading.active_count() == before


def test_only_names_of_objects_are_asked_for(repository: GitRepository) -> None:
    with Git.open(repository.path).objects() as reader, pytest.raises(RepositoryError, match="not the name"):
        reader.read("HEAD\n" + ABSENT)


def test_hazard_49_a_partial_clone_never_fetches(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit("first", {"file.txt": "content"})
    oid = repository.git("rev-parse", "HEAD:file.txt")
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repository.path}", str(clone)],
        check=True,
    )
    git = Git.open(clone)
    with git.objects() as reader:
        assert reader.read(oid) is None
        tree = git.head().oid + "^{tree}"
        assert reader.read(tree) is not None
    assert git.sizes([oid, git.head().oid]).keys() == {git.head().oid}
    still = subprocess.run(
        ["git", "-C", str(clone), "rev-list", "--objects", "--all", "--missing=print"], capture_output=True, check=True
    )
    assert f"?{oid}" in still.stdout.decode()
