"""What `format.yaml` should say instead, read off the wiki and the ledger, each proposal with its figures.

Nothing here is written: the format is the reader's own choice, and these are reasons to make it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from statistics import median

import yaml

from reflect.configuration import Format, FormatSection, category_slug
from reflect.evidence.inventory import take_inventory
from reflect.model import Value
from reflect.overview.visible import SeenPage, Visible, newest
from reflect.workspace import Workspace

ENOUGH_PAGES = 3
"""Fewer pages than this say nothing about a category."""

ENOUGH_EVIDENCE = 40
"""A section without a page is called unused only after this many sessions and commits."""

_MOST_BULLETS = 20
_LONGEST_RECENCY_DAYS = 365
_DEFAULT_RECENCY_DAYS = 30
_PARTS = 4
"""A recency is called too long where nothing in its section is older than this part of it."""


class Proposal(Value):
    """One change: to which section, empty for the format itself; the keys as they stand and as they should; and why.

    A section to add has nothing in `now`, one to drop nothing in `proposed`.
    """

    section: str
    now: dict[str, str | int]
    proposed: dict[str, str | int]
    why: str

    @property
    def is_drop(self) -> bool:
        return not self.proposed

    @property
    def is_addition(self) -> bool:
        return not self.now


class Improvements(Value):
    """The proposals, and `format.yaml` as it would read with all of them; empty text where there are none."""

    project: str
    pages: int
    proposals: tuple[Proposal, ...]
    format: str


def improve(workspace: Workspace) -> Improvements:
    """Proposals for the format of this wiki, from the pages that the project may see."""
    own = [page for page in Visible.of(workspace).pages if page.is_own]
    active = [page for page in own if page.is_active and not page.is_digest]
    evidence = len(take_inventory(workspace.git, workspace.default).contents)
    proposals = tuple(_proposals(workspace.format, active, own, evidence, newest(active) or date.min))
    return Improvements(
        project=workspace.project.project_id,
        pages=len(own),
        proposals=proposals,
        format=_written(workspace.format, proposals) if proposals else "",
    )


def _proposals(
    form: Format, active: Sequence[SeenPage], own: Sequence[SeenPage], evidence: int, last: date
) -> Iterator[Proposal]:
    by_category: dict[str, list[SeenPage]] = defaultdict(list)
    for page in active:
        by_category[page.category].append(page)
    for category, section in form.categories.items():
        pages = by_category.get(category, [])
        yield from _of_section(section, pages, last)
        if evidence >= ENOUGH_EVIDENCE and not any(page.category == category for page in own):
            why = f"{evidence} sessions and commits led to no page in `{category}/`"
            now: dict[str, str | int] = {"max_bullets": section.max_bullets, "recency": section.recency}
            yield Proposal(section=section.name, now=now, proposed={}, why=why)
    for category in sorted(by_category.keys() - form.categories.keys()):
        if len(by_category[category]) >= ENOUGH_PAGES and category_slug(_named(category)) == category:
            yield _new_section(category, by_category[category], last)
    yield from _longer_pages(form, active)


def _of_section(section: FormatSection, pages: Sequence[SeenPage], last: date) -> Iterator[Proposal]:
    if len(pages) < ENOUGH_PAGES:
        return
    recent = [days for page in pages if (days := _age(page, last)) <= section.recency_days]
    if len(recent) > section.max_bullets < _MOST_BULLETS:
        yield Proposal(
            section=section.name,
            now={"max_bullets": section.max_bullets},
            proposed={"max_bullets": min(len(recent), _MOST_BULLETS)},
            why=f"{len(recent)} of its {len(pages)} active pages are recent; a briefing shows {section.max_bullets}",
        )
    wanted = _recency(section, [_age(page, last) for page in pages])
    if wanted != section.recency_days:
        longer = wanted > section.recency_days
        older = len(pages) - len(recent)
        why = (
            f"{older} of its {len(pages)} active pages are older, and half of them were confirmed within {wanted} days"
            if longer
            else f"none of its {len(pages)} active pages is older than {wanted} days"
        )
        now: dict[str, str | int] = {"recency": section.recency}
        yield Proposal(section=section.name, now=now, proposed={"recency": f"{wanted}d"}, why=why)


def _recency(section: FormatSection, ages: Sequence[int]) -> int:
    """The days after which half of the pages would count as old, where more than half do now; a shorter time where
    nothing comes near it; else what stands."""
    if 2 * sum(age > section.recency_days for age in ages) > len(ages):
        return _whole_weeks(median(ages))
    oldest = max(ages)
    comes_near = not oldest or _PARTS * oldest >= section.recency_days  # one day alone says nothing of how long
    return section.recency_days if comes_near else _whole_weeks(2 * oldest)


def _whole_weeks(days: float) -> int:
    return max(7, min(_LONGEST_RECENCY_DAYS, -(-int(days) // 7) * 7))


def _new_section(category: str, pages: Sequence[SeenPage], last: date) -> Proposal:
    ages = [_age(page, last) for page in pages]
    return Proposal(
        section=_named(category),
        now={},
        proposed={
            "max_bullets": min(max(len(pages), 5), _MOST_BULLETS),
            "recency": f"{max(_DEFAULT_RECENCY_DAYS, _whole_weeks(max(ages)))}d",
        },
        why=f"sessions filled `{category}/` with {len(pages)} active pages that no section asks for",
    )


def _named(category: str) -> str:
    return category.replace("-", " ").capitalize()


def _longer_pages(form: Format, active: Sequence[SeenPage]) -> Iterator[Proposal]:
    long = [page for page in active if page.lines > form.max_lines]
    if len(long) >= ENOUGH_PAGES:
        longest = max(long, key=lambda page: page.lines)
        yield Proposal(
            section="",
            now={"max_lines": form.max_lines},
            proposed={"max_lines": -(-longest.lines // 50) * 50},
            why=f"{len(long)} active pages are longer, {longest.path} has {longest.lines} lines",
        )


def _age(page: SeenPage, last: date) -> int:
    """Days from the page's newest evidence to the wiki's; 0 for a page without a date, whose age nobody knows."""
    return 0 if page.updated is None else max(0, (last - page.updated).days)


def _written(form: Format, proposals: Iterable[Proposal]) -> str:
    """`format.yaml` with every proposal taken."""
    sections: dict[str, dict[str, object]] = {section.name: _section(section) for section in form.sections}
    whole: dict[str, object] = {"citations": form.citations, "max_lines": form.max_lines}
    for proposal in proposals:
        if proposal.is_drop:
            del sections[proposal.section]
        elif proposal.section:
            blank: dict[str, object] = {"name": proposal.section, "purpose": ""}
            sections.setdefault(proposal.section, blank).update(proposal.proposed)
        else:
            whole |= proposal.proposed
    said = {"sections": list(sections.values()), **whole}
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=120)


def _section(section: FormatSection) -> dict[str, object]:
    said = section.model_dump()
    return {key: list(value) if key == "entry_fields" else value for key, value in said.items() if value != ()}
