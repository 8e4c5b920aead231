"""What the repository's git says to the checks: which sources exist, and what those that pages quote really say."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reflect.errors import RepositoryError
from reflect.evidence.git import DefaultBranch, Git
from reflect.evidence.inventory import Inventory, take_inventory
from reflect.model import EvidenceKind, Source, SourceKind, evidence_kind

_ABBREVIATED = 6


@dataclass(frozen=True)
class Sources:
    """Which checkpoints and commits exist, and which commits the default branch's history holds.

    `shallow` says that older commits may exist elsewhere: what is not found then is not known to be missing.
    """

    git: Git
    inventory: Inventory
    shallow: bool

    @classmethod
    def of(cls, git: Git, default: DefaultBranch) -> Sources:
        return cls(git, take_inventory(git, default), git.is_shallow())

    @cached_property
    def commits(self) -> Sequence[str]:
        """The full ids of the default branch's commits, sorted."""
        return sorted(one for one in self.inventory.contents if evidence_kind(one) is EvidenceKind.COMMIT)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Every id that exists: none of them is a secret."""
        return self.inventory.checkpoints | frozenset(self.commits)

    @cached_property
    def _by_checkpoint(self) -> Mapping[str, Sequence[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for evidence, content in self.inventory.contents.items():
            if evidence_kind(evidence) is EvidenceKind.SESSION:
                found[evidence.split("/")[0]].append(content)
        return found

    def stored(self, checkpoint: str) -> Sequence[str]:
        """The content hashes of the sessions stored under `checkpoint`."""
        return self._by_checkpoint.get(checkpoint, ())

    def commit(self, written: str) -> str | None:
        """The commit of the default branch that `written` abbreviates; None for none."""
        at = bisect_left(self.commits, written)
        found = self.commits[at] if at < len(self.commits) else ""
        return found if found.startswith(written) and len(written) >= _ABBREVIATED else None

    def reachable(self, source: Source) -> bool:
        """Whether a reader of the default branch finds `source`."""
        if source.kind is SourceKind.CHECKPOINT:
            return source.id in self.inventory.checkpoints
        return self.commit(source.id) is not None

    def exist_elsewhere(self, commits: Iterable[str]) -> Mapping[str, bool]:
        """Whether each abbreviated commit is in the object store at all."""
        asked = sorted(set(commits))
        if not asked:
            return {}
        names = "".join(f"{one}^{{commit}}\n" for one in asked).encode()
        try:
            answers = self.git.store("cat-file", "--batch-check", input=names).decode().splitlines()
        except RepositoryError:
            return dict.fromkeys(asked, False)
        return {one: " commit " in answer for one, answer in zip(asked, answers, strict=True)}
