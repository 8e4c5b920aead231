"""What exists in a repository, listed without reading what anyone said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflect.evidence.checkpoints import read_stored
from reflect.evidence.git import DefaultBranch, Git
from reflect.model import CommitSha, EvidenceId, commit_evidence


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every checkpoint id, and the content hash of every session folder and of every commit of the default branch."""

    checkpoints: frozenset[str]
    contents: Mapping[EvidenceId, str]


def take_inventory(git: Git, default: DefaultBranch) -> Inventory:
    """List both checkpoint backends and the default branch's history."""
    refs = git.refs()
    with git.objects() as reader:
        stored = read_stored(reader, git, refs)
    contents = {identity: folder.content for identity, folder in stored.folders.items()}
    asked = "".join(f"{tip}\n" for tip in default.tips).encode()
    shas = git.store("rev-list", "--stdin", "--ignore-missing", input=asked).decode().split() if default.tips else []
    contents |= {commit_evidence(CommitSha(sha)): sha for sha in shas}
    return Inventory(frozenset(stored.checkpoints), contents)
