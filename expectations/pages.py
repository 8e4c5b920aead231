"""Expectations on drafted pages, before they land: one row per page, each with a verdict of its own.

What a model wrote on a real wiki's 36 pages and these checks stop: links to pages that do not exist (20 of 24), a page
with two frontmatter blocks, statements without a source, ids that YAML turns into numbers. The frontmatter is read here
with plain python-frontmatter and a plain YAML reader, as a stranger's tool would read it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import frontmatter
import yaml

from expectations.evidence import EvidenceWords, shown
from expectations.suite import Rule, no_fault, run_suite
from reflect.evidence.redaction import Redactor
from reflect.wiki.fields import related_path
from reflect.wiki.frontmatter import BOM
from reflect.wiki.markdown import plain_lines, split_lines
from reflect.wiki.page import SPEC_KEYS
from reflect.wiki.passages import CITATION
from reflect.wiki.paths import why_no_page

MOST_CHARACTERS = 200_000
"""Longer than any page a person would read; what grows beyond it was not stopped where it should have been."""

REQUIRED_KEYS = ("created", "updated", "sources", "status")
"""The specification's keys that every page has; `tags` and `related` are left out where there are none."""

SCOPE_KEYS = (
    "memory_type",
    "reflection_kind",
    "scope",
    "scope_confidence",
    "scope_source",
    "origin",
    "evidence",
    "always_on",
    "learnable",
    "proposal_id",
)
PROJECT_KEYS = ("project_id", "workspace_root")
"""Keys of a page that belongs to a project; a global one has none of them."""

PAGE_RULES = (
    no_fault(
        "safe_path", "path_fault", "A page lies in the folder of its category, under a name safe on every system."
    ),
    Rule(
        "one_draft_per_page",
        "expect_column_values_to_be_in_set",
        {"column": "turn", "value_set": [1]},
        "{path} was drafted more than once",
        "Two drafts of one page would overwrite each other; the first stands.",
    ),
    no_fault("frontmatter_parses", "frontmatter_fault", "Any YAML reader can read the page's frontmatter."),
    no_fault("one_frontmatter_block", "second_block", "A page has one frontmatter block, at its beginning."),
    no_fault("required_keys", "missing_keys", "Dates, sources, status, scope and provenance stand on every page."),
    no_fault("dates_are_days", "date_fault", "`created` and `updated` are days, in that order."),
    no_fault("ids_stay_text", "mangled_id", "A plain YAML reader gives every source id back as it was written."),
    Rule(
        "sources_present",
        "expect_column_values_to_be_between",
        {"column": "source_count", "min_value": 1},
        "{path} lists no source",
        "A page without sources cannot be checked by anyone.",
    ),
    no_fault("sources_resolve", "unresolved_source", "Every source names a checkpoint or commit of this repository."),
    no_fault("citations_listed", "unlisted_citation", "What a page cites inline stands among its sources."),
    no_fault("quotes_verbatim", "missing_quote", "A quote stands word for word in its evidence, white space folded."),
    no_fault("statements_cited", "uncited_line", "Every new list item and quote line carries its citation."),
    no_fault("nothing_lost", "lost_line", "An update keeps every line of the page unless the plan says why it goes."),
    no_fault(
        "related_pages_exist", "dead_link", "`related` names only pages that exist or land together with this one."
    ),
    no_fault("no_secret", "secret", "Nothing that looks like a secret is written into a page."),
    Rule(
        "length_sane",
        "expect_column_values_to_be_between",
        {"column": "characters", "min_value": 1, "max_value": MOST_CHARACTERS},
        "{path} has {characters} characters",
        "An empty page or one of hundreds of thousands of characters is a fault, not knowledge.",
    ),
)

_BLOCK_AT_START = re.compile(r"\s*---[ \t]*\r?\n[A-Za-z_][\w-]*:[ \t\r\n]")
_BLOCK_ANYWHERE = re.compile(rf"^---[ \t]*\r?\n(?:{'|'.join(SPEC_KEYS)}):", re.MULTILINE)
_STATEMENT = re.compile(r"[ \t]{0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*\S")


