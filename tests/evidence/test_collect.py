"""Collecting from real repositories: everything accounted for, once, in the same order on every machine."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from examples.sessions import START, ClaudeTranscript, GitRepository, StoredSession
from reflect.configuration import Config
from reflect.evidence import folders
from reflect.evidence.collect import Seen, collect
from reflect.evidence.folders import INCOMPLETE
from reflect.evidence.git import Git
from reflect.evidence.own_output import PROMPT_MARKER
from reflect.model import EvidenceBatch, Outcome, Session, Speaker, Taint


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


def run(path: Path, seen: Seen | None = None, pages: frozenset[str] = frozenset(), **config: Any) -> EvidenceBatch:
    batch = collect(Git.open(path), Config(**config), seen or Seen(), pages)
    settled = {accounted.id for accounted in batch.settled}
    taken = {session.id for session in batch.sessions} | {commit.id for commit in batch.commits}
    assert not settled & taken
    assert settled | taken == set(batch.contents)
    assert len(settled) + len(taken) == len(batch.settled) + len(batch.sessions) + len(batch.commits)
    return batch


def after(batch: EvidenceBatch, before: Seen | None = None) -> Seen:
    """What a ledger holds once `batch` has been recorded."""
    before = before or Seen()
    keys = {turn.key for session in batch.sessions for turn in session.turns}
    return Seen({**before.contents, **batch.contents}, before.turn_keys | keys, batch.floor, first_run=False)


def said(session: Session) -> list[str]:
    return [turn.text for turn in session.turns if turn.speaker is Speaker.PERSON]


def talk(session: str, *prompts: str, **keys: Any) -> ClaudeTranscript:
    transcript = ClaudeTranscript(session, **keys)
    for prompt in prompts:
        transcript.prompt(prompt).reply("Understood.")
    return transcript


def stored(transcript: ClaudeTranscript | bytes, minutes: int = 0, **keys: Any) -> StoredSession:
    content = transcript if isinstance(transcript, bytes) else transcript.encode()
    return StoredSession(content, keys.pop("session_id", "s1"), created_at=START + timedelta(minutes=minutes), **keys)


def outcome(batch: EvidenceBatch, identity: str) -> tuple[Outcome, str]:
    (found,) = (settled for settled in batch.settled if settled.id == identity)
    return found.outcome, found.reason


class TestSessions:
    def test_what_a_session_holds(self, repository: GitRepository) -> None:
        transcript = talk("s1", "Never retry a POST.", cwd="/home/dev/project")
        summary = {"intent": "Retry", "learnings": {"repo": ["POST is not safe"]}}
        session = stored(transcript, branch="fix/retry", files_touched=["src/retry.py"], extra={"summary": summary})
        repository.checkpoint_branch([("aaaaaaaaaaaa", [session])])
        (found,) = run(repository.path).sessions
        assert (found.checkpoint, found.folder, found.session_id) == ("aaaaaaaaaaaa", 0, "s1")
        assert (found.agent, found.branch, found.files) == ("claude-code", "fix/retry", ("src/retry.py",))
        assert (found.created_at, found.workspace, found.taint) == (START, "/home/dev/project", Taint.CLEAN)
        assert found.summary is not None and found.summary.learnings == ("POST is not safe",)
        assert said(found) == ["Never retry a POST."] and not found.automated and not found.notes
        assert found.content == repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0")

    def test_hazard_64_every_session_of_a_checkpoint(self, repository: GitRepository) -> None:
        sessions = [stored(talk(f"s{n}", f"Prompt number {n}."), session_id=f"s{n}") for n in range(3)]
        repository.checkpoint_branch([("aaaaaaaaaaaa", sessions)])
        found = run(repository.path).sessions
        assert [(session.id, said(session)) for session in found] == [
            (f"aaaaaaaaaaaa/{n}", [f"Prompt number {n}."]) for n in range(3)
        ]

    def test_both_backends(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "On the branch."))])])
        repository.checkpoint_ref("01KVBJCWYA4YW6J5M9GP655HZN", [stored(talk("s2", "In a ref."), 5)])
        found = run(repository.path).sessions
        assert [said(session) for session in found] == [["On the branch."], ["In a ref."]]

    def test_a_turn_belongs_to_the_checkpoint_that_was_written_first(self, repository: GitRepository) -> None:
        short, long = talk("s1", "one", "two"), talk("s1", "one", "two", "three")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(long, 60)]), ("ffffffffffff", [stored(short, 0)])])
        found = {session.checkpoint: said(session) for session in run(repository.path).sessions}
        assert found == {"ffffffffffff": ["one", "two"], "aaaaaaaaaaaa": ["three"]}

    def test_the_same_again_is_nothing_new(self, repository: GitRepository) -> None:
        transcript = talk("s1", "one")
        repository.checkpoint_branch(
            [("aaaaaaaaaaaa", [stored(transcript)]), ("bbbbbbbbbbbb", [stored(transcript, 1)])]
        )
        batch = run(repository.path)
        assert [session.id for session in batch.sessions] == ["aaaaaaaaaaaa/0"]
        assert outcome(batch, "bbbbbbbbbbbb/0") == (
            Outcome.SKIPPED,
            "nothing new: every turn stands in an earlier checkpoint",
        )

    def test_chunks_are_one_transcript(self, repository: GitRepository) -> None:
        lines = talk("s1", "one", "two", "three").encode().rstrip(b"\n").split(b"\n")
        chunks = [b"\n".join(lines[:2]), b"\n".join(lines[2:4]), b"\n".join(lines[4:])]
        self.store_chunks(repository, {"": chunks[0], ".001": chunks[1], ".002": chunks[2]})
        assert [said(session) for session in run(repository.path).sessions] == [["one", "two", "three"]]

    def test_what_stands_behind_a_hole_is_not_read(self, repository: GitRepository) -> None:
        lines = talk("s1", "one", "two", "three").encode().rstrip(b"\n").split(b"\n")
        self.store_chunks(repository, {"": b"\n".join(lines[:2]), ".002": b"\n".join(lines[4:])})
        (found,) = run(repository.path).sessions
        assert said(found) == ["one"] and "full.jsonl.001 is missing" in " ".join(found.notes)

    def store_chunks(self, repository: GitRepository, chunks: dict[str, bytes]) -> None:
        stream = b"commit refs/heads/entire/checkpoints/v1\ncommitter A <a@example.com> 1770000000 +0000\ndata 1\nx\n"
        for suffix, chunk in chunks.items():
            stream += (
                f"M 100644 inline aa/aaaaaaaaaa/0/full.jsonl{suffix}\ndata {len(chunk)}\n".encode() + chunk + b"\n"
            )
        repository.git("fast-import", "--quiet", input=stream)

    def test_sessions_nobody_sat_at(self, repository: GitRepository) -> None:
        review = stored(talk("s1", "Review this."), extra={"kind": "agent_review"})
        repository.checkpoint_branch([("aaaaaaaaaaaa", [review])])
        assert run(repository.path).sessions[0].automated

    def test_secrets_are_gone_and_ids_stay(self, repository: GitRepository) -> None:
        sha = repository.commit("first")
        key = "AKIA" + "Q3EGRIVS7SD4ZXCV"
        prompt = f"The key is {key}, it came with {sha} and aaaaaaaaaaaa."
        session = stored(talk("s1", prompt), branch=f"fix/{key}", extra={"summary": {"intent": f"use {key}"}})
        repository.checkpoint_branch([("aaaaaaaaaaaa", [session])])
        batch = run(repository.path)
        assert key not in repr(batch) and batch.redactions >= 3
        assert sha in said(batch.sessions[0])[0] and "aaaaaaaaaaaa" in said(batch.sessions[0])[0]

    def test_own_patterns(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "Ask customer 4711-8 about it."))])])
        (found,) = run(repository.path, redact=(r"\d{4}-\d",)).sessions
        assert "4711" not in said(found)[0] and said(found)[0].startswith("Ask customer ")


class TestDamage:
    def one(self, repository: GitRepository, content: bytes, **keys: Any) -> EvidenceBatch:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(content, **keys)])])
        return run(repository.path)

    @pytest.mark.parametrize(
        "tail",
        [b'{"type":"assis', b'{"parentUuid":"x","type":"user","message":{"role":"user","content":"cut in the mid'],
        ids=["hazard-67-cut-at-a-pipes-limit", "hazard-66-cut-while-it-grew"],
    )
    def test_a_cut_last_line_costs_itself(self, repository: GitRepository, tail: bytes) -> None:
        (found,) = self.one(repository, talk("s1", "one", "two").encode() + tail).sessions
        assert said(found) == ["one", "two"] and found.notes

    def test_hazard_66_what_the_agent_wrote_after_the_checkpoint_comes_with_the_next(
        self, repository: GitRepository
    ) -> None:
        whole = talk("s1", "one", "two").encode()
        first, second = stored(whole[:-200]), stored(whole, 5)
        repository.checkpoint_branch([("aaaaaaaaaaaa", [first]), ("bbbbbbbbbbbb", [second])])
        sessions = run(repository.path).sessions
        assert [said(session) for session in sessions] == [["one", "two"], []]
        assert [turn.text for turn in sessions[1].turns] == ["Understood."]

    def test_hazard_65_metadata_without_a_transcript(self, repository: GitRepository) -> None:
        assert outcome(self.one(repository, b""), "aaaaaaaaaaaa/0")[0] is Outcome.QUARANTINED
        metadata = repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0/metadata.json")
        stub = repository.git("mktree", input=f"100644 blob {metadata}\tmetadata.json\n".encode())
        tree = repository.git("mktree", input=f"040000 tree {stub}\t0\n".encode())
        commit = repository.git("commit-tree", tree, "-m", "x")
        repository.git("update-ref", "refs/entire/checkpoints/aa/aaaaaaaaaaaa", commit)
        assert outcome(run(repository.path), "aaaaaaaaaaaa/0") == (Outcome.SKIPPED, "no transcript stored")

    def test_an_unknown_shape(self, repository: GitRepository) -> None:
        found, reason = outcome(self.one(repository, b"#!/bin/sh\necho no transcript\n" * 50), "aaaaaaaaaaaa/0")
        assert found is Outcome.QUARANTINED and reason

    def test_a_huge_metadata_file(self, repository: GitRepository) -> None:
        batch = self.one(repository, talk("s1", "one").encode(), extra={"prompt_attributions": "x" * (9 << 20)})
        (found,) = batch.sessions
        assert said(found) == ["one"] and "metadata.json has 9," in found.notes[0]
        assert found.session_id == "s1" and found.created_at is not None

    def test_metadata_that_is_no_json(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"), files_touched=None)])])
        broken = repository.git("hash-object", "-w", "--stdin", input=b"{")
        transcript = repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0/full.jsonl")
        lines = f"100644 blob {transcript}\tfull.jsonl\n100644 blob {broken}\tmetadata.json\n"
        tree = repository.git("mktree", input=lines.encode())
        tree = repository.git("mktree", input=f"040000 tree {tree}\t0\n".encode())
        commit = repository.git("commit-tree", tree, "-m", "x")
        repository.git("update-ref", "refs/entire/checkpoints/aa/aaaaaaaaaaaa", commit)
        (found,) = run(repository.path).sessions
        assert said(found) == ["one"] and found.files == () and "metadata.json" in found.notes[0]

    def test_a_transcript_above_the_limit_is_not_read(
        self, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(folders, "MAX_TRANSCRIPT", 1000)
        found, reason = outcome(self.one(repository, talk("s1", "one " * 500).encode()), "aaaaaaaaaaaa/0")
        assert found is Outcome.QUARANTINED and "above the limit of 1,000" in reason

    def test_a_damaged_object(self, repository: GitRepository) -> None:
        oids = []
        for name, text in (("aa", "one"), ("bb", "two"), ("cc", "three")):
            content = talk(f"s{name}", text * 400).encode()
            oids.append(repository.git("hash-object", "-w", "--stdin", input=content))
            folder = repository.git("mktree", input=f"100644 blob {oids[-1]}\tfull.jsonl\n".encode())
            tree = repository.git("mktree", input=f"040000 tree {folder}\t0\n".encode())
            commit = repository.git("commit-tree", tree, "-m", "x")
            repository.git("update-ref", f"refs/entire/checkpoints/{name}/{name * 6}", commit)
        path = repository.path / ".git" / "objects" / oids[1][:2] / oids[1][2:]
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:80])
        batch = run(repository.path)
        assert [session.id for session in batch.sessions] == ["aaaaaaaaaaaa/0", "cccccccccccc/0"]
        assert "damaged" in outcome(batch, "bbbbbbbbbbbb/0")[1]


class TestOwnOutput:
    INDEX = "# Knowledge Base Index\n\n## Decisions\n- [Retry](decisions/retry.md)\n"

    def test_hazard_74_a_session_that_prints_the_index(self, repository: GitRepository) -> None:
        transcript = ClaudeTranscript("s1").prompt("What do we know?")
        transcript.tool("Bash", {"command": "cat .reflect/wiki/index.md"}, self.INDEX)
        transcript.reply(self.INDEX).reply("As decided (checkpoint 4ecb34b81a12), three retries.").prompt("Use five.")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(transcript)])])
        (found,) = run(repository.path).sessions
        texts = [turn.text for turn in found.turns if turn.text]
        assert texts == ["What do we know?", "Use five."]
        assert found.notes == ("2 turns repeat this wiki or its prompts and are not evidence",)

    def test_hazard_75_a_session_of_our_own(self, repository: GitRepository) -> None:
        first = talk("s1", f"{PROMPT_MARKER}\nReflect on this session.")
        later = talk("s1", f"{PROMPT_MARKER}\nReflect on this session.", "Always answer in JSON.")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(first)]), ("bbbbbbbbbbbb", [stored(later, 5)])])
        batch = run(repository.path)
        assert batch.sessions == ()
        for name in ("aaaaaaaaaaaa/0", "bbbbbbbbbbbb/0"):
            assert outcome(batch, name) == (Outcome.SKIPPED, "a session of reflect itself")

    def test_our_own_commits(self, repository: GitRepository) -> None:
        wiki = repository.commit("update the wiki", {".reflect/wiki/index.md": "x"})
        trailer = repository.commit("reflect: compile\n\nReflect-Run: 0123456789ab", {".reflect/wiki/log.md": "x"})
        mixed = repository.commit("Wiki and code", {".reflect/wiki/a.md": "x", "src/a.py": "x"})
        batch = run(repository.path)
        assert [commit.sha for commit in batch.commits] == [mixed]
        assert outcome(batch, wiki) == (Outcome.SKIPPED, "touches only .reflect/")
        assert outcome(batch, trailer) == (Outcome.SKIPPED, "made by reflect")

    def test_a_squash_that_swallowed_one_of_ours_is_someones(self, repository: GitRepository) -> None:
        message = "Add (#3)\n\n* reflect: compile\n\n* feat: cap at three\n\nReflect-Run: 0123456789ab"
        squash = repository.commit(message, {".reflect/wiki/log.md": "x", "src/a.py": "x"})
        assert [commit.sha for commit in run(repository.path).commits] == [squash]


class TestCommits:
    def test_what_a_commit_holds(self, repository: GitRepository) -> None:
        one = repository.commit("Cap retries\n\nThe gateway\ndrops calls.", {"a": "1"})
        two = repository.commit(f'Revert "Cap retries"\n\nThis reverts commit {one}.', {"a": "0"})
        batch = run(repository.path)
        assert [commit.sha for commit in batch.commits] == [one, two]
        assert batch.commits[0].body == "The gateway drops calls." and batch.commits[0].files == ("a",)
        assert batch.commits[1].reverts == (one,) and batch.commits[1].parents == (one,)
        assert (batch.head, batch.default_branch, batch.contents[batch.commits[0].id]) == (two, "main", one)

    def test_hazard_41_two_trailers(self, repository: GitRepository) -> None:
        repository.commit("x\n\nEntire-Checkpoint: aaaaaaaaaaaa\nEntire-Checkpoint: bbbbbbbbbbbb")
        assert run(repository.path).commits[0].checkpoints == ("aaaaaaaaaaaa", "bbbbbbbbbbbb")

    def test_hazard_54_a_trailer_on_a_merge(self, repository: GitRepository) -> None:
        repository.commit("base", {"a": ""})
        repository.git("checkout", "-q", "-b", "side")
        repository.commit("on the side", {"b": ""})
        repository.git("checkout", "-q", "main")
        repository.git("merge", "-q", "--no-ff", "side", "-m", "Merge side\n\nEntire-Checkpoint: aaaaaaaaaaaa")
        commits = run(repository.path).commits
        assert len(commits) == 3 and [c.checkpoints for c in commits if c.checkpoints] == [("aaaaaaaaaaaa",)]

    def test_secrets_are_gone(self, repository: GitRepository) -> None:
        key = "AKIA" + "Q3EGRIVS7SD4ZXCV"
        repository.commit(f"Use {key}\n\nIt is {key}.")
        batch = run(repository.path)
        assert key not in repr(batch) and batch.redactions >= 2

    @pytest.mark.parametrize(
        ("config", "trusted"),
        [
            ({}, True),
            ({"trusted_authors": ("ada@example.com",)}, True),
            ({"trusted_authors": ("ADA EXAMPLE",)}, True),
            ({"trusted_authors": ("@example.com",)}, True),
            ({"trusted_authors": ("bob@example.com",)}, False),
            ({"bot_authors": ("Ada Example",)}, False),
            ({"trusted_authors": ("ada@example.com",), "bot_authors": ("ada@example.com",)}, False),
        ],
    )
    def test_trust(self, repository: GitRepository, config: dict[str, Any], trusted: bool) -> None:
        repository.commit("x")
        assert run(repository.path, **config).commits[0].trusted is trusted

    def test_bots_that_quote_release_notes_are_strangers(self, repository: GitRepository) -> None:
        repository.commit("x")
        bot = "dependabot[bot] <1+dependabot[bot]@users.noreply.github.com>"
        repository.git("commit", "-q", "--amend", "--allow-empty", "--no-edit", f"--author={bot}")
        assert not run(repository.path).commits[0].trusted


class TestAgain:
    def test_nothing_new_reads_nothing(self, repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
        repository.commit("first")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))]), ("bbbbbbbbbbbb", [stored(b"")])])
        seen = after(run(repository.path))
        blobs = repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0/full.jsonl").split()
        for oid in blobs:
            assert oid not in seen.contents
        batch = run(repository.path, seen)
        assert batch.is_empty and batch.contents == {}

    def test_hazard_56_sixty_commits_since_the_last_run(self, repository: GitRepository) -> None:
        repository.commit("first")
        seen = after(run(repository.path, seed_commits=10))
        shas = [repository.commit(f"commit {number}") for number in range(60)]
        batch = run(repository.path, seen, seed_commits=10)
        assert [commit.sha for commit in batch.commits] == shas and batch.left_out_commits == 0

    def test_the_seed_window_says_what_it_leaves_out(self, repository: GitRepository) -> None:
        for number in range(7):
            repository.commit(f"commit {number}")
        batch = run(repository.path, seed_commits=3)
        assert (len(batch.commits), batch.left_out_commits, len(batch.floor)) == (3, 4, 1)
        assert any("4 older commits" in note for note in batch.notes)
        assert run(repository.path, after(batch), seed_commits=3).is_empty

    def test_hazard_57_a_later_run_takes_the_new_checkpoints_alone(self, repository: GitRepository) -> None:
        names = [f"{number}" * 12 for number in range(1, 6)]
        for number, name in enumerate(names[:3]):
            repository.commit(f"commit {number}\n\nEntire-Checkpoint: {name}")
            repository.checkpoint_branch([(name, [stored(talk(f"s{name}", f"Prompt {name}"), number)])])
        seen = after(run(repository.path))
        for number, name in enumerate(names[3:], start=3):
            repository.commit(f"commit {number}\n\nEntire-Checkpoint: {name}")
            repository.checkpoint_branch([(name, [stored(talk(f"s{name}", f"Prompt {name}"), number)])])
        batch = run(repository.path, seen)
        assert [session.checkpoint for session in batch.sessions] == names[3:]
        assert [commit.checkpoints for commit in batch.commits] == [(name,) for name in names[3:]]

    def test_hazard_57_nor_do_old_ones_come_back_after_a_force_push(self, repository: GitRepository) -> None:
        names = [f"{number}" * 12 for number in range(1, 6)]
        for number, name in enumerate(names):
            repository.commit(f"commit {number}\n\nEntire-Checkpoint: {name}")
            repository.checkpoint_branch([(name, [stored(talk(f"s{name}", f"Prompt {name}"), number)])])
        seen = after(run(repository.path))
        repository.git(
            "commit", "-q", "--amend", "--allow-empty", "-m", "commit 4, reworded\n\nEntire-Checkpoint: 555555555555"
        )
        batch = run(repository.path, seen)
        assert batch.sessions == () and [commit.subject for commit in batch.commits] == ["commit 4, reworded"]

    def test_hazard_40_three_commits_squashed_and_force_pushed(self, repository: GitRepository, tmp_path: Path) -> None:
        base = repository.commit("base")
        names = ["1" * 12, "2" * 12, "3" * 12]
        for number, name in enumerate(names):
            repository.commit(f"part {number}\n\nEntire-Checkpoint: {name}", {"a": str(number)})
            repository.checkpoint_branch([(name, [stored(talk(f"s{name}", f"Prompt {name}"), number)])])
        clone = tmp_path / "clone"
        repository.git("clone", "-q", str(repository.path), str(clone))
        seen = after(run(clone))
        messages = repository.git("log", "--reverse", "--format=* %B", f"{base}..main")
        repository.git("reset", "-q", "--soft", base)
        squash = repository.commit(f"All parts (#1)\n\n{messages}")
        GitRepository(clone).git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
        GitRepository(clone).git("reset", "-q", "--hard", "origin/main")
        batch = run(clone, seen)
        assert [commit.sha for commit in batch.commits] == [squash] and batch.sessions == ()
        assert batch.commits[0].checkpoints == tuple(names)

    def test_a_finalized_transcript_gives_what_is_new_in_it(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))])])
        seen = after(run(repository.path))
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one", "two"))])])
        assert [said(session) for session in run(repository.path, seen).sessions] == [["two"]]

    def test_a_new_summary_alone_is_nothing_new(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))])])
        seen = after(run(repository.path))
        summary = {"summary": {"intent": "one"}}
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"), extra=summary)])])
        assert outcome(run(repository.path, seen), "aaaaaaaaaaaa/0")[0] is Outcome.SKIPPED

    def test_the_same_in_every_clone_and_every_run(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.commit("first", {"b": "", "a": ""})
        transcript = talk("s1", "one", "two")
        names = ["bbbbbbbbbbbb", "aaaaaaaaaaaa", "dddddddddddd", "cccccccccccc"]
        repository.checkpoint_branch([(name, [stored(transcript), stored(talk(name, name))]) for name in names])
        repository.git("clone", "-q", str(repository.path), str(tmp_path / "clone"))
        one, two, other = run(repository.path), run(repository.path), run(tmp_path / "clone")
        assert one == two
        assert (one.sessions, one.commits, one.settled, one.contents) == (
            other.sessions, other.commits, other.settled, other.contents,
        )  # fmt: skip


class TestShapesOfRepositories:
    def test_hazard_43_empty(self, repository: GitRepository) -> None:
        batch = run(repository.path)
        assert batch.is_empty and batch.head is None and batch.default_branch == "main"
        assert any("no commit yet" in note for note in batch.notes)

    def test_hazard_44_an_empty_one_among_three(self, tmp_path: Path) -> None:
        batches = []
        for name in ("one", "empty", "three"):
            repository = GitRepository.create(tmp_path / name)
            if name != "empty":
                repository.commit(name)
            batches.append(run(repository.path))
        assert [len(batch.commits) for batch in batches] == [1, 0, 1]

    def test_checkpoints_before_the_first_commit(self, repository: GitRepository) -> None:
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))])])
        assert len(run(repository.path).sessions) == 1

    def test_hazard_45_detached(self, repository: GitRepository) -> None:
        first = repository.commit("first")
        repository.commit("second")
        repository.git("checkout", "-q", first)
        batch = run(repository.path)
        assert [commit.sha for commit in batch.commits] == [first] and batch.default_branch is None
        assert any("detached" in note for note in batch.notes)

    def test_hazard_47_and_48_shallow(self, repository: GitRepository, tmp_path: Path) -> None:
        for number in range(4):
            repository.commit(f"commit {number}", {"a": str(number)})
        clone = tmp_path / "clone"
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository.path}", str(clone)], check=True)
        first = run(clone)
        assert [commit.subject for commit in first.commits] == ["commit 3"]
        assert any("shallow" in note for note in first.notes)
        GitRepository(clone).git("fetch", "-q", "--unshallow")
        second = run(clone, after(first))
        assert [commit.subject for commit in second.commits] == ["commit 0", "commit 1", "commit 2"]
        assert not any("shallow" in note for note in second.notes)

    def test_hazard_49_a_partial_clone_without_the_checkpoints(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.commit("first", {"a": "1"})
        repository.git("config", "uploadpack.allowFilter", "true")
        clone = self.partial(repository, tmp_path)
        batch = run(clone)
        assert [commit.files for commit in batch.commits] == [("a",)] and batch.sessions == ()
        assert any("No checkpoints are stored here" in note for note in batch.notes)

    def test_hazard_49_transcripts_that_a_partial_clone_left_out(
        self, repository: GitRepository, tmp_path: Path
    ) -> None:
        repository.commit("first", {"a": "1"})
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))])])
        clone = self.partial(repository, tmp_path)
        first = run(clone)
        assert outcome(first, "aaaaaaaaaaaa/0")[0] is Outcome.QUARANTINED
        assert "is not in this clone" in outcome(first, "aaaaaaaaaaaa/0")[1]
        tree = repository.git("rev-parse", "entire/checkpoints/v1:aa/aaaaaaaaaa/0")
        assert first.contents["aaaaaaaaaaaa/0"] == tree + INCOMPLETE  # type: ignore[index]
        again = run(clone, after(first))
        assert again.is_empty
        for name in ("full.jsonl", "metadata.json"):
            GitRepository(clone).git("cat-file", "-p", f"origin/entire/checkpoints/v1:aa/aaaaaaaaaa/0/{name}")
        (found,) = run(clone, after(first)).sessions
        assert said(found) == ["one"] and found.content == tree

    def partial(self, repository: GitRepository, tmp_path: Path) -> Path:
        repository.git("config", "uploadpack.allowFilter", "true")
        clone = tmp_path / "partial"
        source = f"file://{repository.path}"
        subprocess.run(["git", "clone", "-q", "--no-checkout", "--filter=blob:none", source, str(clone)], check=True)
        return clone

    def test_bare(self, repository: GitRepository, tmp_path: Path) -> None:
        repository.commit("first")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))])])
        repository.git("clone", "-q", "--bare", str(repository.path), str(tmp_path / "bare"))
        batch = run(tmp_path / "bare")
        assert (len(batch.commits), len(batch.sessions)) == (1, 1)

    @pytest.mark.parametrize(
        "where",
        ["../elsewhere", ".claude/worktrees/modest-burnell"],
        ids=["hazard-53-worktree", "hazard-129-agents-worktree"],
    )
    def test_a_worktree_holds_what_its_repository_holds(self, repository: GitRepository, where: str) -> None:
        repository.commit("first")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))])])
        repository.git("worktree", "add", "-q", where, "-b", "side")
        main = run(repository.path, default_branch="main")
        assert run(repository.path / where, default_branch="main") == main

    def test_hazard_61_submodules_are_said_and_not_entered(self, repository: GitRepository, tmp_path: Path) -> None:
        inner = GitRepository.create(tmp_path / "inner")
        inner.commit("a commit of another repository")
        repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "inner")
        repository.commit("add a submodule")
        batch = run(repository.path)
        assert [commit.subject for commit in batch.commits] == ["add a submodule"]
        assert any("Submodules" in note for note in batch.notes)

    def test_hazard_117_what_entire_keeps_for_itself_is_not_read(self, repository: GitRepository) -> None:
        """Its shadow branches hold transcripts before anything was taken out of them."""
        repository.commit("first")
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "not yet redacted"))])])
        for shadow in ("entire/2b4f177", "entire/2b4f177-e3b0c4", "entire/sessions/v1", "other/checkpoints/v1"):
            repository.git("branch", shadow, "entire/checkpoints/v1")
        repository.git("branch", "-D", "-q", "entire/checkpoints/v1")
        assert run(repository.path).sessions == ()

    def test_hazard_28_links_in_the_work_tree_lead_nowhere(self, repository: GitRepository, tmp_path: Path) -> None:
        secret = tmp_path / "secret.jsonl"
        secret.write_bytes(talk("s1", "outside").encode())
        (repository.path / "full.jsonl").symlink_to(secret)
        repository.commit("a link")
        blob = repository.git("hash-object", "-w", "--stdin", input=str(secret).encode())
        folder = repository.git("mktree", input=f"120000 blob {blob}\tfull.jsonl\n".encode())
        tree = repository.git("mktree", input=f"040000 tree {folder}\t0\n".encode())
        commit = repository.git("commit-tree", tree, "-m", "x")
        repository.git("update-ref", "refs/entire/checkpoints/aa/aaaaaaaaaaaa", commit)
        batch = run(repository.path)
        assert batch.sessions == () and "symbolic link" in outcome(batch, "aaaaaaaaaaaa/0")[1]

    def test_hazard_28_nothing_that_a_repository_brings_is_executed(
        self, repository: GitRepository, tmp_path: Path
    ) -> None:
        repository.commit("first", {"a": "1", ".gitattributes": "* diff=trap filter=trap\n"})
        repository.checkpoint_branch([("aaaaaaaaaaaa", [stored(talk("s1", "one"))])])
        sprung, script = tmp_path / "sprung", tmp_path / "script"
        script.write_text(f"#!/bin/sh\necho $0 $@ >> {sprung}\n")
        script.chmod(0o755)
        keys = (
            "core.fsmonitor core.pager core.sshCommand diff.external diff.trap.textconv filter.trap.clean gpg.program"
        )
        for key in keys.split():
            repository.git("config", key, str(script))
        repository.git("config", "log.showSignature", "true")
        (repository.path / ".qmd").mkdir()
        (repository.path / ".qmd" / "index.yml").write_text(f"update: {script}\n")
        batch = run(repository.path)
        assert (len(batch.commits), len(batch.sessions)) == (1, 1)
        assert not sprung.exists()

    def test_metadata_that_names_paths_opens_none(self, repository: GitRepository) -> None:
        session = stored(
            talk("s1", "one"),
            branch="../../../etc",
            files_touched=["/etc/passwd", "../../x"],
            extra={"transcript_path": "/etc/passwd"},
        )
        repository.checkpoint_branch([("aaaaaaaaaaaa", [session])])
        (found,) = run(repository.path).sessions
        assert found.files == ("/etc/passwd", "../../x") and said(found) == ["one"]


class TestTheSampleRepository:
    BUNDLE = Path(__file__).parents[3] / "shared" / "data" / "sample-repository.bundle"

    @pytest.mark.skipif(not BUNDLE.exists(), reason="the sample is not beside the repository")
    def test_everything_is_accounted_for(self, tmp_path: Path) -> None:
        subprocess.run(["git", "clone", "-q", str(self.BUNDLE), str(tmp_path / "sample")], check=True)
        batch = run(tmp_path / "sample")
        checkpoints = {name.split("/")[0] for name in batch.contents if "/" in name}
        assert len(checkpoints) == 21
        assert sum("/" in name for name in batch.contents) == 22
        assert len(batch.contents) == 22 + 65
        assert run(tmp_path / "sample", after(batch)).is_empty
