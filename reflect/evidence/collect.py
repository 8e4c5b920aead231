"""Collect: everything new in one repository, read once, redacted, each piece with one outcome.

Sessions are read in the order in which they were written, one transcript in memory at a time while git unpacks the
next, so that a turn that several checkpoints repeat belongs to the earliest on every machine.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from reflect.configuration import Config
from reflect.errors import EvidenceError
from reflect.evidence import commits as history
from reflect.evidence.checkpoints import BRANCH, REFS, Stored, read_stored
from reflect.evidence.folders import NewFolder, new_folders
from reflect.evidence.git import DefaultBranch, Git, Ref
from reflect.evidence.objects import ObjectReader
from reflect.evidence.own_output import is_own_session, without_own_output
from reflect.evidence.redaction import Redactor
from reflect.evidence.transcripts.memory import TranscriptMemory
from reflect.evidence.transcripts.reader import Transcript, read_transcript
from reflect.evidence.trust import Trust
from reflect.model import (
    SHORT,
    Accounted,
    Commit,
    CommitSha,
    EvidenceBatch,
    EvidenceId,
    EvidenceKind,
    Outcome,
    Session,
    Summary,
    Turn,
)

_SWITCH_S = 0.0005
_NOTHING_NEW = "nothing new: every turn stands in an earlier checkpoint"


@dataclass(frozen=True, slots=True)
class Seen:
    """What the ledger holds for this project.

    `contents` maps evidence ids to the content they were settled with, `turn_keys` holds the key of every turn taken,
    `floor` the newest commits that a first run left out on purpose.
    """

    contents: Mapping[EvidenceId, str] = field(default_factory=dict)
    turn_keys: frozenset[bytes] = frozenset()
    floor: tuple[CommitSha, ...] = ()
    first_run: bool = True


def collect(git: Git, config: Config, seen: Seen, known_pages: frozenset[str] = frozenset()) -> EvidenceBatch:
    """Read what `seen` does not hold: every checkpoint session and commit ends in the batch with one outcome.

    `known_pages` are the paths of the wiki's pages, relative to it. Raises RepositoryError where git gives nothing at
    all; what is wrong with one session or commit is its outcome.
    """
    refs = git.refs()
    default = git.default_branch(config.default_branch, refs)
    window = history.choose_window(
        git, default.tips, seen.contents.keys(), seen.floor, first_run=seen.first_run, seed=config.seed_commits
    )
    gathered = _Gathered(seen, known_pages)
    with git.objects() as reader:
        stored = read_stored(reader, git, refs)
        new = new_folders(git, reader, stored.folders, seen.contents)
        known = frozenset(stored.checkpoints) | _commit_ids(git, refs)
        # What exists is evidence: an id among it never looks like a secret.
        redactor = Redactor(config.redact, keep=known)
        gathered.read_sessions(reader, new, redactor)
        gathered.notes += _about_repository(git, reader, default, stored, refs, window)
    gathered.read_commits(git, window, Trust(config), redactor)
    return EvidenceBatch(
        sessions=tuple(gathered.sessions),
        commits=tuple(gathered.commits),
        settled=tuple(sorted(gathered.settled, key=lambda settled: settled.id)),
        contents=gathered.contents,
        notes=tuple(gathered.notes),
        left_out_commits=window.left_out,
        redactions=redactor.count,
        head=window.head,
        default_branch=default.name,
        floor=window.floor,
        known=known,
    )


@dataclass(slots=True)
class _Gathered:
    """What has been read so far."""

    seen: Seen
    known_pages: frozenset[str]
    sessions: list[Session] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    settled: list[Accounted] = field(default_factory=list)
    contents: dict[EvidenceId, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    taken: set[bytes] = field(default_factory=set)
    memory: TranscriptMemory = field(default_factory=TranscriptMemory)

    def read_sessions(self, reader: ObjectReader, new: Sequence[NewFolder], redactor: Redactor) -> None:
        self.taken |= self.seen.turn_keys
        readable = [folder for folder in new if not folder.problem]
        for folder in new:
            self.contents[folder.id] = folder.content
            if folder.problem:
                self._settle(folder.id, EvidenceKind.SESSION, folder.outcome, folder.problem)
        blobs = reader.ahead(
            wanted for folder in readable for wanted in zip(folder.stored.chunks, folder.sizes, strict=True)
        )
        with _at_a_readers_pace():
            for folder in readable:
                self._read_session(folder, [next(blobs) for _ in folder.stored.chunks], redactor)

    def _read_session(self, folder: NewFolder, chunks: list[bytes | None], redactor: Redactor) -> None:
        identity = folder.id
        whole = [chunk for chunk in chunks if chunk is not None]
        if len(whole) < len(chunks):
            reason = "git cannot read its transcript: the object is damaged; `git fsck` says more"
            self._settle(identity, EvidenceKind.SESSION, Outcome.QUARANTINED, reason)
            return
        try:
            transcript = read_transcript(
                whole, already=self.taken, start_hint=folder.metadata.transcript_start, memory=self.memory
            )
        except EvidenceError as error:
            self._settle(identity, EvidenceKind.SESSION, Outcome.QUARANTINED, str(error))
            return
        turns = tuple(self._unseen(transcript.turns))
        kept = without_own_output(turns, self.known_pages, transcript.wiki_read_at, transcript.wiki_calls)
        if is_own_session(transcript.turns):
            self._settle(identity, EvidenceKind.SESSION, Outcome.SKIPPED, "a session of reflect itself")
        elif not turns:
            self._settle(identity, EvidenceKind.SESSION, Outcome.SKIPPED, _NOTHING_NEW)
        elif not kept:
            self._settle(identity, EvidenceKind.SESSION, Outcome.SKIPPED, "repeats this product's own output")
        else:
            self.sessions.append(_session(folder, transcript, kept, len(turns) - len(kept), redactor))

    def _unseen(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        for turn in turns:
            if turn.key not in self.taken:
                self.taken.add(turn.key)
                yield turn

    def read_commits(self, git: Git, window: history.Window, trust: Trust, redactor: Redactor) -> None:
        """Read the window's commits; they come out oldest first."""
        raw = list(history.read_commits(git, window.new))
        reverts = history.reverted(raw, window, git)
        judge = _Judge(trust, raw, window, git, reverts)
        for commit in reversed(raw):
            self.contents[EvidenceId(commit.sha)] = commit.sha
            if commit.made_here:
                self._settle(EvidenceId(commit.sha), EvidenceKind.COMMIT, Outcome.SKIPPED, commit.made_here)
            else:
                found = as_evidence(commit, reverts.get(commit.sha, ()), redactor, trusted=judge.trusts(commit))
                repeated = judge.repeated(commit)
                self.commits.append(found if repeated is None else replace(found, subject=f"Revert {repeated[:SHORT]}"))
        without = sum(commit.files is None for commit in raw)
        if without:
            self.notes.append(f"The files that {without} commits changed are not in this clone (it is partial).")

    def _settle(self, identity: EvidenceId, kind: EvidenceKind, outcome: Outcome, reason: str) -> None:
        self.settled.append(Accounted(id=identity, kind=kind, outcome=outcome, reason=reason))


