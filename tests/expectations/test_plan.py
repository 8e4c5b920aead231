"""A plan's bad rows are quarantined, each with its reason, and take no good row down."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from expectations.plan import ACTION_RULES, PLAN_RULES, PlanVerdict, check_plan
from reflect.model import (
    Action,
    EvidenceMode,
    Finding,
    Operation,
    Origin,
    Outcome,
    PageSummary,
    Plan,
    ReflectionKind,
    Source,
    SourceKind,
    Speaker,
)

SESSION, COMMIT = "4ecb34b81a12/0", "993631c0abcd" + "0" * 28
TEXTS = {SESSION: "We agreed:\n  use  SQLite\tfor the ledger.", COMMIT: "Drop the cache, it hid stale rows"}
CATEGORIES = frozenset({"decisions", "gotchas", "open-work"})
GOOD = "decisions/sqlite.md"


def finding(quote: str = "use SQLite for the ledger", evidence: str = SESSION, **values: Any) -> Finding:
    return Finding(
        quote=quote,
        headline="SQLite",
        category="decisions",
        kind=ReflectionKind.CORRECTIVE,
        evidence_id=evidence,
        position=3,
        speaker=Speaker.PERSON,
        said_at=datetime(2026, 3, 2, tzinfo=UTC),
        score=4.0,
        signals=("because",),
        origin=Origin.CLEAN,
        evidence=EvidenceMode.FULL,
        **values,
    )


def action(path: str, **values: Any) -> Action:
    category, _, slug = path.removesuffix(".md").partition("/")
    given = {
        "operation": Operation.CREATE,
        "category": category,
        "slug": slug,
        "title": "A title",
        "reason": "a person said so",
        "findings": (finding(),),
        **values,
    }
    return Action.model_construct(**{"digest": False, "tags": (), **given})


def page(path: str, **values: Any) -> PageSummary:
    category, _, name = path.rpartition("/")
    given = {"title": "T", "lead": "L", "body": "# T\n", "status": "active", **values}
    return PageSummary(path=path, category=category, slug=name.removesuffix(".md"), **given)


def check(*actions: Action, pages: Sequence[PageSummary] = (), **values: Any) -> PlanVerdict:
    return check_plan(Plan(actions=actions), pages, TEXTS, CATEGORIES, **values)


def broken(verdict: PlanVerdict) -> dict[str, str]:
    return {one.action.path: one.expectation for one in verdict.quarantined}


GOOD_PATHS = [
    GOOD,
    "決定/日本語の規則.md",
    "قرارات/قاعدة-الحفظ.md",
    "निर्णय/हिन्दी-नियम.md",
    "x-1a2b3c4d/rocket.md",
    "open-work/http-404.md",
    "v2-api/2026-04-07.md",
    "decisions/next.js-routing.md",
]

BAD_PATHS = {
    "hazard-26-drive": ("decisions", "C:\\x"),
    "hazard-26-absolute": ("", "etc/passwd"),
    "hazard-26-absolute-slug": ("decisions", "/etc/passwd"),
    "hazard-26-empty-part": ("a", "/b"),
    "hazard-26-git-hooks": (".git", "hooks/x"),
    "hazard-26-backslash": ("decisions", "..\\x"),
    "hazard-27-traversal": ("../../.github", "x"),
    "hazard-27-traversal-slug": ("decisions", "../../x"),
    "hazard-27-dots": ("..", "x"),
    "hazard-27-dot": (".", "x"),
    "nested": ("a/b", "c"),
    "archive": ("_archive", "x"),
    "staging": ("decisions", "_draft"),
    "hidden": ("decisions", ".hidden"),
    "index": ("decisions", "INDEX"),
    "log": ("log", "x"),
    "windows-device": ("decisions", "con"),
    "windows-device-with-ending": ("decisions", "Aux.v2"),
    "windows-device-folder": ("com1", "x"),
    "trailing-dot": ("decisions.", "x"),
    "empty-slug": ("decisions", ""),
    "blank-slug": ("decisions", "\u3000"),
    "white-space": ("decisions", "two words"),
    "line-feed": ("decisions", "two\nlines"),
    "nul": ("decisions", "a\0b"),
    "right-to-left-override": ("decisions", "a\u202eb"),
    "invisible": ("decisions", "a\u200bb"),
    "surrogate": ("decisions", "a\ud800b"),
    "decomposed": ("decisions", "cafe\u0301"),
    "option": ("decisions", "-rf"),
    "wildcard": ("decisions", "a*"),
    "link-syntax": ("decisions", "a](b"),
    "too-long": ("decisions", "x" * 300),
    "hazard-73-time": ("12-01", "x"),
    "hazard-73-time-of-day": ("24-33-098", "x"),
    "hazard-73-check-mark": ("x", "note"),
    "hazard-73-date": ("2026-04-07", "x"),
    "hazard-73-time-with-zone": ("12-01-pm", "x"),
    "hazard-73-underscores": ("12_01", "x"),
    "not-searched-build": ("build", "x"),
    "not-searched-dist": ("Dist", "x"),
    "not-searched-vendor": ("vendor", "x"),
    "not-searched-modules": ("node_modules", "x"),
    "not-searched-cache": (".cache", "x"),
}


@pytest.fixture(scope="module")
def paths_checked() -> PlanVerdict:
    bad = [action("", category=category, slug=slug, title=name) for name, (category, slug) in BAD_PATHS.items()]
    good = [action(path, findings=(finding(context=path),)) for path in GOOD_PATHS]
    return check(*(row for pair in zip(bad, [*good, *bad[len(good) :]], strict=False) for row in pair))


@pytest.mark.parametrize("name", BAD_PATHS)
def test_a_path_that_is_not_safe_everywhere_is_refused(name: str, paths_checked: PlanVerdict) -> None:
    category, slug = BAD_PATHS[name]
    refused = {(one.action.category, one.action.slug): one for one in paths_checked.quarantined}
    assert refused[category, slug].expectation in ("safe_path", "category_names_a_subject")
    assert refused[category, slug].outcome is Outcome.QUARANTINED
    assert len(refused[category, slug].reason.split()) > 3


def test_safe_paths_in_any_script_pass_beside_refused_ones(paths_checked: PlanVerdict) -> None:
    assert [one.path for one in paths_checked.accepted.actions] == GOOD_PATHS
    assert not paths_checked.empty


EXISTING = [
    page(
        "decisions/retry-policy.md",
        sources=(Source(kind=SourceKind.COMMIT, id="0192117"),),
        body="We said: never\nretry twice.",
    ),
    page("gotchas/Old_Name.md"),
    page("gotchas/old-name.md"),
    page("gotchas/digest.md", digest=True),
    page("Architecture/layers.md"),
]

UPDATE, RESOLVE = Operation.UPDATE, Operation.RESOLVE

ROWS: dict[str, tuple[Action, str | None]] = {
    "good": (action(GOOD), None),
    "update": (action("decisions/retry-policy.md", operation=UPDATE), None),
    "resolve-an-existing-twin": (action("gotchas/Old_Name.md", operation=RESOLVE), None),
    "update-its-twin": (action("gotchas/old-name.md", operation=UPDATE), None),
    "digest": (action("gotchas/digest.md", operation=UPDATE, digest=True), None),
    "new-digest": (action("gotchas/digest-2.md", digest=True), None),
    "known-category": (action("Architecture/rooms.md"), None),
    "corroborated": (action("decisions/a.md", findings=(finding(corroborated_by=(COMMIT,)),)), None),
    "hazard-22-case": (action("decisions/Retry-Policy.md"), "page_without_twin"),
    "hazard-21-separator": (action("decisions/retry_policy.md"), "page_without_twin"),
    "unicode-twin": (action("decisions/ｒetry-policy.md"), "page_without_twin"),
    "category-twin": (action("Decisions/b.md"), "category_without_twin"),
    "category-twin-of-a-folder": (action("architecture/c.md"), "category_without_twin"),
    "unknown-operation": (action("decisions/d.md", operation="delete"), "known_operation"),
    "no-operation": (action("decisions/e.md", operation=None), "known_operation"),
    "create-what-exists": (action("gotchas/old-name.md"), "target_fits_operation"),
    "update-what-is-not-there": (action("decisions/f.md", operation=UPDATE), "target_fits_operation"),
    "resolve-what-is-not-there": (action("decisions/g.md", operation=RESOLVE), "target_fits_operation"),
    "update-unreadable": (action("gotchas/broken.md", operation=UPDATE), "target_fits_operation"),
    "create-over-unreadable": (action("gotchas/broken.md"), "target_fits_operation"),
    "no-title": (action("decisions/h.md", title=" "), "title_present"),
    "no-reason": (action("decisions/i.md", reason=" \n"), "reason_present"),
    "hazard-141-no-evidence": (action("decisions/j.md", findings=()), "evidence_present"),
    "unknown-evidence": (
        action("decisions/k.md", findings=(finding(evidence="ffffffffffff/0"),)),
        "evidence_collected",
    ),
    "unknown-corroboration": (
        action("decisions/l.md", findings=(finding(corroborated_by=("ffffffffffff/0",)),)),
        "evidence_collected",
    ),
    "invented-quote": (action("decisions/m.md", findings=(finding("use MySQL"),)), "quotes_verbatim"),
    "quote-of-other-evidence": (action("decisions/n.md", findings=(finding(evidence=COMMIT),)), "quotes_verbatim"),
    "one-bad-quote-of-two": (action("decisions/o.md", findings=(finding(), finding("x"))), "quotes_verbatim"),
    "empty-quote": (action("decisions/p.md", findings=(finding(" "),)), "quotes_verbatim"),
    "digest-not-called-one": (action("decisions/digest.md"), "digest_flag_agrees"),
    "called-digest": (action("decisions/q.md", digest=True), "digest_flag_agrees"),
    "digest-page-updated-as-a-page": (action("gotchas/digest.md", operation=UPDATE), "digest_flag_agrees"),
    "standing-evidence": (
        action(
            "decisions/retry-policy.md",
            operation=RESOLVE,
            findings=(finding("never retry twice", "0192117" + "a" * 33),),
        ),
        "one_action_per_page",
    ),
    "hazard-22-twin-in-plan": (action("decisions/New-Page.md"), None),
    "hazard-22-twin-in-plan-later": (action("decisions/new_page.md"), "one_action_per_page"),
    "hazard-23-same-slug": (action("decisions/New-Page.md", title="Another"), "one_action_per_page"),
    "new-category": (action("Trade-Offs/one.md"), None),
    "new-category-spelled-again": (action("trade_offs/two.md"), "one_spelling_per_category"),
}


@pytest.fixture(scope="module")
def rows_checked() -> PlanVerdict:
    return check(*(row for row, _ in ROWS.values()), pages=EXISTING, unreadable=frozenset({"gotchas/broken.md"}))


@pytest.mark.parametrize("name", ROWS)
def test_each_row_has_its_own_verdict(name: str, rows_checked: PlanVerdict) -> None:
    row, expectation = ROWS[name]
    refused = {id(one.action): one.expectation for one in rows_checked.quarantined}
    assert refused.get(id(row)) == expectation
    assert (row in rows_checked.accepted.actions) == (expectation is None)


def test_order_is_kept_and_every_finding_is_accounted_for(rows_checked: PlanVerdict) -> None:
    rows = [row for row, _ in ROWS.values()]
    assert list(rows_checked.accepted.actions) == [row for row, expectation in ROWS.values() if expectation is None]
    assert [one.action for one in rows_checked.quarantined] == [
        row for row, expectation in ROWS.values() if expectation
    ]
    accounted = sum(len(row.findings) for row in rows_checked.accepted.actions) + len(rows_checked.accepted.fates)
    assert accounted == sum(len(row.findings) for row in rows)
    fates = {fate.reason.split(":")[0]: fate.outcome for fate in rows_checked.accepted.fates}
    assert fates["one_action_per_page"] is Outcome.PENDING
    assert fates["quotes_verbatim"] is Outcome.QUARANTINED


def test_a_bad_row_never_takes_a_good_one_of_the_same_page_down() -> None:
    bad, good = action(GOOD, reason=""), action(GOOD)
    verdict = check(bad, good)
    assert verdict.accepted.actions == (good,)
    assert broken(verdict) == {GOOD: "reason_present"}


def test_rows_beyond_the_bound_wait() -> None:
    rows = [action(f"decisions/page-{number}.md") for number in range(5)]
    verdict = check(*rows, most_actions=3)
    assert verdict.accepted.actions == tuple(rows[:3])
    assert broken(verdict) == dict.fromkeys(("decisions/page-3.md", "decisions/page-4.md"), "row_count_sane")
    assert {one.outcome for one in verdict.quarantined} == {Outcome.PENDING}


def test_hazard_137_an_empty_plan_is_empty_and_not_passed() -> None:
    verdict = check(pages=EXISTING)
    assert verdict == PlanVerdict(Plan(), empty=True)


def test_hazard_138_a_plan_of_bad_rows_alone_is_not_empty() -> None:
    verdict = check(action("../x.md"))
    assert verdict.accepted.actions == ()
    assert len(verdict.quarantined) == 1 and not verdict.empty


def test_every_expectation_says_why() -> None:
    rules = [*ACTION_RULES, *PLAN_RULES]
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.notes.endswith(".") and len(rule.notes) < 120 for rule in rules)
