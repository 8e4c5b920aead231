"""A plan out of what a model says about findings and pages: every finding in one action, or with a fate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reflect.configuration import Format
from reflect.folding import fold
from reflect.model import (
    Action,
    Fate,
    Finding,
    Operation,
    Origin,
    Outcome,
    PageSummary,
    Status,
    evidence_kind,
)
from reflect.triage.categories import KINDS, Categories
from reflect.triage.claude.checks import Checker, secret_in, shown
from reflect.triage.claude.evidence_blocks import between, harmless
from reflect.triage.claude.reflecting import BRANCH, unusable
from reflect.triage.claude.schemas import PlanAnswer, PlannedPage
from reflect.triage.extractive.known import already_on
from reflect.triage.extractive.places import Places
from reflect.triage.extractive.tags import tags_of
from reflect.triage.routing import PageIndex

FINDINGS_AT_ONCE = 100
PAGES_SHOWN = 20
"""A wiki of up to so many pages is listed whole; of a larger one the pages that any finding may be about."""

_CANDIDATES = 5
_REVIEW_PER_EVIDENCE = 2
_LEAD = 120
_LIVE = frozenset({Status.ACTIVE.value, Status.OPEN.value})
_FINISHED = re.compile(
    r"\b(?:done|fixed|finished|merged|shipped|closed?s?|resolved?s?|implement\w+|complet\w+|land(?:ed|s)|works now"
    r"|added|released|no longer (?:needed|open)|solved)\b",
    re.IGNORECASE,
)


@dataclass
class Draft:
    """A plan while it is made. `planned` are new pages of this run by path, as later questions are shown them."""

    pages: Sequence[PageSummary]
    format: Format
    places: Places
    actions: dict[str, Action] = field(default_factory=dict)
    fates: list[Fate] = field(default_factory=list)

    @property
    def live(self) -> list[PageSummary]:
        """The pages an action may name: those that stand, and those that this plan makes."""
        standing = [page for page in self.pages if page.status in _LIVE and not page.digest]
        return standing + [_as_page(action) for action in self._created]

    @property
    def created(self) -> int:
        return len(self._created)

    @property
    def _created(self) -> list[Action]:
        """The new pages that a page may rest on: what waits for an operator is shown to nobody."""
        made = (action for action in self.actions.values() if action.operation is Operation.CREATE)
        return [action for action in made if action.findings[0].origin is Origin.CLEAN]

    def settle(self, findings: Iterable[Finding], outcome: Outcome, reason: str) -> None:
        self.fates += [Fate(finding=finding, outcome=outcome, reason=reason) for finding in findings]

    def add(self, action: Action) -> None:
        """`action`, joined with one on the same page where there is one."""
        standing = self.actions.get(action.path)
        if standing is not None:
            findings = {each.id: each for each in (*standing.findings, *action.findings)}
            action = standing.model_copy(update={"findings": tuple(sorted(findings.values(), key=in_time))})
        self.actions[action.path] = action


@dataclass(frozen=True, slots=True)
class Question:
    """One part of the findings with the pages they may belong to."""

    findings: Mapping[str, Finding]
    pages: Mapping[str, PageSummary]
    categories: Sequence[str]
    in_repository: Callable[[str], bool]
    most_findings: int

    @property
    def content(self) -> str:
        listed = [_page_line(self.pages[path]) for path in sorted(self.pages)]
        said = [_finding_line(name, finding) for name, finding in self.findings.items()]
        return f"{between('pages', listed)}\n{between('findings', said)}\n"

    def faults(self, answer: PlanAnswer) -> dict[str, str]:
        """What is wrong with each action, and which findings the plan says nothing about."""
        found: dict[str, str] = {}
        taken = Counter(name for action in answer.actions for name in dict.fromkeys(action.findings))
        taken.update(dict.fromkeys((skip.finding for skip in answer.skipped), 1))
        for number, action in enumerate(answer.actions, start=1):
            if fault := self.fault_of(action, taken):
                found[f"action {number}"] = fault
        for number, skip in enumerate(answer.skipped, start=1):
            if skip.finding not in self.findings or not skip.reason.strip():
                found[f"skipped {number}"] = f"no finding {skip.finding!r} was sent, or no reason is given"
        if forgotten := [name for name in self.findings if name not in taken]:
            found["findings"] = f"the plan says nothing about {', '.join(forgotten[:20])}"
        return found

    def fault_of(self, action: PlannedPage, taken: Mapping[str, int]) -> str | None:
        unknown = [name for name in action.findings if name not in self.findings]
        if unknown or not action.findings:
            return f"no finding {unknown[0]!r} was sent" if unknown else "it names no finding"
        if twice := next((name for name in action.findings if taken[name] > 1), None):
            return f"{twice} is used more than once"
        if len(action.findings) > self.most_findings:
            return f"it puts {len(action.findings)} findings on one page, more than {self.most_findings}"
        if fault := self._target_fault(action):
            return fault
        findings = [self.findings[name] for name in action.findings]
        checker = Checker(self.in_repository, page=" ".join(p.title for p in self.pages.values()))
        names = [] if action.target else [action.title]
        for name in names:
            if fault := checker.fault_of_name(name, findings):
                return f"the title: {fault}"
        if not action.reason.strip() or secret_in(action.reason, self.content):
            return "it gives no reason that can be kept"
        return None

    def _target_fault(self, action: PlannedPage) -> str | None:
        if action.op == "create":
            if action.target:
                return "a new page has no target"
            return None if action.category in self.categories else f"{action.category!r} is no folder"
        if action.target not in self.pages:
            return f"there is no page {shown(action.target)}"
        said = " ".join(_told(self.findings[name]) for name in action.findings)
        if action.op == "resolve" and not _FINISHED.search(said):
            return "no finding says that it is finished"
        return None


def sorted_out(findings: Sequence[Finding], draft: Draft, categories: Categories) -> list[Finding]:
    """The findings a page may rest on. The others get their fate here, without a model being asked.

    A claim that no page may rest on goes to the operator's queue, the strongest few of each piece of evidence.
    """
    fresh: list[Finding] = []
    known = already_on((each.quote for each in findings), draft.pages)
    others: list[Finding] = []
    for finding in sorted({each.id: each for each in findings}.values(), key=in_time):
        if reason := unusable(finding):
            draft.settle([finding], Outcome.QUARANTINED, f"what the model made of it did not stand: {reason}")
        elif finding.quote in known:
            draft.settle([finding], Outcome.SKIPPED, f"already on {known[finding.quote]}")
        elif finding.origin is Origin.CLEAN:
            fresh.append(finding)
        else:
            others.append(finding)
    _queue(others, draft, categories)
    return fresh


def questions(findings: Sequence[Finding], most: int = FINDINGS_AT_ONCE) -> Iterator[dict[str, Finding]]:
    """The findings in time, numbered, in parts of `most`."""
    for start in range(0, len(findings), most):
        yield {f"f{number}": each for number, each in enumerate(findings[start : start + most], start=1)}


def pages_for(findings: Iterable[Finding], pages: Sequence[PageSummary]) -> dict[str, PageSummary]:
    """The pages to list: all of a small wiki, of a large one those that a finding may be about."""
    if len(pages) <= PAGES_SHOWN:
        return {page.path: page for page in pages}
    index = PageIndex(pages)
    hits = (hit for each in findings for hit in index.search(f"{each.headline} {each.quote}", _CANDIDATES))
    return {hit.page.path: hit.page for hit in hits}


def apply(answer: PlanAnswer, question: Question, faults: Mapping[str, str], draft: Draft, most_new: int) -> None:
    """What stands of `answer` into `draft`; the findings of what does not are quarantined with the reason."""
    left = dict(question.findings)
    for number, planned in enumerate(answer.actions, start=1):
        names = [name for name in dict.fromkeys(planned.findings) if name in left]
        findings = [left[name] for name in names]
        fault = faults.get(f"action {number}")
        if fault is not None:
            twice = Counter(name for action in answer.actions for name in dict.fromkeys(action.findings))
            names = [name for name in names if twice[name] == 1]
            draft.settle(
                [left.pop(name) for name in names], Outcome.QUARANTINED, f"the plan for it did not stand: {fault}"
            )
            continue
        for name in names:
            del left[name]
        if planned.op == "create" and draft.created >= most_new:
            draft.settle(findings, Outcome.PENDING, f"over the cap of {most_new} new pages in one run")
        elif findings:
            draft.add(_action(planned, findings, question, draft))
    for skip in answer.skipped:
        if skip.finding in left and skip.reason.strip():
            draft.settle([left.pop(skip.finding)], Outcome.SKIPPED, _reason(skip.reason, question))
    draft.settle(left.values(), Outcome.QUARANTINED, "the plan says nothing about it that stands")


def in_time(finding: Finding) -> tuple[object, ...]:
    return (finding.said_at, finding.evidence_id, finding.position, finding.sentence, finding.quote)


def folders(format: Format, pages: Sequence[PageSummary]) -> dict[str, str]:
    """Every folder a page may go to, with what it gathers."""
    known = Categories.of(format, (page.category for page in pages))
    seeds = format.categories
    told = {known.folder_of[kind]: kind.replace("-", " ") for kind in KINDS}
    told |= {folder: "" for folder in sorted({page.category for page in pages}) if folder not in told}
    told |= {folder: section.purpose or section.name for folder, section in seeds.items()}
    return {folder: told[folder] for folder in sorted(told)}


def _action(planned: PlannedPage, findings: Sequence[Finding], question: Question, draft: Draft) -> Action:
    ordered = tuple(sorted(findings, key=in_time))
    reason = _reason(planned.reason, question)
    if planned.op == "create":
        title = fold(planned.title)
        slug = draft.places.new(planned.category, title, ordered[0].id)
        return Action(
            operation=Operation.CREATE,
            category=planned.category,
            slug=slug,
            title=title,
            reason=reason,
            findings=ordered,
            tags=tags_of(ordered),
        )
    page = question.pages[planned.target]
    return Action(
        operation=Operation.RESOLVE if planned.op == "resolve" else Operation.UPDATE,
        category=page.category,
        slug=page.slug,
        title=page.title,
        reason=reason,
        findings=ordered,
        tags=page.tags,
    )


def _queue(findings: Sequence[Finding], draft: Draft, categories: Categories) -> None:
    taken: Counter[str] = Counter()
    for finding in sorted(findings, key=lambda each: (-each.score, *in_time(each))):
        if taken[finding.evidence_id] >= _REVIEW_PER_EVIDENCE:
            reason = "no page may rest on it, and stronger claims of its evidence are up for review already"
            draft.settle([finding], Outcome.SKIPPED, reason)
            continue
        taken[finding.evidence_id] += 1
        category = categories.place(finding.category, finding.quote)
        draft.add(
            Action(
                operation=Operation.CREATE,
                category=category,
                slug=draft.places.new(category, finding.headline, finding.id),
                title=finding.headline,
                reason=f"no person of the project said it; {finding.origin.value} words need an operator's word",
                findings=(finding,),
                tags=tags_of((finding,)),
            )
        )


def _reason(text: str, question: Question) -> str:
    line = fold(text)[:300]
    return "the plan's reason looked like a secret and was dropped" if secret_in(line, question.content) else line


def _told(finding: Finding) -> str:
    return " ".join((finding.headline, finding.quote, *finding.around, *finding.signals))


def _page_line(page: PageSummary) -> str:
    lead = fold(page.lead)[:_LEAD]
    return harmless(f"{page.path} | {page.status} | {fold(page.title)} | {lead}")


def _finding_line(name: str, finding: Finding) -> str:
    kind = evidence_kind(finding.evidence_id).value
    branch = next(
        (f" | on {signal.replace(BRANCH, 'branch ')}" for signal in finding.signals if signal.startswith(BRANCH)), ""
    )
    head = f"[{name} | {finding.said_at:%Y-%m-%d %H:%M} | {kind} | {finding.category}{branch}]"
    return harmless(f"{head} {fold(finding.headline)} — {fold(finding.quote)}")


def _as_page(action: Action) -> PageSummary:
    return PageSummary(
        path=action.path,
        category=action.category,
        slug=action.slug,
        title=action.title,
        lead=action.findings[0].quote,
        body="",
        status=Status.ACTIVE.value,
    )
