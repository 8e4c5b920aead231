"""What a page will say. Code owns frontmatter, citations, links and layout; an engine's words only fill passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

import yaml

from reflect.errors import PageError, WikiError
from reflect.model import Action, Operation, PageContent, Passage, Source, Status
from reflect.wiki.edit import FrontmatterEdit
from reflect.wiki.fields import read_source, same_source
from reflect.wiki.frontmatter import BOM, Inline, Quoted, Written, render
from reflect.wiki.markdown import as_heading, fold, split_lines
from reflect.wiki.merge import merge_sections
from reflect.wiki.page import BANNER, MIXED_BANNER, SPEC_KEYS, Page, parse_page, sha256
from reflect.wiki.passages import sources_of
from reflect.wiki.paths import checked_page
from reflect.wiki.related import MOST, Neighbours

MOST_TAGS = 4


@dataclass(frozen=True, slots=True)
class PageDraft:
    """One page as it will stand, not yet written.

    `base_sha256` is the hash of the bytes it was made from, None for a new page. `sources` are all that the page will
    list, `quotes` the passages that are new on it. `notes` say what was dropped or is odd.
    """

    path: str
    text: str
    base_sha256: str | None
    action: Operation
    sources: tuple[Source, ...]
    quotes: tuple[Passage, ...]
    notes: tuple[str, ...] = ()

    @property
    def content(self) -> bytes:
        return self.text.encode()

    @property
    def changed(self) -> bool:
        """Whether landing it would change the page's bytes."""
        return sha256(self.content) != self.base_sha256


def draft_page(
    action: Action,
    content: PageContent,
    current: bytes | None,
    *,
    keys: Mapping[str, Written],
    neighbours: Neighbours,
    max_lines: int = 150,
    finds: Callable[[str], Sequence[str]] | None = None,
) -> PageDraft:
    """The page that `action` makes of `content`, merged into `current` where the page exists.

    `keys` are the flat scope and provenance keys as they will be written; a value of None writes no key. `finds` names
    what looks like a secret in a text. Raises PageError where the page cannot be read or the content cannot be
    written, WikiError for a path that cannot be a page's; nothing is changed then.
    """
    checked_page(action.path)
    _check_content(action, content, finds)
    if current is not None:
        page = parse_page(current, action.path)
        try:
            return _merged(action, content, page, keys, neighbours, max_lines)
        except (yaml.YAMLError, RecursionError) as error:
            raise PageError(f"{page.path}: its frontmatter cannot be changed; the page was left as it is.") from error
    if action.operation is not Operation.CREATE:
        raise WikiError(
            f"{action.path} does not exist, so there is nothing to {action.operation}; nothing was written."
        )
    if twin := neighbours.twin(action.path):
        raise WikiError(f"{action.path} is another spelling of the page {twin}; nothing was written. Update that one.")
    return _new(action, content, keys, neighbours, max_lines)


def without_missing_links(draft: PageDraft, existing: Set[str]) -> PageDraft:
    """`draft` without related pages that are not in `existing`, because one of the run's own pages was not written."""
    page = parse_page(draft.content, draft.path)
    kept = tuple(link for link in page.related if link in existing)
    if kept == page.related or not draft.quotes:
        return draft
    edit = FrontmatterEdit(page.parts.yaml, page.newline, SPEC_KEYS)
    if kept:
        edit.set_list("related", list(kept))
    else:
        edit.remove("related")
    return replace(draft, text=page.parts.head + edit.text + page.parts.tail)


def _new(
    action: Action, content: PageContent, keys: Mapping[str, Written], neighbours: Neighbours, max_lines: int
) -> PageDraft:
    lead = [f"# {as_heading(content.title or action.title)}"]
    quoted = {passage.quoted for passage in _passages(content)}
    if True in quoted:
        lead.append(MIXED_BANNER if False in quoted else BANNER)
    body, added = merge_sections("\n" + "\n\n".join(lead) + "\n", content.sections, "\n")
    sources = _all_sources(content)
    block = _new_block(content, sources, neighbours.related(action.path, sources), keys)
    text = f"---\n{block}---\n{body}"
    draft = PageDraft(action.path, text, None, action.operation, sources, added, _long(text, action.path, max_lines))
    return _verified(draft, sources)


def _new_block(
    content: PageContent, sources: Sequence[Source], related: Sequence[str], keys: Mapping[str, Written]
) -> str:
    day = _newest(content)
    data: dict[str, Any] = {"created": day, "updated": day, "sources": [_written(source) for source in sources]}
    if tags := _tags(content):
        data["tags"] = Inline(tags[:MOST_TAGS])
    data["status"] = Status.ACTIVE.value
    if related:
        data["related"] = list(related)
    return render(data | _scope_values(keys))


def _merged(
    action: Action,
    content: PageContent,
    page: Page,
    keys: Mapping[str, Written],
    neighbours: Neighbours,
    max_lines: int,
) -> PageDraft:
    base = sha256(page.text.encode())
    body, added = merge_sections(page.body, content.sections, page.newline)
    if any(not passage.quoted for passage in added):
        body = body.replace(BANNER, MIXED_BANNER, 1)
    new_sources = tuple(s for s in _all_sources(content) if not any(same_source(s, old) for old in page.sources))
    resolves = action.operation is Operation.RESOLVE and page.status != Status.RESOLVED
    if not (added or new_sources or resolves):
        return PageDraft(page.path, page.text, base, action.operation, page.sources, ())
    sources = page.sources + new_sources
    edit = FrontmatterEdit(page.parts.yaml, page.newline, SPEC_KEYS)
    _update_dates(edit, page, _newest(content))
    if new_sources:
        edit.extend("sources", [_written(source) for source in new_sources], lambda: _as_listed(page))
    _update_tags(edit, page, _tags(content))
    if resolves or "status" not in page.data:
        edit.set("status", (Status.RESOLVED if resolves else Status.ACTIVE).value)
    notes = _update_related(edit, page, neighbours, sources)
    for key, value in _scope_values(keys).items():
        if page.data.get(key) != _as_read(value):
            edit.set(key, value)
    text = _assembled(page, edit.text, body)
    notes += _long(text, page.path, max_lines)
    draft = PageDraft(page.path, text, base, action.operation, sources, added, notes)
    return _verified(draft, sources, page, {*SPEC_KEYS, *keys})


