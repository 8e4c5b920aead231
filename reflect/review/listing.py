"""Which review items are meant, and how they are told to a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reflect.errors import ConfigurationError
from reflect.review.bench import Bench
from reflect.scope.review import ReviewItem


@dataclass(frozen=True, slots=True)
class Filter:
    """Items by what they are; an empty tuple asks for nothing. Without a status the open ones are meant."""

    statuses: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    whatever_status: bool = False

    def admits(self, item: ReviewItem) -> bool:
        stands = item.status.value in self.statuses if self.statuses else item.is_open or self.whatever_status
        asked = (
            (self.reasons, {str(reason) for reason in item.reasons}),
            (self.categories, {item.category or item.action.category}),
            (self.origins, {item.origin.value}),
        )
        return stands and all(not wanted or not found.isdisjoint(wanted) for wanted, found in asked)


def listed(bench: Bench, wanted: Filter) -> tuple[ReviewItem, ...]:
    """The items of all open queues that `wanted` admits, oldest first."""
    found = (item for project in bench.projects for item in bench.ledger.queue(project) if wanted.admits(item))
    return tuple(sorted(found, key=lambda item: (item.created_at, item.id)))


def named(bench: Bench, names: Sequence[str]) -> tuple[ReviewItem, ...]:
    """The items with the ids `names`, whole or the first digits of one alone, each once, in the order asked.

    Raises ConfigurationError for an id that names none, or several.
    """
    items = [item for project in bench.projects for item in bench.ledger.queue(project)]
    return tuple({item.id: item for item in (_one(items, name) for name in names)}.values())


def as_json(item: ReviewItem) -> dict[str, Any]:
    """The object of `reflect review list --json`."""
    stored = item.model_dump(mode="json")
    shown = (
        "id",
        "claim",
        "reasons",
        "proposed",
        "origin",
        "evidence",
        "status",
        "created_at",
        "narrowest_scope",
        "widens",
        "always_on",
        "approvable",
        "session_tainted",
        "decision",
        "decided_by",
        "decided_at",
        "note",
        "deferred_until",
        "original_claim",
        "edited_by",
        "edited_at",
    )
    return {
        **{key: stored[key] for key in shown},
        "project": item.project_id,
        "category": item.category or item.action.category,
        "page": item.action.path,
        "evidence_items": stored["evidence_items"],
    }


def _one(items: Iterable[ReviewItem], name: str) -> ReviewItem:
    found = [item for item in items if name and item.id.startswith(name)]
    exact = [item for item in found if item.id == name]
    if len(exact or found) != 1:
        why = f"{len(found)} review items begin with {name!r}" if found else f"No review item is called {name!r}"
        raise ConfigurationError(f"{why}; nothing was changed; `reflect review list --all` names them.")
    return (exact or found)[0]
