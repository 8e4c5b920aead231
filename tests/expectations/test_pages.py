"""A drafted page lands only when a stranger's reader finds it whole, cited and harmless."""

from __future__ import annotations

from dataclasses import replace

import pytest

from expectations.pages import PAGE_RULES, DraftRow, DraftVerdict, check_drafts

SESSION, COMMIT = "4ecb34b81a12/0", "0192117e" + "a" * 32
TEXTS = {SESSION: "We agreed: use  SQLite\nfor the ledger, 12e4567 times.", COMMIT: "Drop the cache"}
EXIST = frozenset({"4ecb34b81a12", COMMIT})
STANDING = frozenset({"decisions/cache.md", "gotchas/old.md"})

KEYS = """\
memory_type: reflection
reflection_kind: corrective
scope: project
project_id: "shop-0a1b2c"
workspace_root: .
scope_confidence: 0.6
scope_source: extraction_default
origin: clean
evidence: full
always_on: false
learnable: true
proposal_id: "0123456789ab"
"""
HEAD = f"""\
---
created: 2026-03-02
updated: 2026-03-04
sources:
  - checkpoint: "4ecb34b81a12"
  - commit: "0192117eaaaa"
tags: [sqlite]
status: active
related:
  - decisions/cache.md
{KEYS}---
"""
BODY = """
# SQLite

_Extracted._

## Why

> use SQLite for the ledger (checkpoint 4ecb34b81a12)

- the cache went (commit 0192117eaaaa)

---

```
- a list in code needs no citation
```
"""

NEW = DraftRow(
    path="decisions/sqlite.md",
    text=HEAD + BODY,
    sources=("4ecb34b81a12", "0192117eaaaa"),
    quotes=(("use SQLite for the ledger", SESSION), ("Drop the cache", COMMIT)),
    citations=("4ecb34b81a12", "0192117eaaaa"),
    resolves=EXIST,
)
OLD_TEXT = """\
---
created: 2026-01-01
updated: 2026-01-01
sources: [checkpoint 1111aaaa2222]
status: active
---

# Old

- a line of another tool, without a citation
- AKIAIOSFODNN7EXAMPLE stood here before
"""
UPDATE = replace(
    NEW,
    path="gotchas/old.md",
    text=HEAD.replace('  - checkpoint: "4', '  - checkpoint: "1111aaaa2222"\n  - checkpoint: "4')
    + OLD_TEXT.partition("---\n\n")[2]
    + "\n> use SQLite for the ledger (checkpoint 4ecb34b81a12)\n",
    sources=("1111aaaa2222", *NEW.sources),
    previous_text=OLD_TEXT,
)


def edited(old: str, new: str, draft: DraftRow = NEW) -> DraftRow:
    assert old in draft.text
    return replace(draft, text=draft.text.replace(old, new, 1))