@dataclass(frozen=True, slots=True)
class DraftRow:
    """One page as it will stand.

    `sources` are the ids its frontmatter lists and `citations` those cited inline, as they are written. `quotes` are
    the new quotes, each with the evidence it must stand in. `previous_text` is the page before, None for a new one.
    `resolves` holds the full ids of the checkpoints and commits that exist. `may_lose` gives the reason why lines of
    the page before may go.
    """

    path: str
    text: str
    sources: tuple[str, ...]
    quotes: tuple[tuple[str, str], ...] = ()
    citations: tuple[str, ...] = ()
    previous_text: str | None = None
    resolves: AbstractSet[str] = frozenset()
    may_lose: str = ""


@dataclass(frozen=True, slots=True)
class RefusedDraft:
    """A page that must not land. `row` is its place among the drafts."""

    row: int
    path: str
    expectation: str
    reason: str


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """The drafts that may land, in their order, and the others under the first expectation that each breaks.

    `empty` says that there was no draft to check: neither passed nor failed.
    """

    accepted: tuple[DraftRow, ...] = ()
    refused: tuple[RefusedDraft, ...] = ()
    empty: bool = False


def check_drafts(
    drafts: Sequence[DraftRow],
    evidence_texts: Mapping[str, str],
    *,
    existing: AbstractSet[str] | None = None,
    finds: Callable[[str], Sequence[str]] | None = None,
) -> DraftVerdict:
    """Check drafted pages against the evidence that was collected.

    `existing` are the paths of the pages that stand, for `related`; None leaves links unchecked. `finds` names what
    looks like a secret in a text; the built-in rules where it is not given. Raises PlanError where the suite gives no
    verdict.
    """
    if not drafts:
        return DraftVerdict(empty=True)
    finds = finds or Redactor().finds
    words = EvidenceWords(evidence_texts)
    known = None if existing is None else existing | {draft.path for draft in drafts}
    turns: Counter[str] = Counter()
    rows = []
    for draft in drafts:
        turns[draft.path] += 1
        rows.append({"path": draft.path, "turn": turns[draft.path], **_row(draft, words, known, finds)})
    refused: dict[int, RefusedDraft] = {}
    for breach in run_suite("pages", PAGE_RULES, rows):
        refused.setdefault(breach.row, RefusedDraft(breach.row, drafts[breach.row].path, breach.rule, breach.reason))
    accepted = tuple(draft for row, draft in enumerate(drafts) if row not in refused)
    return DraftVerdict(accepted, tuple(refused.values()))


def _row(
    draft: DraftRow, words: EvidenceWords, known: AbstractSet[str] | None, finds: Callable[[str], Sequence[str]]
) -> dict[str, object]:
    data, body, fault = read_as_stranger(draft.text)
    new_lines = _new_lines(draft)
    return {
        "path_fault": why_no_page(draft.path),
        "frontmatter_fault": fault,
        "second_block": second_block(body),
        "missing_keys": _missing_keys(data),
        "date_fault": date_fault(data),
        "mangled_id": _mangled_id(data, draft),
        "source_count": len(draft.sources),
        "unresolved_source": first_bad(draft.sources, "no checkpoint or commit", lambda s: not _resolves(s, draft)),
        "unlisted_citation": first_bad(draft.citations, "is not among the sources", lambda c: not _is_listed(c, draft)),
        "missing_quote": _missing_quote(draft, words),
        "uncited_line": uncited_line(body, new_lines),
        "lost_line": _lost_line(draft),
        "dead_link": dead_link(data, draft.path, known),
        "secret": _secret(draft, new_lines, finds),
        "characters": len(draft.text),
    }


def read_as_stranger(text: str) -> tuple[Mapping[str, Any], str, str | None]:
    """Frontmatter, body and what is wrong with the first, as a reader sees them who knows nothing of this product."""
    try:
        metadata, body = frontmatter.parse(text.removeprefix(BOM))
    except (yaml.YAMLError, ValueError) as error:
        return {}, "", f"its frontmatter is no YAML ({' '.join(str(error).split())[:120]})"
    if not metadata:
        return {}, body, "it has no frontmatter at its beginning"
    return metadata, body, None


def second_block(body: str) -> str | None:
    if _BLOCK_AT_START.match(body) or _BLOCK_ANYWHERE.search(body):
        return "it has a second frontmatter block in its text"
    return None


def _missing_keys(data: Mapping[str, Any]) -> str | None:
    return lacking(data, (*REQUIRED_KEYS, *scope_keys_of(data)))