def _assembled(page: Page, block: str, body: str) -> str:
    parts, newline = page.parts, page.newline
    if parts.data is not None:
        end = "" if block.endswith(("\n", "\r")) or not block else newline
        return parts.head + block + end + parts.tail[: parts.body_start] + body
    mark = BOM if page.text.startswith(BOM) else ""
    gap = "" if body.startswith(("\n", "\r")) else newline
    return f"{mark}---{newline}{block}---{newline}{gap}{body}"


def _update_dates(edit: FrontmatterEdit, page: Page, newest: date) -> None:
    if page.created is None and "created" not in page.data:
        edit.set("created", newest)
    if page.updated is None or page.updated < newest:
        edit.set("updated", newest)


def _update_tags(edit: FrontmatterEdit, page: Page, tags: Sequence[str]) -> None:
    known = {tag.casefold() for tag in page.tags}
    new = [tag for tag in tags if tag.casefold() not in known][: max(0, MOST_TAGS - len(page.tags))]
    if new:
        edit.extend("tags", Inline(new), lambda: list(page.tags))


def _update_related(
    edit: FrontmatterEdit, page: Page, neighbours: Neighbours, sources: Sequence[Source]
) -> tuple[str, ...]:
    """Add what is related by now and drop what points nowhere; the notes name what was dropped."""
    kept = [link for link in page.related if link in neighbours.paths]
    broken = [link for link in page.related if link not in neighbours.paths]
    proposed = [link for link in neighbours.related(page.path, sources) if link not in kept]
    new = proposed[: max(0, MOST - len(kept))]
    if broken and kept + new:
        edit.set_list("related", kept + new)
    elif broken:
        edit.remove("related")
    elif new:
        edit.extend("related", new, lambda: kept)
    return tuple(f"{page.path} listed {link} as related, which does not exist; it was dropped." for link in broken)


def _as_listed(page: Page) -> list[Any]:
    """The sources a page lists, in the form that is written; entries that name nothing known stay as they are."""
    value = page.data.get("sources")
    if not isinstance(value, list):
        return [_written(source) for source in page.sources]
    return [entry if (source := read_source(entry)) is None else _written(source) for entry in value]


def _verified(
    draft: PageDraft, sources: Sequence[Source], before: Page | None = None, ours: Set[str] = frozenset()
) -> PageDraft:
    """`draft` where reading it back gives what was meant; PageError where the page's form did not allow the change."""
    after = parse_page(draft.content, draft.path)
    lost = [str(source) for source in sources if source not in after.sources]
    if before is not None:
        lost += [key for key, value in before.data.items() if key not in ours and after.data.get(key) != value]
        lost += [line.strip() for line in _not_kept(before.body, after.body)]
    if lost:
        raise PageError(f"{draft.path} cannot be changed without losing {lost[0]!r}; the page was left as it is.")
    return draft


def _not_kept(before: str, after: str) -> Iterator[str]:
    lines = iter(line.rstrip("\r\n") for line in split_lines(after))
    for line in split_lines(before.replace(BANNER, MIXED_BANNER, 1) if MIXED_BANNER in after else before):
        if not any(line.rstrip("\r\n") == other for other in lines):
            yield line
            return


def _check_content(action: Action, content: PageContent, finds: Callable[[str], Sequence[str]] | None) -> None:
    passages = list(_passages(content))
    if not passages:
        raise PageError(f"{action.path}: the engine gave no passage to write; nothing was written.")
    if any(not passage.evidence_ids for passage in passages):
        raise PageError(f"{action.path}: a passage names no evidence; nothing was written.")
    if finds is None:
        return
    texts = [content.title, *content.tags, *(section.heading for section in content.sections)]
    for text in [*texts, *(passage.text for passage in passages)]:
        if found := finds(text):
            raise PageError(f"{action.path}: what it would say looks like a secret ({found[0]}); nothing was written.")


def _passages(content: PageContent) -> Iterator[Passage]:
    """Every passage that says anything."""
    for section in content.sections:
        yield from (passage for passage in section.passages if fold(passage.text))


def _tags(content: PageContent) -> list[str]:
    return list(dict.fromkeys(tag for written in content.tags if (tag := fold(written))))


def _all_sources(content: PageContent) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(source for passage in _passages(content) for source in sources_of(passage)))


def _newest(content: PageContent) -> date:
    return max(_utc_day(passage.said_at) for passage in _passages(content))


def _utc_day(moment: datetime) -> date:
    return (moment if moment.tzinfo is None else moment.astimezone(UTC)).date()


def _written(source: Source) -> dict[str, str]:
    return {source.kind.value: Quoted(source.id)}


def _scope_values(keys: Mapping[str, Written]) -> dict[str, Written]:
    return {
        key: Quoted(value) if key.endswith("_id") and isinstance(value, str) else value
        for key, value in keys.items()
        if value is not None
    }


def _as_read(value: Written) -> str:
    """What reading `value` back gives."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _long(text: str, path: str, max_lines: int) -> tuple[str, ...]:
    count = len(split_lines(text))
    return (
        (f"{path} has {count} lines, more than the {max_lines} that format.yaml allows.",) if count > max_lines else ()
    )
