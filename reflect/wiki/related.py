"""Which pages belong together: those that rest on the same sources. Computed, so that no link points nowhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reflect.model import Action, Operation, Source, SourceKind, Status
from reflect.wiki.paths import canonical_key
from reflect.wiki.store import WikiState

MOST = 4
"""Related pages that are proposed for one page; those a person listed are kept beyond it."""

ENOUGH = 2
"""Shared sources from which pages are related. Below it only the closest page is."""

_SAME_COMMIT_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Every page of the wiki and of a run's plan, by what it rests on.

    `paths` are all that a link may point to; `candidates` those worth proposing: active, and no digest.
    """

    paths: frozenset[str]
    candidates: Mapping[str, frozenset[str]]
    holders: Mapping[str, frozenset[str]]
    keys: Mapping[str, str]

    @classmethod
    def of(cls, state: WikiState, actions: Sequence[Action] = ()) -> Neighbours:
        """From the wiki as it is and the actions about to be written."""
        found: dict[str, set[str]] = {}
        for page in state.pages:
            if page.status in (Status.ACTIVE, Status.OPEN) and not page.digest:
                found[page.path] = {_key(source) for source in page.sources}
        for action in actions:
            if action.operation is Operation.RESOLVE:
                found.pop(action.path, None)
            elif not action.digest:
                found.setdefault(action.path, set()).update(_key(Source.of(one)) for one in action.evidence_ids)
        holders: dict[str, set[str]] = defaultdict(set)
        for path, keys in found.items():
            for key in keys:
                holders[key].add(path)
        planned = frozenset(action.path for action in actions)
        return cls(
            paths=state.paths | planned | {page.path for page in state.archived},
            candidates={path: frozenset(keys) for path, keys in found.items()},
            holders={key: frozenset(paths) for key, paths in holders.items()},
            keys={canonical_key(path): path for path in sorted(state.paths, reverse=True)},
        )

    def twin(self, path: str) -> str | None:
        """The existing page that `path` is another spelling of; None where there is none, or it is `path` itself."""
        existing = self.keys.get(canonical_key(path))
        return existing if existing != path else None

    def related(self, path: str, sources: Iterable[Source]) -> tuple[str, ...]:
        """The pages that share most with a page at `path` resting on `sources`, closest first."""
        own = {_key(source) for source in sources}
        shared = Counter(other for key in sorted(own) for other in self.holders.get(key, ()))
        shared.pop(path, None)
        closest = sorted(shared, key=lambda other: (-shared[other], len(self.candidates[other]), other))
        strong = [other for other in closest if shared[other] >= ENOUGH]
        return tuple(strong[:MOST] or closest[:1])


def _key(source: Source) -> str:
    wide = source.kind is SourceKind.CHECKPOINT
    return f"{source.kind} {source.id if wide else source.id[:_SAME_COMMIT_DIGITS]}"
