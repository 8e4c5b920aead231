"""What closes open work: a later statement that names the same things and says that they are done."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from reflect.model import Finding, PageSummary
from reflect.triage.extractive.digests import DONE_SINCE, Entry, entries_of
from reflect.triage.extractive.names import names_in
from reflect.triage.routing import PageIndex
from reflect.triage.words import terms

_TITLE_SHARE = 0.75
_CLAIM_SHARE = 0.6
_SUBJECT_SHARE = 0.8
_FEWEST_SHARED = 2
_FEWEST_OF_CLAUSE = 3
_CLAUSE_END = re.compile(r"[,;(]\s|\s[-—–]+\s|\.\s")
_ABOUT_DOING = frozenset(
    terms(
        "add implement wire fix support complete validate verify test todo finish work open issue later missing absent "
        "pending outstanding remaining ready merge ship land close resolve thanks great good nice perfect ok finally"
    )
)
"""What to do is said before and after, that it is missing before and that it is there after, mostly with thanks; only
what it is done to tells one piece of work from another."""


def resolved_by(completions: Sequence[Finding], still_open: Sequence[PageSummary]) -> dict[str, str]:
    """The completions, by id, that finish one of the pages `still_open`, with its path.

    A page is finished by a statement that is not older than the page and names nearly all of its title, a name in code
    among it where the title has one. In doubt a page stays open.
    """
    index = PageIndex(sorted(still_open, key=lambda page: page.path))
    found: dict[str, str] = {}
    for finding in completions:
        said = " ".join([finding.quote, *finding.around])
        for hit in index.search(said):
            page = hit.page
            title = set(terms(page.title)) - _ABOUT_DOING
            names = {name.casefold() for name in names_in(page.title)}
            in_time = page.updated is None or finding.said_at.date() >= page.updated
            share = len(title & set(terms(said))) / len(title) if title else 0.0
            named = not names or bool(names & {name.casefold() for name in names_in(said)})
            if in_time and named and share >= _TITLE_SHARE and len(title) >= _FEWEST_SHARED:
                found[finding.id] = page.path
                break
    return found


def finished_in(claims: Sequence[Finding], completions: Sequence[Finding]) -> dict[str, str]:
    """The open items among `claims`, by id, that a later completion speaks of, with the evidence that does."""
    done = [(finding, _said(finding)) for finding in completions]
    found: dict[str, str] = {}
    for claim in claims:
        if claim.category != "open-work":
            continue
        for finding, said in done:
            later = (finding.said_at, finding.position) > (claim.said_at, claim.position)
            if later and _speaks_of(said, claim.quote, finding.quote):
                found[claim.id] = finding.evidence_id
    return found


def entries_closed(completions: Sequence[Finding], digests: Sequence[PageSummary]) -> dict[str, str]:
    """The completions, by id, that finish an entry still open on one of the open-work `digests`, with its path.

    An entry is finished by a statement of its month or later that speaks of most of it; one that another statement
    closed already stays closed by that one.
    """
    still_open = [(page.path, entry) for page in digests for entry in _open_entries(page)]
    found: dict[str, str] = {}
    for finding in sorted(completions, key=lambda each: (each.said_at, each.evidence_id, each.position)):
        said = _said(finding)
        month = finding.said_at.strftime("%Y-%m")
        closes = [
            (path, entry)
            for path, entry in still_open
            if entry.heading <= month and _speaks_of(said, entry.text, finding.quote)
        ]
        if closes:
            found[finding.id] = closes[0][0]
            still_open = [each for each in still_open if each not in closes]
    return found


def _open_entries(page: PageSummary) -> list[Entry]:
    """The entries of a digest that nothing below its closing heading speaks of."""
    entries = entries_of(page)
    closed = [(set(terms(entry.text)), entry.text) for entry in entries if entry.heading == DONE_SINCE]
    return [
        entry
        for entry in entries
        if entry.heading != DONE_SINCE and not any(_speaks_of(said, entry.text, text) for said, text in closed)
    ]


def _said(finding: Finding) -> set[str]:
    return set(terms(" ".join([finding.quote, *finding.around])))


def _speaks_of(said: Set[str], claim: str, subject: str = "") -> bool:
    """Whether what was `said` names most of what `claim` wants done, or most of its first clause.

    A `subject` of enough words that the claim holds nearly whole speaks of it too.
    """
    wanted = set(terms(claim)) - _ABOUT_DOING
    if _names_most(said, wanted, _FEWEST_SHARED, _CLAIM_SHARE):
        return True
    first_clause = set(terms(_CLAUSE_END.split(claim, maxsplit=1)[0])) - _ABOUT_DOING
    if len(first_clause) >= _FEWEST_OF_CLAUSE and _names_most(said, first_clause, _FEWEST_OF_CLAUSE, _CLAIM_SHARE):
        return True
    named = set(terms(subject)) - _ABOUT_DOING
    return len(named) >= _FEWEST_OF_CLAUSE and _names_most(wanted, named, _FEWEST_OF_CLAUSE, _SUBJECT_SHARE)


def _names_most(said: Set[str], wanted: Set[str], fewest: int, share: float) -> bool:
    shared = wanted & said
    return len(shared) >= max(1, min(fewest, len(wanted))) and len(shared) >= share * len(wanted)