class _Judge:
    """Whose words the messages of the commits at hand are: their authors', and of those whom they repeat."""

    def __init__(
        self,
        trust: Trust,
        raw: Sequence[history.RawCommit],
        window: history.Window,
        git: Git,
        reverts: Mapping[CommitSha, tuple[CommitSha, ...]],
    ) -> None:
        known = {commit.sha: commit for commit in raw}
        earlier = {sha for targets in reverts.values() for sha in targets if sha not in known}
        present = sorted(earlier & git.sizes(sorted(earlier)).keys()) if earlier else ()
        self._trust = trust
        self._known = known | {commit.sha: commit for commit in history.read_commits(git, present)}
        self._merged = history.merged_by(raw, window)
        self._reverts = reverts

    def trusts(self, commit: history.RawCommit) -> bool:
        merged = self._merged.get(commit.sha, ())
        return self._trust.trusts_words(commit, [self._known[sha] for sha in merged if sha in self._known])

    def repeated(self, commit: history.RawCommit) -> CommitSha | None:
        """The commit of somebody who is not trusted that `commit` takes back: its subject repeats that one's. Whose a
        commit was that is gone, nobody knows."""
        for sha in self._reverts.get(commit.sha, ()):
            target = self._known.get(sha)
            author, email = ("", "") if target is None else (target.author, target.email)
            if not self._trust.trusts(author, email):
                return sha
        return None


@contextmanager
def _at_a_readers_pace() -> Iterator[None]:
    """Parsed transcripts hold no reference cycles: looking for some costs a tenth of the time it takes to read them.
    And the thread that takes objects off git waits less for its turn, so that git never waits for it."""
    was_on, interval = gc.isenabled(), sys.getswitchinterval()
    gc.disable()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        if was_on:
            gc.enable()


