"""From findings to a plan: each ends in exactly one action or has a fate with its reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reflect.configuration import Format
from reflect.model import SHORT, Action, Fate, Finding, Operation, Origin, Outcome, PageSummary, Plan
from reflect.triage.categories import Categories
from reflect.triage.extractive.completion import entries_closed, finished_in, resolved_by
from reflect.triage.extractive.digests import DigestLimits, close_entries, plan_digests
from reflect.triage.extractive.headlines import shortened
from reflect.triage.extractive.history import REVERTED, UNDONE
from reflect.triage.extractive.homes import Homes
from reflect.triage.extractive.known import already_on
from reflect.triage.extractive.newest import replaced_on
from reflect.triage.extractive.places import Places
from reflect.triage.extractive.reasons import why_new, why_review
from reflect.triage.extractive.sessions import COMPLETED
from reflect.triage.extractive.tags import tags_of
from reflect.triage.extractive.topics import Topic, title_of, topics_of
from reflect.triage.extractive.weights import Weights
from reflect.triage.words import folded

_LIVE = frozenset({"active", "open"})
_MOST_MORE = 3
_OLD = 60


@dataclass
class _Draft:
    """A plan while it is made."""

    weights: Weights
    pages: Sequence[PageSummary]
    categories: Categories
    places: Places
    homes: Homes
    actions: list[Action] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)

    def skip(self, finding: Finding, reason: str) -> None:
        self.fates.append(Fate(finding=finding, outcome=Outcome.SKIPPED, reason=reason))


def make_plan(
    weights: Weights,
    findings: Sequence[Finding],
    pages: Sequence[PageSummary],
    format: Format,
    max_new_pages: int,
) -> Plan:
    """The plan for `findings` on a wiki that holds `pages`.

    Updates come before new pages, of which there are at most `max_new_pages`; what is over it waits. Findings that no
    page may rest on get actions of their own, for the operator's queue.
    """
    live = [page for page in pages if page.status in _LIVE and not page.digest]
    draft = _Draft(
        weights=weights,
        pages=pages,
        categories=Categories.of(format, (page.category for page in pages)),
        places=Places(page.path for page in pages),
        homes=Homes(weights, live),
    )
    fresh = _without_repetition(draft, sorted(set_of(findings), key=_in_time))
    claims, completions, undone = _split(fresh)
    resolved, closed = _resolve(draft, completions)
    worth = _worth_a_look(draft, claims, completions)
    clean = [each for each in worth if each.origin is Origin.CLEAN]
    named = _named_by_a_revert(draft, undone, clean)
    notes = _plan_topics(draft, clean, named, resolved, max_new_pages)
    _plan_digests(draft, notes, closed)
    _plan_review(draft, [each for each in worth if each.origin is not Origin.CLEAN])
    return Plan(
        actions=tuple(sorted(draft.actions, key=lambda action: (action.path, action.id))),
        fates=tuple(sorted(draft.fates, key=lambda fate: (_in_time(fate.finding), fate.finding.id))),
    )


def set_of(findings: Iterable[Finding]) -> list[Finding]:
    """`findings` without the second of two equal ones."""
    return list({finding.id: finding for finding in findings}.values())


def _in_time(finding: Finding) -> tuple[object, ...]:
    return (finding.said_at, finding.evidence_id, finding.position, finding.quote)


def _split(findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding], list[Finding]]:
    """The claims, the statements that something is finished, and those that only name what was taken back."""
    claims: list[Finding] = []
    completions: list[Finding] = []
    undone: list[Finding] = []
    for finding in findings:
        if _taken_back_by(finding):
            undone.append(finding)
        else:
            (completions if COMPLETED in finding.signals else claims).append(finding)
    return claims, completions, undone


def _taken_back_by(finding: Finding) -> str:
    """The first digits of the commit that took back what `finding` names; empty for any other finding."""
    marks = (signal.removeprefix(UNDONE) for signal in finding.signals if signal.startswith(UNDONE))
    return next(marks, "")


def _named_by_a_revert(draft: _Draft, undone: Iterable[Finding], claims: Iterable[Finding]) -> dict[str, list[Finding]]:
    """What each revert, by its first digits, took back. One that teaches nothing needs no name for it."""
    teaching = {each.evidence_id[:SHORT] for each in claims}
    named: dict[str, list[Finding]] = defaultdict(list)
    for finding in undone:
        if finding.origin is Origin.CLEAN and _taken_back_by(finding) in teaching:
            named[_taken_back_by(finding)].append(finding)
        else:
            draft.skip(finding, "names what was reverted, and no lesson of the revert is left")
    return named


def _without_repetition(draft: _Draft, findings: Sequence[Finding]) -> list[Finding]:
    """`findings` whose words stand neither on a page nor in a stronger or newer finding, which takes their evidence."""
    known = already_on((each.quote for each in findings if COMPLETED not in each.signals), draft.pages)
    same: dict[tuple[str, Origin, bool], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.quote in known and not _taken_back_by(finding):
            draft.skip(finding, f"already on {known[finding.quote]}")
        else:
            same[folded(finding.quote), finding.origin, COMPLETED in finding.signals].append(finding)
    kept: list[Finding] = []
    for group in same.values():
        speaks_for_all = max(group, key=lambda each: (len(_says_too(each, group)), _in_time(each)))
        for finding in group:
            if finding is not speaks_for_all:
                draft.skip(finding, f"said again in the same words in {speaks_for_all.evidence_id}")
        kept.append(_with_support(speaks_for_all, group) if len(group) > 1 else speaks_for_all)
    return sorted(kept, key=_in_time)


def _says_too(finding: Finding, others: Iterable[Finding]) -> list[Finding]:
    """Those of `others` in which the quote of `finding` stands as it is: spelling and marks included."""
    return [each for each in others if each is not finding and finding.quote in each.quote]


def _with_support(finding: Finding, group: Sequence[Finding]) -> Finding:
    """`finding` as new and as strong as any that said the same, with the evidence in which its very words stand."""
    evidence = [each for other in _says_too(finding, group) for each in other.evidence_ids]
    others = dict.fromkeys(each for each in [*finding.corroborated_by, *evidence] if each != finding.evidence_id)
    return finding.model_copy(
        update={
            "corroborated_by": tuple(others),
            "score": max(each.score for each in group),
            "said_at": max(each.said_at for each in group),
        }
    )


def _worth_a_look(draft: _Draft, claims: Sequence[Finding], completions: Sequence[Finding]) -> list[Finding]:
    """The `claims` above the noise that are neither undone nor done."""
    finished = finished_in(claims, completions)
    worth: list[Finding] = []
    for finding in claims:
        reverted = next((signal for signal in finding.signals if signal.startswith(REVERTED)), None)
        if finding.score < draft.weights.floor:
            draft.skip(finding, f"below the noise floor ({finding.score:.2f} of {draft.weights.floor:.2f})")
        elif reverted is not None:
            draft.skip(finding, f"its commit was reverted by {reverted.removeprefix(REVERTED)}")
        elif finding.id in finished:
            draft.skip(finding, f"finished in {finished[finding.id]}")
        else:
            worth.append(finding)
    return worth


def _resolve(
    draft: _Draft, completions: Sequence[Finding]
) -> tuple[dict[str, list[Finding]], dict[str, list[Finding]]]:
    """The open pages that `completions` finish, and the digests with entries that they finish, by path.

    Each comes with the statements that say so; the other completions are done with.
    """
    open_folder = draft.categories.folder_of["open-work"]
    clean = [each for each in completions if each.origin is Origin.CLEAN]
    still_open = [page for page in draft.homes.pages if page.category == open_folder or page.status == "open"]
    of_pages = resolved_by(clean, still_open)
    digests = [page for page in draft.pages if page.digest and page.category == open_folder and page.status in _LIVE]
    of_entries = entries_closed([each for each in clean if each.id not in of_pages], digests)
    resolved: dict[str, list[Finding]] = defaultdict(list)
    closed: dict[str, list[Finding]] = defaultdict(list)
    for finding in completions:
        if finding.id in of_pages:
            resolved[of_pages[finding.id]].append(finding)
        elif finding.id in of_entries:
            closed[of_entries[finding.id]].append(finding)
        else:
            draft.skip(finding, "holds no lesson, and nothing it finishes is open on a page")
    return resolved, closed


def _plan_topics(
    draft: _Draft,
    findings: Sequence[Finding],
    named: Mapping[str, Sequence[Finding]],
    resolved: dict[str, list[Finding]],
    max_new_pages: int,
) -> dict[str, list[Finding]]:
    """Add updates and new pages to the plan; what is left over for the digests, by category."""
    updates: dict[str, list[Topic]] = defaultdict(list)
    new: list[Topic] = []
    notes: dict[str, list[Finding]] = defaultdict(list)
    left = dict(named)
    for topic in topics_of(findings, draft.weights.same_topic):
        strength = _strength(draft.weights, topic)
        page = draft.homes.of(topic)
        reverts = dict.fromkeys(each.evidence_id[:SHORT] for each in topic.findings)
        topic.findings += [each for revert in reverts for each in left.pop(revert, ())]
        if page is not None and strength >= draft.weights.update:
            updates[page.path].append(topic)
        elif strength >= draft.weights.publish:
            new.append(topic)
        else:
            for finding in topic.findings:
                notes[draft.categories.place(finding.category, finding.quote)].append(finding)
    _add_updates(draft, updates, resolved)
    _add_new(draft, new, max_new_pages)
    return notes


def _plan_digests(
    draft: _Draft, notes: Mapping[str, Sequence[Finding]], closed: Mapping[str, Sequence[Finding]]
) -> None:
    limits = DigestLimits(draft.weights.digest_entries, draft.weights.digest_entries_per_run)
    actions, waiting = plan_digests(notes, draft.pages, limits)
    draft.actions += close_entries(actions, closed)
    draft.fates += waiting


def _strength(weights: Weights, topic: Topic) -> float:
    more = min(_MOST_MORE, sum(1 for finding in topic.findings[1:] if finding.score >= weights.floor))
    return (
        max(finding.score for finding in topic.findings)
        + weights.each_more * more
        + (weights.independent if len(topic.sources) > 1 else 0.0)
    )


def _add_updates(draft: _Draft, updates: dict[str, list[Topic]], resolved: dict[str, list[Finding]]) -> None:
    pages = {page.path: page for page in draft.homes.pages}
    for path in sorted({*updates, *resolved}):
        page = pages[path]
        said = [finding for topic in updates.get(path, []) for finding in topic.findings]
        done = resolved.get(path, [])
        reason = f"says that it is finished: {done[-1].headline}" if done else _why_update(page, said)
        draft.actions.append(
            Action(
                operation=Operation.RESOLVE if done else Operation.UPDATE,
                category=page.category,
                slug=page.slug,
                title=page.title,
                reason=reason,
                findings=(*done, *said),
                tags=page.tags,
            )
        )


def _why_update(page: PageSummary, said: Sequence[Finding]) -> str:
    replaced = [(each, old) for each in said if (old := replaced_on(page, each)) is not None]
    if replaced:
        newest, old = replaced[0]
        return f"replaces what the page says ({shortened(old, _OLD)}): {newest.headline}"
    return f"belongs on it: {said[0].headline}"


def _add_new(draft: _Draft, topics: Sequence[Topic], most: int) -> None:
    for topic in topics[:most]:
        category = draft.categories.place(topic.lead.category, " ".join(each.quote for each in topic.findings))
        draft.actions.append(_create(draft, category, topic.findings, why_new(draft.weights, topic.findings)))
    for topic in topics[most:]:
        draft.fates += [
            Fate(finding=each, outcome=Outcome.PENDING, reason=f"over the cap of {most} new pages in one run")
            for each in topic.findings
        ]


def _create(draft: _Draft, category: str, findings: Sequence[Finding], reason: str) -> Action:
    lead, title = findings[0], title_of(findings)
    return Action(
        operation=Operation.CREATE,
        category=category,
        slug=draft.places.new(category, title, lead.id),
        title=title,
        reason=reason,
        findings=tuple(findings),
        tags=tags_of(findings),
    )


def _plan_review(draft: _Draft, findings: Sequence[Finding]) -> None:
    """Claims no page may rest on: the strongest few of each piece of evidence, each alone, for the operator's queue.

    The others are skipped, not quarantined: nothing is wrong with them, and a queue that nobody can read protects
    nobody. They are found again should the evidence be read anew.
    """
    taken: Counter[str] = Counter()
    for finding in sorted(findings, key=lambda each: (-each.score, *_in_time(each))):
        if finding.score < draft.weights.review:
            draft.skip(
                finding, f"no page may rest on it, and it is too weak for the review queue ({finding.score:.2f})"
            )
        elif taken[finding.evidence_id] >= draft.weights.review_per_evidence:
            draft.skip(finding, "no page may rest on it, and stronger claims of its evidence are up for review already")
        else:
            taken[finding.evidence_id] += 1
            category = draft.categories.place(finding.category, finding.quote)
            draft.actions.append(_create(draft, category, [finding], why_review(draft.weights, finding)))
