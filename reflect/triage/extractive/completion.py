"""What closes open work: a later statement that names the same things and says that they are done."""

from __future__ import annotations

from collections.abc import Sequence

from reflect.model import Finding, PageSummary
from reflect.triage.extractive.names import names_in
from reflect.triage.routing import PageIndex
from reflect.triage.words import terms

_TITLE_SHARE = 0.75
_CLAIM_SHARE = 0.6
_FEWEST_SHARED = 2
_ABOUT_DOING = frozenset(
    terms("add implement wire fix support complete validate verify test todo finish work open issue later")
)
"""What to do is said before and after; only what it is done to tells one piece of work from another."""


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
    done = [(finding, set(terms(" ".join([finding.quote, *finding.around])))) for finding in completions]
    found: dict[str, str] = {}
    for claim in claims:
        if claim.category != "open-work":
            continue
        wanted = set(terms(claim.quote)) - _ABOUT_DOING
        for finding, said in done:
            later = (finding.said_at, finding.position) > (claim.said_at, claim.position)
            shared = wanted & said
            if later and len(shared) >= min(_FEWEST_SHARED, len(wanted)) and len(shared) >= _CLAIM_SHARE * len(wanted):
                found[claim.id] = finding.evidence_id
    return found