def _session(
    folder: NewFolder, transcript: Transcript, turns: tuple[Turn, ...], own: int, redactor: Redactor
) -> Session:
    metadata = folder.metadata
    notes = [note for note in (metadata.note, *transcript.notes) if note]
    if folder.stored.hole:
        notes.append(f"{folder.stored.hole} is missing: what stood there and after it was not read")
    if own:
        notes.append(f"{own} turns repeat this wiki or its prompts and are not evidence")
    first = next((turn.at for turn in turns if turn.at is not None), None)
    return Session(
        checkpoint=folder.stored.checkpoint,
        folder=folder.stored.number,
        content=folder.content,
        session_id=metadata.session_id or next(iter(transcript.session_ids), ""),
        agent=transcript.format,
        created_at=metadata.created_at or first,
        branch=redactor.redact(metadata.branch),
        files=_redacted_names(metadata.files, redactor),
        turns=tuple(_redacted_turn(turn, redactor) for turn in turns),
        taint=transcript.taint,
        tainted_by=transcript.tainted_by,
        workspace=transcript.workspace,
        workspaces=transcript.workspaces,
        automated=metadata.automated or transcript.automated,
        summary=_redacted_summary(metadata.summary, redactor),
        notes=tuple(notes),
    )


def _redacted_turn(turn: Turn, redactor: Redactor) -> Turn:
    text = redactor.redact(turn.text) if turn.text else ""
    about = redactor.redact(turn.about) if turn.about else ""
    if text == turn.text and about == turn.about:
        return turn
    return replace(turn, text=text, about=about)


def _redacted_summary(summary: Summary | None, redactor: Redactor) -> Summary | None:
    if summary is None:
        return None
    return Summary(
        intent=redactor.redact(summary.intent),
        outcome=redactor.redact(summary.outcome),
        learnings=tuple(map(redactor.redact, summary.learnings)),
        friction=tuple(map(redactor.redact, summary.friction)),
        open_items=tuple(map(redactor.redact, summary.open_items)),
    )


def _redacted_names(names: tuple[str, ...], redactor: Redactor) -> tuple[str, ...]:
    return tuple(map(redactor.redact, names))


def as_evidence(raw: history.RawCommit, reverts: tuple[CommitSha, ...], redactor: Redactor, *, trusted: bool) -> Commit:
    """A commit as an engine may see it: redacted, with whether its words count as the organisation's own."""
    subject, body = raw.message.redacted(redactor.redact)
    return Commit(
        sha=raw.sha,
        parents=raw.parents,
        author=raw.author,
        email=raw.email,
        at=raw.at,
        subject=subject,
        body=body,
        checkpoints=raw.message.checkpoints,
        reverts=reverts,
        files=_redacted_names(raw.files or (), redactor),
        trusted=trusted,
    )


def _commit_ids(git: Git, refs: Sequence[Ref]) -> AbstractSet[str]:
    tips = {ref.oid for ref in refs if not ref.name.startswith("refs/entire/") and not ref.name.endswith(f"/{BRANCH}")}
    asked = "".join(f"{oid}\n" for oid in sorted(tips)).encode()
    return frozenset(git.store("rev-list", "--stdin", "--ignore-missing", input=asked).decode().split())


def _about_repository(
    git: Git,
    reader: ObjectReader,
    default: DefaultBranch,
    stored: Stored,
    refs: Sequence[Ref],
    window: history.Window,
) -> list[str]:
    notes: list[str] = []
    if not default.tips:
        notes.append("The default branch has no commit yet.")
    elif default.how not in {"origin/HEAD", "config.yaml"}:
        notes.append(f"The default branch was taken from {default.how}.")
    if git.is_shallow():
        notes.append("This clone is shallow: older commits were not read; `git fetch --unshallow` brings them.")
    if window.left_out:
        notes.append(f"{window.left_out} older commits lie outside the seed window and were left out.")
    if not stored.folders and not any(ref.name.endswith(f"/{BRANCH}") or ref.name.startswith(REFS) for ref in refs):
        notes.append(
            "No checkpoints are stored here: there is neither a branch entire/checkpoints/v1 nor a ref below "
            "refs/entire/checkpoints/; `git fetch origin '+refs/entire/*:refs/entire/*'` brings refs a clone left out."
        )
    if default.tips and reader.read(f"{default.tips[0]}:.gitmodules") is not None:
        notes.append("Submodules are repositories of their own and were not read.")
    return notes + stored.notes
