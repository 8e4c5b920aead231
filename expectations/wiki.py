"""Expectations on the pages of a wiki as they stand, whoever wrote them: one row per page, one answer per expectation.

A draft is judged before it lands, and by what it adds. Here nothing is kept from anywhere: a page that breaks an
expectation stays, and its wiki's report says so. What asks git, the sources that exist and the quotes in them, is the
lint's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from expectations.pages import (
    PAGE_RULES,
    REQUIRED_KEYS,
    date_fault,
    dead_link,
    first_bad,
    lacking,
    read_as_stranger,
    scalars,
    scope_keys_of,
    second_block,
    uncited_line,
)
from expectations.suite import Rule, no_fault, run_suite
from reflect.evidence.redaction import Redactor
from reflect.ledger.health import ExpectedRow
from reflect.wiki.markdown import split_lines
from reflect.wiki.page import Page
from reflect.wiki.passages import cited_quotes
from reflect.wiki.paths import canonical_key, why_no_page
from reflect.workspace import Workspace

_OF_DRAFTS = {rule.name: rule for rule in PAGE_RULES}

WIKI_RULES = (
    Rule(
        "one_page_per_name",
        "expect_column_values_to_be_in_set",
        {"column": "turn", "value_set": [1]},
        "another page has the same name but for case, separators or Unicode form",
        "No two pages differ only by case, separators or Unicode form.",
    ),
    _OF_DRAFTS["safe_path"],
    _OF_DRAFTS["frontmatter_parses"],
    _OF_DRAFTS["one_frontmatter_block"],
    no_fault(
        "required_keys", "missing_keys", "Dates, sources and status stand on every page, and scope keys together."
    ),
    _OF_DRAFTS["dates_are_days"],
    _OF_DRAFTS["ids_stay_text"],
    _OF_DRAFTS["sources_present"],
    _OF_DRAFTS["citations_listed"],
    no_fault(
        "statements_cited", "uncited_line", "Where citations are required, every list item and quote line has one."
    ),
    no_fault("related_pages_exist", "dead_link", "`related` names only pages that exist."),
    no_fault("no_secret", "secret", "Nothing that looks like a secret stands on a page."),
    _OF_DRAFTS["length_sane"],
)


def check_wiki(workspace: Workspace) -> tuple[ExpectedRow, ...]:
    """Every expectation with the pages that break it, archived ones left out; empty for a wiki without a page.

    Raises WikiError where the wiki cannot be listed, and PlanError where the suite gives no verdict.
    """
    state, pages = workspace.wiki.read_pages()
    redactor = Redactor(workspace.config.redact)
    existing = state.paths | {page.path for page in state.archived}
    turns: Counter[str] = Counter()
    unreadable = dict(state.unreadable)
    rows = []
    for path in sorted(state.paths):
        key = canonical_key(path)
        turns[key] += 1
        row = _unreadable(unreadable[path]) if path in unreadable else _row(pages[path], workspace, existing, redactor)
        rows.append({"path": path, "turn": turns[key], "path_fault": why_no_page(path), **row})
    if not rows:
        return ()
    broken: dict[str, list[tuple[str, str]]] = {rule.name: [] for rule in WIKI_RULES}
    for breach in run_suite("wiki", WIKI_RULES, rows):
        broken[breach.rule].append((str(rows[breach.row]["path"]), redactor.redact(breach.reason)))
    return tuple(ExpectedRow(rule.name, rule.notes, tuple(broken[rule.name])) for rule in WIKI_RULES)


def _row(page: Page, workspace: Workspace, existing: frozenset[str], redactor: Redactor) -> Mapping[str, object]:
    data, body, fault = read_as_stranger(page.text)
    every_line = Counter(line.strip() for line in split_lines(body) if line.strip())
    sources = tuple(source.id for source in page.sources)
    cited = tuple(source.id for quote in cited_quotes(page.text) for source in quote.sources)
    found = redactor.finds(page.text)
    return {
        "frontmatter_fault": fault,
        "second_block": second_block(body),
        "missing_keys": _missing_keys(data),
        "date_fault": date_fault(data),
        "mangled_id": _mangled_id(data, sources),
        "source_count": len(sources),
        "unlisted_citation": first_bad(cited, "is not among the sources", lambda one: not _is_listed(one, sources)),
        "uncited_line": uncited_line(body, every_line) if workspace.format.citations == "required" else None,
        "dead_link": dead_link(data, page.path, existing),
        "secret": f"it holds what looks like a secret ({', '.join(found)})" if found else None,
        "characters": len(page.text),
    }


def _unreadable(reason: str) -> Mapping[str, object]:
    """Of a page nobody can read nothing else can be told either, and what cannot be told does not pass."""
    untold = f"it cannot be told: {reason}"
    faults = ("second_block", "missing_keys", "date_fault", "mangled_id", "unlisted_citation", "uncited_line")
    row: dict[str, object] = dict.fromkeys((*faults, "dead_link", "secret"), untold)
    return row | {"frontmatter_fault": reason, "source_count": 0, "characters": 0}


def _missing_keys(data: Mapping[str, Any]) -> str | None:
    """Pages of a person or of another tool have no scope keys at all; a page that has some of them needs the others."""
    scope_keys = scope_keys_of(data)
    has_some = any(key in data for key in scope_keys)
    return lacking(data, (*REQUIRED_KEYS, *(scope_keys if has_some else ())))


def _mangled_id(data: Mapping[str, Any], sources: tuple[str, ...]) -> str | None:
    read = "\n".join(value for value in scalars(data.get("sources")) if isinstance(value, str))
    return first_bad(sources, "a YAML reader takes it for a number", lambda one: one not in read)


def _is_listed(citation: str, sources: tuple[str, ...]) -> bool:
    return any(citation.startswith(source) or source.startswith(citation) for source in sources)
