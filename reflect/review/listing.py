"""Which review items are meant, and how they are told to a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reflect.review.bench import Bench
from reflect.review.ids import whole_id
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
    items = {item.id: item for project in bench.projects for item in bench.ledger.queue(project)}
    found = dict.fromkeys(whole_id(items, name, "review item", "reflect review list --all") for name in names)
    return tuple(items[item_id] for item_id in found)


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
