"""Listing what Entire stored, in both backends and in every shape it was found in."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from examples.sessions import START, GitRepository, StoredSession
from reflect.evidence.checkpoints import Stored, StoredFolder, checkpoint_of_ref, parse_tree, read_stored
from reflect.evidence.git import Git

ULID = "01KVBJCWYA4YW6J5M9GP655HZN"


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


def stored(path: Path) -> Stored:
    git = Git.open(path)
    with git.objects() as reader:
        return read_stored(reader, git, git.refs())


def session(text: str = "{}") -> StoredSession:
    return StoredSession(text.encode(), "s1")


def plant(repository: GitRepository, files: dict[str, bytes | tuple[str, bytes]], ref: str) -> None:
    """Commit `files` on `ref`; a pair gives the mode with the content."""
    stream = f"commit {ref}\ncommitter A <a@example.com> {int(START.timestamp())} +0000\ndata 1\nx\n".encode()
    for name, content in files.items():
        mode, data = content if isinstance(content, tuple) else ("100644", content)
        stream += f"M {mode} inline {name}\ndata {len(data)}\n".encode() + data + b"\n"
    repository.git("fast-import", "--quiet", "--force", input=stream)


BRANCH = "refs/heads/entire/checkpoints/v1"


class TestBackends:
    def test_the_branch(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [session()]), ("bbbbbbbbbbbb", [session()])])
        found = stored(repository.path)
        assert list(found.folders) == ["aaaaaaaaaaaa/0", "bbbbbbbbbbbb/0"] and not found.notes

    def test_the_branch_of_the_remote(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.commit("first")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [session()])])
        repository.git("clone", "-q", str(repository.path), str(tmp_path / "clone"))
        assert list(stored(tmp_path / "clone").folders) == ["aaaaaaaaaaaa/0"]

    @pytest.mark.parametrize("checkpoint", ["aaaaaaaaaaaa", ULID])
    def test_refs(self, repository: GitRepository, checkpoint: str) -> None:
        repository.checkpoint_ref(checkpoint, [session()])
        assert list(stored(repository.path).folders) == [f"{checkpoint}/0"]

    def test_the_union_prefers_refs(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [session("1")]), ("bbbbbbbbbbbb", [session("2")])])
        repository.checkpoint_ref("aaaaaaaaaaaa", [session("3"), session("4")])
        found = stored(repository.path)
        assert list(found.folders) == ["aaaaaaaaaaaa/0", "aaaaaaaaaaaa/1", "bbbbbbbbbbbb/0"]
        ref = repository.git("rev-parse", "refs/entire/checkpoints/aa/aaaaaaaaaaaa:0")
        assert found.folders["aaaaaaaaaaaa/0"].content == ref  # type: ignore[index]

    @pytest.mark.parametrize("ahead", ["local", "remote"])
    def test_the_branch_that_is_ahead_wins(self, repository: GitRepository, tmp_path: Path, ahead: str) -> None:
        repository.commit("first")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [session("old")]), ("bbbbbbbbbbbb", [session()])])
        repository.git("clone", "-q", str(repository.path), str(tmp_path / "clone"))
        clone = GitRepository(tmp_path / "clone")
        clone.git("branch", "-q", "entire/checkpoints/v1", "origin/entire/checkpoints/v1")
        writer = clone if ahead == "local" else repository
        writer.checkpoint_branch([("aaaaaaaaaaaa", [session("new")])], at=START + timedelta(hours=1))
        clone.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
        wanted = writer.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0")
        found = stored(clone.path)
        assert found.folders["aaaaaaaaaaaa/0"].content == wanted  # type: ignore[index]
        assert "bbbbbbbbbbbb/0" in found.folders

    @pytest.mark.parametrize(
        "ref",
        [
            "refs/entire/checkpoints/v2/main",
            "refs/entire/checkpoints/v1/full",
            "refs/entire/checkpoints/v2/full/0000000000001",
            "refs/entire/checkpoints/bb/aaaaaaaaaaaa",
            "refs/entire/checkpoints/AA/AAAAAAAAAAAA",
            "refs/entire/checkpoints/aaaaaaaaaaaa",
            f"refs/entire/checkpoints/ZN/8{ULID[1:]}",
            "refs/entire/checkpoints/aa/aa/aaaaaaaaaaaa",
        ],
    )
    def test_bogus_refs_are_said_and_not_read(self, repository: GitRepository, ref: str) -> None:
        plant(repository, {"0/full.jsonl": b"{}", "0/metadata.json": b"{}"}, ref)
        found = stored(repository.path)
        assert not found.folders and ref in found.notes[0]

    def test_a_ref_that_points_to_no_commit(self, repository: GitRepository) -> None:
        blob = repository.git("hash-object", "-w", "--stdin", input=b"no commit")
        repository.git("update-ref", "refs/entire/checkpoints/aa/aaaaaaaaaaaa", blob)
        found = stored(repository.path)
        assert not found.folders and "refs/entire/checkpoints/aa/aaaaaaaaaaaa" in found.notes[0]

    def test_names_of_the_branch_that_are_no_ids(self, repository: GitRepository) -> None:
        names = ["zz/zzzzzzzzzz/0", "aa/aaaaaaaaa/0", "..aa/a/0", "settings", "é/aaaaaaaaaa/0"]
        plant(repository, {f"{name}/full.jsonl": b"{}" for name in names}, BRANCH)
        assert not stored(repository.path).folders

    def test_nothing_at_all(self, repository: GitRepository) -> None:
        assert stored(repository.path) == Stored()


def only(repository: GitRepository) -> StoredFolder:
    (folder,) = stored(repository.path).folders.values()
    return folder


class TestFolders:
    def put(self, repository: GitRepository, files: dict[str, bytes | tuple[str, bytes]]) -> None:
        plant(repository, {f"aa/aaaaaaaaaa/{name}": content for name, content in files.items()}, BRANCH)

    def test_hazard_64_every_numbered_folder_whatever_the_metadata_lists(self, repository: GitRepository) -> None:
        listed = {"sessions": [{"transcript": "/aa/aaaaaaaaaa/aa/aaaaaaaaaa/0/full.jsonl"}, {"transcript": "/../../x"}]}
        files: dict[str, bytes | tuple[str, bytes]] = {f"{number}/full.jsonl": b"{}" for number in (0, 2, 10, 21)}
        self.put(repository, files | {"metadata.json": json.dumps(listed).encode(), "1/full.jsonl": b"{}"})
        assert [folder.number for folder in stored(repository.path).folders.values()] == [0, 1, 2, 10, 21]

    @pytest.mark.parametrize("name", ["01", "-1", "1a", "٣", "1234567", "00", "x"])
    def test_names_that_are_no_number(self, repository: GitRepository, name: str) -> None:
        self.put(repository, {f"{name}/full.jsonl": b"{}", "0/full.jsonl": b"{}"})
        assert only(repository).number == 0

    def test_the_content_is_the_tree(self, repository: GitRepository) -> None:
        self.put(repository, {"0/full.jsonl": b"{}"})
        assert only(repository).content == repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0")

    def test_hazard_65_metadata_alone(self, repository: GitRepository) -> None:
        self.put(repository, {"0/metadata.json": b"{}"})
        folder = only(repository)
        assert (folder.chunks, folder.problem) == ((), "") and folder.metadata

    def test_a_checkpoint_without_a_folder(self, repository: GitRepository) -> None:
        self.put(repository, {"metadata.json": b"{}"})
        found = stored(repository.path)
        assert not found.folders and found.checkpoints == {"aaaaaaaaaaaa"}
        assert found.notes == ["There is no session folder in checkpoint aaaaaaaaaaaa."]

    def test_a_transcript_beside_the_folders(self, repository: GitRepository) -> None:
        self.put(repository, {"metadata.json": b"{}", "full.log": b"{}"})
        assert only(repository).number == 0 and len(only(repository).chunks) == 1

    def test_chunks_in_order(self, repository: GitRepository) -> None:
        names = ["full.jsonl.002", "full.jsonl", "full.jsonl.001", *(f"full.jsonl.{n:03d}" for n in range(3, 12))]
        self.put(repository, {f"0/{name}": name.encode() for name in names})
        oids = [repository.git("rev-parse", f"entire/checkpoints/v1:aa/aaaaaaaaaa/0/{name}") for name in sorted(names)]
        assert list(only(repository).chunks) == oids and only(repository).hole == ""

    def test_a_hole_between_chunks(self, repository: GitRepository) -> None:
        self.put(repository, {"0/full.jsonl": b"1", "0/full.jsonl.002": b"3"})
        assert (len(only(repository).chunks), only(repository).hole) == (1, "full.jsonl.001")

    def test_a_hole_at_the_beginning(self, repository: GitRepository) -> None:
        self.put(repository, {"0/full.jsonl.001": b"2"})
        assert not only(repository).chunks and "full.jsonl" in only(repository).problem

    @pytest.mark.parametrize("name", ["full.log", "transcript.jsonl"])
    def test_older_and_compact_names(self, repository: GitRepository, name: str) -> None:
        self.put(repository, {f"0/{name}": b"{}", "0/context.md": b"\xff"})
        assert len(only(repository).chunks) == 1

    def test_the_native_transcript_before_the_compact_one(self, repository: GitRepository) -> None:
        self.put(repository, {"0/transcript.jsonl": b"compact", "0/full.jsonl": b"native"})
        native = repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0/full.jsonl")
        assert only(repository).chunks == (native,)

    def test_hazard_28_a_symbolic_link_is_not_followed(self, repository: GitRepository) -> None:
        self.put(
            repository, {"0/full.jsonl": ("120000", b"/etc/passwd"), "0/metadata.json": ("120000", b"/etc/passwd")}
        )
        folder = only(repository)
        assert "symbolic link" in folder.problem and not folder.chunks and folder.metadata is None

    def test_a_submodule_in_the_place_of_a_folder(self, repository: GitRepository) -> None:
        commit = repository.commit("x")
        self.put(repository, {"1/full.jsonl": b"{}"})
        tree = repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa")
        listing = repository.git("ls-tree", tree) + f"\n160000 commit {commit}\t0\n"
        fake = repository.git("mktree", "--missing", input=listing.encode())
        shard = repository.git("mktree", input=f"040000 tree {fake}\taaaaaaaaaa\n".encode())
        root = repository.git("mktree", input=f"040000 tree {shard}\taa\n".encode())
        repository.git("update-ref", BRANCH, repository.git("commit-tree", root, "-m", "x"))
        assert only(repository).number == 1

    def test_sub_agents_are_counted_and_not_read(self, repository: GitRepository) -> None:
        self.put(
            repository, {"0/full.jsonl": b"{}", "tasks/toolu_1/agent-1.jsonl": b"{}", "tasks/toolu_1/task.json": b""}
        )
        found = stored(repository.path)
        assert len(found.folders) == 1 and "sub-agents" in found.notes[0]


def test_the_shape_of_a_refs_name() -> None:
    assert checkpoint_of_ref(f"refs/entire/checkpoints/ZN/{ULID}") == ULID
    assert checkpoint_of_ref("refs/heads/aa/aaaaaaaaaaaa") is None


def test_a_tree_holds_any_name(repository: GitRepository) -> None:
    repository.commit("x", {"a b": "", "é\n": "", "d/e": ""})
    raw = repository.git("rev-parse", "HEAD^{tree}")
    with Git.open(repository.path).objects() as reader:
        entries = parse_tree(reader.read(raw) or b"")
    assert {entry.name: entry.mode for entry in entries} == {
        b"a b": b"100644",
        "é\n".encode(): b"100644",
        b"d": b"40000",
    }
