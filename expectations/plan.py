"""Expectations on a plan: one row per action, each with a verdict of its own.

Two suites run one after the other, because a row gives way only to a row that is good itself: first what holds of an
action alone, then what holds between the actions that are left.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import MappingProxyType

from expectations.evidence import EvidenceWords, shown
from expectations.names import category_fault, category_twin, page_fault
from expectations.suite import Breach, Rule, no_fault, run_suite
from reflect.model import Action, Fate, Operation, Outcome, PageSummary, Plan, Source
from reflect.wiki.fields import same_source
from reflect.wiki.paths import canonical_key

MOST_ACTIONS = 2_000
"""More actions than this in one run are a fault of the plan, not knowledge."""

ACTION_RULES = (
    Rule(
        "known_operation",
        "expect_column_values_to_be_in_set",
        {"column": "operation", "value_set": [operation.value for operation in Operation]},
        "{operation!r} is none of create, update and resolve",
        "The wiki knows how to create, update and resolve a page; nothing else can be carried out.",
    ),
    no_fault("safe_path", "path_fault", "Category and slug name a file below the wiki on every system, in any script."),
    no_fault(
        "category_names_a_subject", "category_fault", "Times, check marks and folders qmd hides are no categories."
    ),
    no_fault(
        "category_without_twin", "category_twin", "A category has one spelling; case and separators do not count."
    ),
    no_fault("page_without_twin", "page_twin", "A page has one name; case, separators and Unicode forms do not count."),
    Rule(
        "target_fits_operation",
        "expect_column_pair_values_to_be_in_set",
        {
            "column_A": "operation",
            "column_B": "target",
            "value_pairs_set": [("create", "absent"), ("update", "readable"), ("resolve", "readable")],
        },
        "{path} is {target}, so it cannot be the target of {operation!r}",
        "A page is created where there is none; it is updated or resolved where one stands that can be read.",
    ),
    Rule(
        "title_present",
        "expect_column_values_to_match_regex",
        {"column": "title", "regex": r"\w"},
        "{path} has no title",
        "A page without a title cannot be found in the index.",
    ),
    Rule(
        "reason_present",
        "expect_column_values_to_match_regex",
        {"column": "reason", "regex": r"\w"},
        "the action on {path} gives no reason",
        "Every change says why it is made; the log repeats it.",
    ),
    Rule(
        "evidence_present",
        "expect_column_values_to_be_between",
        {"column": "evidence_count", "min_value": 1},
        "the action on {path} names no evidence",
        "Nothing is written that no session or commit carries.",
    ),
    no_fault("evidence_collected", "unknown_evidence", "Evidence was collected in this run or stands on the page."),
    no_fault("quotes_verbatim", "missing_quote", "A quote stands word for word in its evidence, white space folded."),
    Rule(
        "digest_flag_agrees",
        "expect_column_pair_values_to_be_equal",
        {"column_A": "digest", "column_B": "digest_page"},
        "{path} is called a digest in one place and a page of its own in another",
        "Digests hold what is under the publishing bar; a page of its own must not be taken for one, nor the reverse.",
    ),
)
"""What holds of every action by itself."""

PLAN_RULES = (
    Rule(
        "one_action_per_page",
        "expect_column_values_to_be_in_set",
        {"column": "turn", "value_set": [1]},
        "{path} has an action earlier in the plan",
        "Two actions on one page would overwrite each other; the one the plan names first stands.",
    ),
    no_fault("one_spelling_per_category", "spelled", "Two new categories that differ in spelling alone are one."),
    Rule(
        "row_count_sane",
        "expect_column_values_to_be_between",
        {"column": "place", "min_value": 1, "max_value": MOST_ACTIONS},
        "it is action {place} of the plan, beyond the number that one run may make",
        "A plan of thousands of actions is a fault; what is beyond the bound waits for the next run.",
    ),
    Rule(
        "no_page_dropped",
        "expect_column_pair_values_a_to_be_greater_than_b",
        {"column_A": "pages_after", "column_B": "pages_before", "or_equal": True},
        "the action on {path} would leave {pages_after} pages where there are {pages_before}",
        "A plan adds to the wiki; the pages after it are at least the pages before it.",
    ),
)
"""What holds between the actions that are good by themselves."""

_DIGEST = re.compile(r"digest(?:-\d+)?")
_WAITS = MappingProxyType({"one_action_per_page": Outcome.PENDING, "row_count_sane": Outcome.PENDING})
"""Rules whose breach is no fault of the action: its findings wait for the next run."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """An action that was taken out of a plan. `outcome` is what becomes of its findings."""

    action: Action
    expectation: str
    reason: str
    outcome: Outcome = Outcome.QUARANTINED


@dataclass(frozen=True, slots=True)
class PlanVerdict:
    """The plan without its bad rows. In `accepted` the findings of every quarantined action have a fate.

    `empty` says that there was no action to check: neither passed nor failed.
    """

    accepted: Plan
    quarantined: tuple[Quarantined, ...] = ()
    empty: bool = False


def check_plan(
    plan: Plan,
    pages: Sequence[PageSummary],
    evidence_texts: Mapping[str, str],
    categories: AbstractSet[str],
    *,
    unreadable: AbstractSet[str] = frozenset(),
    most_actions: int = MOST_ACTIONS,
) -> PlanVerdict:
    """Check every action of `plan` against the wiki's `pages` and the evidence that was collected.

    `evidence_texts` are the texts by evidence id, `categories` those that the format seeds, `unreadable` the paths of
    pages that exist and do not parse. A bad action is quarantined under the first expectation it breaks and never
    takes a good one down; of two actions on one page the first in the plan stands, because a plan is in the order of
    what matters. Raises PlanError where a suite gives no verdict.
    """
    if not plan.actions:
        return PlanVerdict(plan, empty=True)
    wiki = _Wiki.of(pages, categories, unreadable)
    words = EvidenceWords(evidence_texts)
    rows = [_action_row(action, wiki, words) for action in plan.actions]
    left, bad = _parted(plan.actions, run_suite("actions", ACTION_RULES, rows))
    if left:
        rules = [_bounded(rule, most_actions) for rule in PLAN_RULES]
        left, clashing = _parted(left, run_suite("plan", rules, _plan_rows(left, wiki)))
        bad += clashing
    order = {id(action): place for place, action in enumerate(plan.actions)}
    quarantined = tuple(sorted(bad, key=lambda one: order[id(one.action)]))
    fates = [
        Fate(finding=finding, outcome=one.outcome, reason=f"{one.expectation}: {one.reason}")
        for one in quarantined
        for finding in one.action.findings
    ]
    return PlanVerdict(Plan(actions=tuple(left), fates=(*plan.fates, *fates)), quarantined)


@dataclass(frozen=True, slots=True)
class _Wiki:
    """The wiki before the plan, by path and by what twins share."""

    pages: Mapping[str, PageSummary]
    unreadable: AbstractSet[str]
    categories: AbstractSet[str]
    by_key: Mapping[str, str]

    @classmethod
    def of(cls, pages: Sequence[PageSummary], categories: AbstractSet[str], unreadable: AbstractSet[str]) -> _Wiki:
        by_path = {page.path: page for page in pages}
        paths = sorted({*by_path, *unreadable})
        return cls(
            pages=by_path,
            unreadable=unreadable,
            categories=categories | {path.rpartition("/")[0] for path in paths},
            by_key={canonical_key(path): path for path in reversed(paths)},
        )

    def target(self, path: str) -> str:
        if path in self.unreadable:
            return "unreadable"
        return "readable" if path in self.pages else "absent"


def _action_row(action: Action, wiki: _Wiki, words: EvidenceWords) -> dict[str, object]:
    target = wiki.target(action.path)
    page = wiki.pages.get(action.path)
    new = target == "absent"
    return {
        "operation": str(action.operation),
        "path": action.path,
        "target": target,
        "path_fault": page_fault(action.category, action.slug) if new else None,
        "category_fault": category_fault(action.category, wiki.categories) if new else None,
        "category_twin": _category_twin(action.category, wiki) if new else None,
        "page_twin": _page_twin(action.path, wiki) if new else None,
        "title": action.title,
        "reason": action.reason,
        "evidence_count": len(action.evidence_ids),
        "unknown_evidence": _unknown_evidence(action, page, words),
        "missing_quote": _missing_quote(action, page, words),
        "digest": action.digest,
        "digest_page": _DIGEST.fullmatch(action.slug) is not None if page is None else page.digest,
    }


def _category_twin(category: str, wiki: _Wiki) -> str | None:
    twin = category_twin(category, wiki.categories)
    return twin and f"the category {category!r} is another spelling of {twin!r}"


def _page_twin(path: str, wiki: _Wiki) -> str | None:
    twin = wiki.by_key.get(canonical_key(path))
    return twin and f"{path} is another spelling of the page {twin}"


def _unknown_evidence(action: Action, page: PageSummary | None, words: EvidenceWords) -> str | None:
    unknown = [e for e in action.evidence_ids if e not in words and not _stands_on(page, e)]
    return f"{', '.join(unknown)} was not collected in this run" if unknown else None


def _stands_on(page: PageSummary | None, evidence: str) -> bool:
    return page is not None and any(same_source(Source.of(evidence), source) for source in page.sources)


def _missing_quote(action: Action, page: PageSummary | None, words: EvidenceWords) -> str | None:
    for finding in action.findings:
        if not finding.quote.strip():
            return f"a finding from {finding.evidence_id} has no quote"
        standing = finding.evidence_id not in words and page is not None and _says(page, finding.quote)
        if not (standing or words.say(finding.evidence_id, finding.quote)):
            return f"{shown(finding.quote)} does not stand in {finding.evidence_id}"
    return None


def _says(page: PageSummary, quote: str) -> bool:
    return EvidenceWords({page.path: page.body}).say(page.path, quote)


def _plan_rows(actions: Sequence[Action], wiki: _Wiki) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    turns: Counter[str] = Counter()
    spellings: dict[str, str] = {}
    paths = set(wiki.pages) | wiki.unreadable
    for place, action in enumerate(actions, start=1):
        page = action.path if action.path in wiki.pages else canonical_key(action.path)
        turns[page] += 1
        spelling = spellings.setdefault(canonical_key(action.category), action.category)
        clash = spelling != action.category and action.category not in wiki.categories
        rows.append(
            {
                "place": place,
                "path": action.path,
                "turn": turns[page],
                "spelled": f"the category {action.category!r} is another spelling of {spelling!r}" if clash else None,
                "pages_before": len(paths),
                "pages_after": len(paths | {action.path}),
            }
        )
    return rows


def _bounded(rule: Rule, most_actions: int) -> Rule:
    if rule.name != "row_count_sane":
        return rule
    return replace(rule, kwargs={**rule.kwargs, "max_value": most_actions})


def _parted(actions: Sequence[Action], breaches: Sequence[Breach]) -> tuple[list[Action], list[Quarantined]]:
    """The actions without a breach, and the others under the first expectation that each breaks."""
    first: dict[int, Breach] = {}
    for breach in breaches:
        first.setdefault(breach.row, breach)
    left = [action for row, action in enumerate(actions) if row not in first]
    bad = [
        Quarantined(actions[row], one.rule, one.reason, _WAITS.get(one.rule, Outcome.QUARANTINED))
        for row, one in first.items()
    ]
    return left, bad