ROWS: dict[str, tuple[DraftRow, str | None]] = {
    "new": (NEW, None),
    "update": (UPDATE, None),
    "digits-in-quotes": (
        edited('"0192117eaaaa"', '"0192117"', replace(NEW, sources=("4ecb34b81a12", "0192117"))),
        None,
    ),
    "global": (edited('scope: project\nproject_id: "shop-0a1b2c"\nworkspace_root: .\n', "scope: global\n"), None),
    "no-tags-and-links": (edited("tags: [sqlite]\n", "", edited("related:\n  - decisions/cache.md\n", "")), None),
    "link-to-a-page-of-this-run": (edited("decisions/cache.md", "gotchas/digits-in-quotes.md"), None),
    "byte-order-mark": (replace(NEW, text="\ufeff" + NEW.text), None),
    "lines-end-in-crlf": (replace(NEW, text=NEW.text.replace("\n", "\r\n")), None),
    "loses-with-a-reason": (
        edited("- a line of another tool, without a citation\n", "", replace(UPDATE, may_lose="it was wrong")),
        None,
    ),
    "hazard-27-outside": (NEW, "safe_path"),
    "no-frontmatter": (replace(NEW, text=BODY), "frontmatter_parses"),
    "broken-yaml": (edited("status: active", "status: [active"), "frontmatter_parses"),
    "never-closed": (replace(NEW, text=HEAD.removesuffix("---\n") + BODY.replace("---\n", "")), "frontmatter_parses"),
    "frontmatter-is-a-list": (replace(NEW, text="---\n- a\n---\n" + BODY), "frontmatter_parses"),
    "second-block": (edited("\n# SQLite", f"\n{HEAD}\n# SQLite"), "one_frontmatter_block"),
    "second-block-later": (edited("\n## Why", "\n---\ncreated: 2026-01-01\n---\n\n## Why"), "one_frontmatter_block"),
    "no-status": (edited("status: active\n", ""), "required_keys"),
    "no-origin": (edited("origin: clean\n", ""), "required_keys"),
    "no-project": (edited('project_id: "shop-0a1b2c"\n', ""), "required_keys"),
    "no-dates": (edited("updated: 2026-03-04\n", ""), "required_keys"),
    "date-is-no-day": (edited("updated: 2026-03-04", "updated: 2026-3-4"), "dates_are_days"),
    "date-is-a-time": (edited("updated: 2026-03-04", "updated: 2026-03-04T00:00:00Z"), "dates_are_days"),
    "updated-before-created": (edited("updated: 2026-03-04", "updated: 2026-03-01"), "dates_are_days"),
    "hazard-1-leading-zero": (
        edited('"0192117eaaaa"', "0192117", replace(NEW, sources=("4ecb34b81a12", "0192117"))),
        "ids_stay_text",
    ),
    "hazard-2-exponent": (
        edited(
            '"0192117eaaaa"', "12e4567", replace(NEW, sources=("4ecb34b81a12", "12e4567"), resolves=EXIST | {"12e4567"})
        ),
        "ids_stay_text",
    ),
    "hazard-4-digits-alone": (
        edited(
            '"0192117eaaaa"', "1234567", replace(NEW, sources=("4ecb34b81a12", "1234567"), resolves=EXIST | {"1234567"})
        ),
        "ids_stay_text",
    ),
    "no-sources": (
        edited('  - checkpoint: "4ecb34b81a12"\n  - commit: "0192117eaaaa"', "  []", replace(NEW, sources=())),
        "required_keys",
    ),
    "sources-not-told": (replace(NEW, sources=(), citations=()), "sources_present"),
    "unknown-source": (
        edited('"0192117eaaaa"', '"ffffffffffff"', replace(NEW, sources=("4ecb34b81a12", "ffffffffffff"))),
        "sources_resolve",
    ),
    "citation-not-listed": (replace(NEW, citations=("ffffffffffff",)), "citations_listed"),
    "invented-quote": (replace(NEW, quotes=(("use MySQL", SESSION),)), "quotes_verbatim"),
    "quote-of-other-evidence": (replace(NEW, quotes=(("use SQLite", COMMIT),)), "quotes_verbatim"),
    "quote-of-unknown-evidence": (replace(NEW, quotes=(("use SQLite", "x/0"),)), "quotes_verbatim"),
    "empty-quote": (replace(NEW, quotes=((" ", SESSION),)), "quotes_verbatim"),
    "quote-line-uncited": (edited("ledger (checkpoint 4ecb34b81a12)", "ledger"), "statements_cited"),
    "list-item-uncited": (edited("went (commit 0192117eaaaa)", "went"), "statements_cited"),
    "numbered-item-uncited": (edited("- the cache went", "1. it went\n- the cache went"), "statements_cited"),
    "update-uncited": (edited("\n> use", "\n- new and uncited\n\n> use", UPDATE), "statements_cited"),
    "line-lost": (edited("- a line of another tool, without a citation\n", "", UPDATE), "nothing_lost"),
    "line-changed": (edited("# Old", "# New", UPDATE), "nothing_lost"),
    "hazard-152-dead-link": (edited("decisions/cache.md", "decisions/gone.md"), "related_pages_exist"),
    "hazard-120-secret": (edited("the cache went", "password=hunter2 went"), "no_secret"),
    "secret-over-lines": (
        edited("_Extracted._", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"),
        "no_secret",
    ),
    "secret-in-update": (edited("use SQLite for", "use AKIAIOSFODNN7EXAMPL2 for", UPDATE), "no_secret"),
    "endless": (replace(NEW, text=NEW.text + "word " * 50_000), "length_sane"),
}


def named(name: str, draft: DraftRow) -> DraftRow:
    """Each row under a path of its own, so that rows do not clash."""
    return replace(draft, path=f"gotchas/{name}.md" if name != "hazard-27-outside" else "../gotchas/x.md")


@pytest.fixture(scope="module")
def checked() -> DraftVerdict:
    return check_drafts([named(name, draft) for name, (draft, _) in ROWS.items()], TEXTS, existing=STANDING)


@pytest.mark.parametrize("name", ROWS)
def test_each_draft_has_its_own_verdict(name: str, checked: DraftVerdict) -> None:
    draft, expectation = ROWS[name]
    row = list(ROWS).index(name)
    refused = {one.row: one for one in checked.refused}
    assert (refused[row].expectation if row in refused else None) == expectation
    assert (named(name, draft) in checked.accepted) == (expectation is None)
    assert expectation is None or len(refused[row].reason.split()) > 3


def test_two_drafts_of_one_page_leave_the_first() -> None:
    verdict = check_drafts([NEW, replace(NEW, quotes=())], TEXTS)
    assert verdict.accepted == (NEW,)
    assert [(one.row, one.expectation) for one in verdict.refused] == [(1, "one_draft_per_page")]


def test_hazard_137_no_drafts_are_empty_and_not_passed() -> None:
    assert check_drafts([], TEXTS) == DraftVerdict(empty=True)


def test_hazard_122_a_reason_never_repeats_what_looked_like_a_secret(checked: DraftVerdict) -> None:
    reasons = " ".join(one.reason for one in checked.refused)
    assert not any(secret in reasons for secret in ("hunter2", "MIIEvQ", "AKIA"))


def test_every_expectation_says_why() -> None:
    assert len({rule.name for rule in PAGE_RULES}) == len(PAGE_RULES)
    assert all(rule.notes.endswith(".") and len(rule.notes) < 120 for rule in PAGE_RULES)