def scope_keys_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys that say of a page like this one who may see it and where its words came from."""
    return (*SCOPE_KEYS, *(PROJECT_KEYS if data.get("scope") == "project" else ()))


def lacking(data: Mapping[str, Any], wanted: Sequence[str]) -> str | None:
    """Which of the keys that are `wanted` the frontmatter does not have; None for none."""
    missing = [key for key in wanted if data.get(key) in (None, "", [])]
    return f"its frontmatter lacks {', '.join(missing)}" if missing else None


def date_fault(data: Mapping[str, Any]) -> str | None:
    created, updated = data.get("created"), data.get("updated")
    for day in (created, updated):
        if not isinstance(day, date) or isinstance(day, datetime):
            return f"{day!r} is no day"
    assert isinstance(created, date) and isinstance(updated, date)
    return f"it was updated on {updated}, before it was created on {created}" if updated < created else None


def _mangled_id(data: Mapping[str, Any], draft: DraftRow) -> str | None:
    """A new source whose id some reader would not give back; what other tools wrote before stays as it is.

    Readers differ in what they take for a number: only an id in quotes is text to all of them.
    """
    read = {value for value in scalars(data.get("sources")) if isinstance(value, str)}
    before = draft.previous_text or ""
    for source in draft.sources:
        quoted = f'"{source}"' in draft.text or f"'{source}'" in draft.text
        if source not in before and not (quoted and source in read):
            return f"the source {source} is not written in quotes, so that a YAML reader may take it for a number"
    return None


def scalars(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    else:
        yield value


def first_bad(ids: Sequence[str], says: str, is_bad: Callable[[str], bool]) -> str | None:
    bad = [one for one in ids if is_bad(one)]
    return f"{bad[0]}: {says}" if bad else None


def _resolves(source: str, draft: DraftRow) -> bool:
    """Whether `source`, or what it abbreviates, exists; a source that stood on the page before is not judged."""
    if source in draft.resolves or (draft.previous_text is not None and source in draft.previous_text):
        return True
    return len(source) >= 6 and any(full.startswith(source) for full in draft.resolves)


def _is_listed(citation: str, draft: DraftRow) -> bool:
    if draft.previous_text is not None and citation in draft.previous_text:
        return True
    return any(citation.startswith(source) or source.startswith(citation) for source in draft.sources)


def _missing_quote(draft: DraftRow, words: EvidenceWords) -> str | None:
    for quote, evidence in draft.quotes:
        if not quote.strip():
            return f"a quote from {evidence} is empty"
        if not words.say(evidence, quote):
            return f"{shown(quote)} does not stand in {evidence}"
    return None


def _new_lines(draft: DraftRow) -> Counter[str]:
    lines = Counter(_lines(draft.text))
    return lines - Counter(_lines(draft.previous_text or ""))


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in split_lines(text) if line.strip())


def uncited_line(body: str, new_lines: Mapping[str, int]) -> str | None:
    for _, line in plain_lines(split_lines(body)):
        if _STATEMENT.match(line) and new_lines.get(line.strip()) and not CITATION.search(line):
            return f"{shown(line)} has no citation"
    return None


def _lost_line(draft: DraftRow) -> str | None:
    if draft.previous_text is None or draft.may_lose.strip():
        return None
    _, before, _ = read_as_stranger(draft.previous_text)
    lost = Counter(_lines(before)) - Counter(_lines(draft.text))
    return f"it would lose the line {shown(next(iter(lost)))}" if lost else None


def dead_link(data: Mapping[str, Any], path: str, known: AbstractSet[str] | None) -> str | None:
    if known is None:
        return None
    links = [related_path(str(entry), path) for entry in scalars(data.get("related")) if entry]
    dead = [link for link in links if link not in known]
    return f"it names {dead[0]} as related, which does not exist" if dead else None


def _secret(draft: DraftRow, new_lines: Mapping[str, int], finds: Callable[[str], Sequence[str]]) -> str | None:
    """What looks like a secret in the new text. What stood there before is the lint's to report, not this run's."""
    found = set(finds("\n".join(new_lines)))
    found |= set(finds(draft.text)) - set(finds(draft.previous_text or ""))
    return f"it holds what looks like a secret ({', '.join(sorted(found))})" if found else None
