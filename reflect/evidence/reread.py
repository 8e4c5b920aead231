"""Evidence read again: the words of what is cited, to look for what is said to stand there."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from reflect.errors import EvidenceError
from reflect.evidence import commits as history
from reflect.evidence.checkpoints import Stored, StoredFolder, read_stored
from reflect.evidence.folders import new_folders
from reflect.evidence.git import Git
from reflect.evidence.objects import ObjectReader
from reflect.evidence.redaction import Redactor
from reflect.evidence.transcripts.reader import read_transcript
from reflect.model import CommitSha


def words_of(
    git: Git, checkpoints: AbstractSet[str], commits: AbstractSet[str], redactor: Redactor
) -> Iterator[tuple[str, str | None]]:
    """The words of each of `commits` (full ids) and of every session of `checkpoints`, redacted, by commit or session.

    One session is in memory at a time. None stands for one that cannot be read: nothing is known of what it says.
    """
    for raw in history.read_commits(git, [CommitSha(sha) for sha in sorted(commits)]):
        yield raw.sha, f"{redactor.redact(raw.message.subject)}\n{redactor.redact(raw.message.body)}"
    if checkpoints:
        with git.objects() as reader:
            stored = read_stored(reader, git, git.refs())
            for folder, words in _session_words(git, reader, stored, checkpoints, redactor):
                yield folder.id, words


def _session_words(
    git: Git, reader: ObjectReader, stored: Stored, wanted: AbstractSet[str], redactor: Redactor
) -> Iterator[tuple[StoredFolder, str | None]]:
    folders = {identity: folder for identity, folder in stored.folders.items() if folder.checkpoint in wanted}
    for folder in new_folders(git, reader, folders, {}):
        chunks = [] if folder.problem else list(reader.read_all(folder.stored.chunks))
        whole = [chunk for chunk in chunks if chunk is not None]
        if not whole or len(whole) < len(chunks):
            yield folder.stored, None
            continue
        try:
            turns = read_transcript(whole, start_hint=folder.metadata.transcript_start).turns
        except EvidenceError:
            yield folder.stored, None
            continue
        summary = folder.metadata.summary
        said = [text for turn in turns for text in (turn.text, turn.about) if text]
        if summary is not None:
            said += [summary.intent, summary.outcome, *summary.learnings, *summary.friction, *summary.open_items]
        yield folder.stored, "\n".join(map(redactor.redact, said))
