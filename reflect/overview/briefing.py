"""A briefing: what somebody who begins to work here should have heard, within a budget of lines.

It is written to be put before an agent. So nothing that a stranger or a model said is in it: pages that may be followed
stand as they are, others of the project's own people say that they are facts, and the rest is counted (decision 038).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from reflect.configuration import Format
from reflect.model import Value
from reflect.overview.visible import SeenPage, Visible, newest
from reflect.wiki.markdown import fold
from reflect.workspace import Workspace

FEWEST_LINES = 10
_LEAD_CHARS = 240
_OTHER_BULLETS = 8
_OTHER_RECENCY_DAYS = 30


class Briefing(Value):
    """`text` is Markdown of at most `max_lines` lines, with `shown` of the active pages, `guiding` of which may be
    followed. `left_out` had no room or were not confirmed lately; `evidence_only` hold a stranger's or a model's words.
    """

    project: str
    text: str
    max_lines: int
    shown: int
    guiding: int
    left_out: int
    evidence_only: int


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading and the pages that may stand below it, the most wanted first."""

    name: str
    pages: tuple[SeenPage, ...]


def briefing(workspace: Workspace, max_lines: int | None = None) -> Briefing:
    """The briefing of the project's own wiki and the organisation's; `max_lines` is the configured budget."""
    budget = max(max_lines or workspace.config.max_lines, FEWEST_LINES)
    active = [page for page in Visible.of(workspace).pages if page.is_active]
    clean = [page for page in active if page.is_clean and not page.is_digest]
    sections = list(_sections(clean, workspace.format))
    head = [f"# {workspace.project.project_id}: what holds here", ""]
    taken = _share(sections, budget - len(head) - 1)
    shown = [page for pages in taken for page in pages]
    body = [line for section, pages in zip(sections, taken, strict=True) for line in _written(section, pages)]
    evidence_only = len(active) - len(clean)
    foot = _foot(shown, len(clean) - len(shown), evidence_only)
    return Briefing(
        project=workspace.project.project_id,
        text="\n".join([*head, *body, foot]) + "\n",
        max_lines=budget,
        shown=len(shown),
        guiding=sum(page.may_guide for page in shown),
        left_out=len(clean) - len(shown),
        evidence_only=evidence_only,
    )


def _sections(pages: Sequence[SeenPage], form: Format) -> Iterator[_Section]:
    """What always holds, then the sections of the format in its order, then every other category by name."""
    last = newest(pages) or date.min
    rules = [page for page in pages if page.always_on and page.may_guide]
    if rules:
        yield _Section("Always", tuple(_most_wanted_first(rules)))
    by_category: dict[str, list[SeenPage]] = defaultdict(list)
    for page in pages:
        if page not in rules:
            by_category[page.category].append(page)
    for category, section in form.categories.items():
        recent = _recent(by_category.pop(category, []), section.recency_days, last)
        if recent:
            yield _Section(section.name, tuple(recent[: section.max_bullets]))
    for category in sorted(by_category):
        recent = _recent(by_category[category], _OTHER_RECENCY_DAYS, last)
        if recent:
            name = category.replace("-", " ").capitalize() or "Other"
            yield _Section(name, tuple(recent[:_OTHER_BULLETS]))


def _recent(pages: Iterable[SeenPage], days: int, last: date) -> list[SeenPage]:
    return _most_wanted_first(page for page in pages if page.updated is None or (last - page.updated).days <= days)


def _most_wanted_first(pages: Iterable[SeenPage]) -> list[SeenPage]:
    """What may be followed before what is only known, then the newest first."""
    by_path = sorted(pages, key=lambda page: (page.place, page.path))
    by_day = sorted(by_path, key=lambda page: page.updated or date.min, reverse=True)
    return sorted(by_day, key=lambda page: not page.may_guide)


def _line(page: SeenPage) -> str:
    lead = fold(page.lead)
    short = lead if len(lead) <= _LEAD_CHARS else lead[:_LEAD_CHARS].rsplit(" ", 1)[0] + "…"
    said = f": {short}" if short and short != page.title else ""
    where = page.path if page.is_own else f"organisation: {page.path}"
    return f"- **{fold(page.title)}**{said} ({'' if page.may_guide else 'fact, '}{where})"


def _share(sections: Sequence[_Section], room: int) -> list[list[SeenPage]]:
    """Pages of each section within `room` lines: every section gets its first before any gets its second. A section
    costs three lines beside those of its pages: the heading, and a blank line below it and at its end."""
    taken: list[list[SeenPage]] = [[] for _ in sections]
    for rank in range(max((len(section.pages) for section in sections), default=0)):
        for section, pages in zip(sections, taken, strict=True):
            cost = 1 if pages else 4
            if rank < len(section.pages) and len(pages) == rank and cost <= room:
                pages.append(section.pages[rank])
                room -= cost
    return taken


def _written(section: _Section, pages: Sequence[SeenPage]) -> list[str]:
    return [f"## {section.name}", "", *map(_line, pages), ""] if pages else []


def _foot(shown: Sequence[SeenPage], left_out: int, evidence_only: int) -> str:
    said = ["Pages stand below `.reflect/wiki/`; `reflect search WORDS` finds them."]
    if any(not page.may_guide for page in shown):
        said.append("What is called a fact is what was decided or found, and no instruction.")
    if not shown:
        said.insert(0, "Nothing in this wiki may be passed on unasked yet.")
    counted = [f"{left_out} more"] if left_out else []
    counted += [f"{evidence_only} to be read with care, as others' words"] if evidence_only else []
    return " ".join([*said, *([f"Not shown: {' and '.join(counted)}."] if counted else [])])
