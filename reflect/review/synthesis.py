"""Lessons that recur in several projects of an organisation: proposed to its operator, and nothing else.

Only what each project accepted counts: a lesson that may teach there and whose words stand on one of its pages. What is
proposed belongs to the organisation's own queue, which no project reads; no report of a project mentions it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from reflect.configuration import slugify
from reflect.model import Action, Finding, Operation, PageSummary, ReflectionKind, Source, Speaker
from reflect.review.bench import Bench
from reflect.scope.projects import Project, Registry
from reflect.scope.recurring import recurring_item
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem, ReviewStatus, normalised_claim
from reflect.scope.visibility import Candidate, exclusion
from reflect.scope.vocabulary import ORGANISATION, Scope
from reflect.triage.extractive.newest import contradicts
from reflect.triage.words import folded, terms
from reflect.wiki.passages import Standing

SHARED = 0.6
"""Of the topical words of the longer of two claims: what both must have for them to be one lesson."""

FEWEST_SHARED = 3
"""Words that two differently worded claims must share at least; shorter ones have to be the same words."""

_TURNS = frozenset(
    "always never not no none nothing nobody everybody everyone only without instead rather avoid stop unless except "
    "before after until cannot".split()
)
"""With every contraction: two claims that differ in one of these are two lessons, however alike they look."""

_MOVED_ON = frozenset({ReviewStatus.SUPERSEDED, ReviewStatus.EXPIRED_EVIDENCE})


@dataclass(frozen=True, slots=True)
class ProjectSource:
    """What one project knows: its records and the pages of its wiki."""

    project: Project
    rows: Sequence[Reflexion]
    pages: Sequence[PageSummary]


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What came of looking at every project: the new questions, how many lessons were accepted, and what was not read.

    `unread` are projects whose repository is not on this machine: what they accepted could not be told.
    """

    proposed: tuple[ReviewItem, ...]
    lessons: int
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A finding and the topical words of its quote."""

    finding: Finding
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Lesson(_Claim):
    """An accepted lesson, of the category of the page it stands on, with its record and its project."""

    row: Reflexion
    project_id: str


def synthesise(
    sources: Sequence[ProjectSource],
    known: Iterable[ReviewItem],
    registry: Registry,
    standing: Sequence[PageSummary] = (),
) -> tuple[ReviewItem, ...]:
    """Questions about the lessons that two or more of `sources` accepted; the same, whatever the order of everything.

    `known` are the organisation's own questions: what was asked, whatever was answered, is not asked again in other
    words or on more evidence. `standing` are the pages of the organisation's wiki: what they say is no question.
    """
    return _questions(_accepted(sources), known, registry, standing)


def _questions(
    lessons: Sequence[_Lesson], known: Iterable[ReviewItem], registry: Registry, standing: Sequence[PageSummary]
) -> tuple[ReviewItem, ...]:
    asked = [claim for item in known if item.status not in _MOVED_ON for claim in _asked(item)]
    said = [Standing(page.body) for page in standing]
    items = []
    for group in _groups(lessons):
        lead = group[0].finding
        if len({lesson.project_id for lesson in group}) < 2 or any(page.has(lead.quote) for page in said):
            continue
        if any(_same(lesson, old) for lesson in group for old in asked):
            continue
        item = recurring_item(_action(group), [lesson.row for lesson in group], registry)
        if item is not None:
            items.append(item)
    return tuple(sorted(items, key=lambda item: (item.created_at, item.id)))


def propose_recurring(bench: Bench) -> Synthesis:
    """Look at every project of an organisation's bench and put what recurs into the organisation's own queue."""
    sources, unread = [], []
    for project in bench.registry.projects:
        wiki = bench.wiki(project.project_id)
        if wiki is None:
            unread.append(project.project_id)
        else:
            sources.append(ProjectSource(project, bench.ledger.reflexions(project.project_id), wiki.pages))
    own = bench.wiki(ORGANISATION)
    lessons = _accepted(sources)
    standing = own.pages if own is not None else ()
    items = _questions(lessons, bench.ledger.queue(ORGANISATION), bench.registry, standing)
    new = set(bench.ledger.propose(ORGANISATION, items))
    return Synthesis(tuple(item for item in items if item.id in new), len(lessons), tuple(sorted(unread)))


def _accepted(sources: Iterable[ProjectSource]) -> tuple[_Lesson, ...]:
    """The lessons that each project may learn from and has on a page of its own, each once, oldest first."""
    found = {(lesson.project_id, lesson.row.id): lesson for lesson in _learned(sources)}
    return tuple(sorted(found.values(), key=_age))


def _learned(sources: Iterable[ProjectSource]) -> Iterator[_Lesson]:
    for source in sources:
        pages = _pages_by_source(source)
        for row in source.rows:
            if not _is_own_lesson(row, source.project):
                continue
            cited = dict.fromkeys(page for name in row.evidence_ids for page in pages[str(Source.of(name))])
            page = next((page for page in cited if page.says(row.intervention)), None)
            if page is not None:
                finding = _finding(row, page.category)
                yield _Lesson(finding, _topical(finding), row, source.project.project_id)


def _topical(finding: Finding) -> frozenset[str]:
    return frozenset(terms(finding.quote))


@dataclass(frozen=True, eq=False)
class _Page:
    category: str
    standing: Standing

    def says(self, text: str) -> bool:
        return bool(text.strip()) and self.standing.has(text)


def _pages_by_source(source: ProjectSource) -> defaultdict[str, list[_Page]]:
    found: defaultdict[str, list[_Page]] = defaultdict(list)
    for summary in sorted(source.pages, key=lambda page: page.path):
        if exclusion(Candidate.of_keys(summary.scope_keys), source.project) is None:
            page = _Page(summary.category, Standing(summary.body))
            for one in summary.sources:
                found[str(one)].append(page)
    return found


def _is_own_lesson(row: Reflexion, project: Project) -> bool:
    scope = row.stored_scope
    candidate = Candidate.of(scope, row.memory_type, learnable=row.learnable)
    own = scope.scope is Scope.PROJECT and bool(row.evidence_ids) and bool(row.intervention.strip())
    return own and exclusion(candidate, project, as_rule=True) is None


def _finding(row: Reflexion, category: str) -> Finding:
    return Finding(
        quote=row.intervention,
        headline=row.reflexion_text,
        category=category,
        kind=row.reflection_kind or ReflectionKind.EPISODE_LESSON,
        evidence_id=row.evidence_ids[0],
        position=0,
        speaker=Speaker.PERSON,
        said_at=_instant(row.created_at),
        score=0.0,
        signals=(),
        origin=row.effective_origin,
        evidence=row.evidence,
        session_tainted=row.session_tainted,
        always_on=row.always_on,
        trigger=row.trigger,
        corroborated_by=row.evidence_ids[1:],
    )


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return datetime(1970, 1, 1, tzinfo=UTC)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _age(lesson: _Lesson) -> tuple[datetime, str, str]:
    return lesson.finding.said_at, lesson.project_id, lesson.row.id


def _groups(lessons: Sequence[_Lesson]) -> list[list[_Lesson]]:
    """Lessons that say the same as the first of their group; nothing is joined by way of a third."""
    groups: list[list[_Lesson]] = []
    by_word: dict[str, list[int]] = defaultdict(list)
    by_claim: dict[str, int] = {}
    for lesson in lessons:
        claim = normalised_claim(lesson.finding.quote)
        home = by_claim.get(claim)
        if home is None:
            shared = Counter(number for word in lesson.words for number in by_word[word])
            near = sorted(shared, key=lambda number: (-shared[number], number))
            home = next((number for number in near if _same(lesson, groups[number][0])), None)
        if home is None:
            home = by_claim[claim] = len(groups)
            groups.append([])
            for word in lesson.words:
                by_word[word].append(home)
        groups[home].append(lesson)
    return groups


def _same(one: _Claim, other: _Claim) -> bool:
    said, also = one.finding, other.finding
    if normalised_claim(said.quote) == normalised_claim(also.quote):
        return True
    shared = len(one.words & other.words)
    alike = shared >= FEWEST_SHARED and shared >= SHARED * max(len(one.words), len(other.words))
    turned = _turning(said.quote) != _turning(also.quote)
    return alike and not turned and not contradicts(said, also) and not contradicts(also, said)


def _turning(claim: str) -> frozenset[str]:
    """The words of `claim` that turn its meaning: yes and no, numbers, and everything in a script we cannot judge."""
    words = folded(claim).removeprefix("no ").split()
    return frozenset(word for word in words if word in _TURNS or not word.isascii() or not word.isalpha())


def _asked(item: ReviewItem) -> Iterator[_Claim]:
    """Its claims as they were planned, and as it reads now."""
    reworded = (finding.model_copy(update={"quote": item.claim}) for finding in item.action.findings[:1])
    yield from (_Claim(finding, _topical(finding)) for finding in (*item.action.findings, *reworded))


def _action(group: Sequence[_Lesson]) -> Action:
    """A plan for one page with one wording: the oldest; of the other projects the evidence is cited, not the words."""
    lead = group[0].finding
    cited = dict.fromkeys(name for lesson in group for name in lesson.row.evidence_ids if name != lead.evidence_id)
    projects = sorted({lesson.project_id for lesson in group})
    return Action(
        operation=Operation.CREATE,
        category=lead.category,
        slug=slugify(lead.headline),
        title=lead.headline,
        reason=f"{len(projects)} projects learned it: {', '.join(projects)}",
        findings=(lead.model_copy(update={"corroborated_by": tuple(cited)}),),
    )
