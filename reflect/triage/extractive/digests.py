"""One page per category for statements that earn no page of their own, in volumes that never grow without bound."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reflect.model import Action, Fate, Finding, Operation, Outcome, PageSummary
from reflect.triage.extractive.places import DIGEST
from reflect.triage.extractive.tags import tags_of

_CITED = re.compile(r"\((?:checkpoint|commit) [0-9A-Za-z]+")
_MOST_TAGS = 4
_VOLUME = re.compile(rf"{DIGEST}(?:-(\d+))?")


DONE_SINCE = "Done since"
"""The heading below which a digest quotes what finished its entries; the entries themselves stay as they were said."""

_ENTRY = re.compile(r"^ {0,3}>[ \t]?(?P<text>.*?)[ \t]*\((?:checkpoint|commit) [^()]*\)[ \t]*$")
_HEADING = re.compile(r"^##\s+(?P<heading>.+?)\s*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """One quoted statement of a digest and the heading it stands below: a month, or `DONE_SINCE`."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class DigestLimits:
    """`per_page`: entries of one volume; `per_run`: entries of one category that one run may add."""

    per_page: int
    per_run: int


def plan_digests(
    findings: Mapping[str, Sequence[Finding]], pages: Sequence[PageSummary], limits: DigestLimits
) -> tuple[list[Action], list[Fate]]:
    """Where the `findings` of each category go: the newest volume with room, then new ones. The weakest wait."""
    volumes = _volumes(pages)
    actions: list[Action] = []
    fates: list[Fate] = []
    for category in sorted(findings):
        strongest = sorted(
            findings[category], key=lambda each: (-each.score, each.said_at, each.evidence_id, each.position)
        )
        taken, waiting = strongest[: limits.per_run], strongest[limits.per_run :]
        fates += [
            Fate(
                finding=each,
                outcome=Outcome.PENDING,
                reason=f"over {limits.per_run} digest entries of {category} in one run",
            )
            for each in waiting
        ]
        in_order = sorted(taken, key=lambda each: (each.said_at, each.evidence_id, each.position, each.quote))
        actions += _fill(category, in_order, volumes.get(category, {}), pages, limits.per_page)
    return actions, fates


def entries(page: PageSummary) -> int:
    """How many entries a digest page holds: one line each, with a citation."""
    return sum(1 for line in page.body.splitlines() if _CITED.search(line))


def entries_of(page: PageSummary) -> list[Entry]:
    """The entries of a digest page in the order they stand there."""
    found: list[Entry] = []
    heading = ""
    for line in page.body.splitlines():
        if match := _HEADING.match(line):
            heading = match.group("heading")
        elif entry := _ENTRY.match(line):
            found.append(Entry(heading, entry.group("text").replace("\\", "")))
    return found


def close_entries(actions: Iterable[Action], done: Mapping[str, Sequence[Finding]]) -> list[Action]:
    """`actions` on digests with the statements that finish entries of them, by path, added to those digests."""
    left = dict(done)
    merged = [
        action.model_copy(
            update={"findings": (*action.findings, *closing), "reason": f"{action.reason}; {_closes(closing)}"}
        )
        if (closing := left.pop(action.path, None))
        else action
        for action in actions
    ]
    return merged + [_closing_action(path, left[path]) for path in sorted(left)]


def _closing_action(path: str, closing: Sequence[Finding]) -> Action:
    category, _, name = path.partition("/")
    slug = name.removesuffix(".md")
    return _digest_action(category, slug, closing, reason=_closes(closing), exists=True)


def _closes(closing: Sequence[Finding]) -> str:
    return f"says that open work on it is finished: {closing[-1].headline}"


def _volumes(pages: Sequence[PageSummary]) -> dict[str, dict[int, PageSummary]]:
    found: dict[str, dict[int, PageSummary]] = defaultdict(dict)
    for page in pages:
        match = _VOLUME.fullmatch(page.slug)
        if match is not None and page.digest and page.status == "active":
            found[page.category][int(match.group(1) or 1)] = page
    return found


def _fill(
    category: str,
    findings: Sequence[Finding],
    volumes: Mapping[int, PageSummary],
    pages: Sequence[PageSummary],
    most: int,
) -> Iterator[Action]:
    left = list(findings)
    used = {
        int(match.group(1) or 1)
        for page in pages
        if page.category == category
        if (match := _VOLUME.fullmatch(page.slug.casefold())) is not None
    }
    number = max(volumes, default=0)
    while left:
        page = volumes.get(number)
        room = most - entries(page) if page is not None else most
        if number == 0 or (page is None and number in used) or room <= 0:
            number += 1
            continue
        yield _action(category, number, left[:room], exists=page is not None)
        left = left[room:]
        number += 1


def _action(category: str, number: int, findings: Sequence[Finding], *, exists: bool) -> Action:
    many = "1 statement that earns" if len(findings) == 1 else f"{len(findings)} statements that earn"
    slug = DIGEST if number == 1 else f"{DIGEST}-{number}"
    return _digest_action(
        category,
        slug,
        findings,
        reason=f"{many} no page of {'its' if len(findings) == 1 else 'their'} own",
        exists=exists,
    )


def _digest_action(category: str, slug: str, findings: Sequence[Finding], *, reason: str, exists: bool) -> Action:
    name = category.replace("-", " ").capitalize()
    volume = slug.removeprefix(DIGEST).strip("-")
    return Action(
        operation=Operation.UPDATE if exists else Operation.CREATE,
        category=category,
        slug=slug,
        title=f"{name} digest {volume}".rstrip(),
        reason=reason,
        findings=tuple(findings),
        digest=True,
        tags=(DIGEST, *tags_of(findings)[: _MOST_TAGS - 1]),
    )
