"""What an operator approved, on its page: through the same page builder and the same landing as a run's pages.

An approval counts as landed where the wiki's log names it. So one that was killed between the ledger and the wiki, and
one whose wiki was thrown away, is landed by whoever comes next; nothing else has to remember it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from reflect.configuration import load_format, slugify
from reflect.errors import PageError, ScopeError, WikiError
from reflect.evidence.redaction import Redactor
from reflect.ledger.ledger import Ledger
from reflect.model import (
    Action,
    Operation,
    PageContent,
    PageSummary,
    Passage,
    Section,
)
from reflect.scope.approval import Approval, Choice, settle
from reflect.scope.context import stated_scope
from reflect.scope.page_keys import approved_keys
from reflect.scope.projects import Registry
from reflect.scope.provenance import Provenance
from reflect.scope.review import ReviewItem, ReviewStatus
from reflect.scope.stored import resolve_stored_scope
from reflect.scope.vocabulary import ORGANISATION, Scope
from reflect.settings import Settings
from reflect.triage.extractive.headlines import of_sentence
from reflect.wiki.draft import PageDraft, draft_page
from reflect.wiki.landing import Fault, FileChange, Landing
from reflect.wiki.log import landed_approvals, review_entry, with_entry
from reflect.wiki.page import parse_page
from reflect.wiki.passages import Standing
from reflect.wiki.paths import INDEX, LOG, WIKI, canonical_key
from reflect.wiki.related import Neighbours
from reflect.wiki.store import Wiki, WikiState
from reflect.wiki.toc import render_index
from reflect.workspace import Workspace

APPROVED = "What was approved"
REWRITTEN = "In its owner's words"


@dataclass(frozen=True, slots=True)
class Destination:
    """A wiki that approved pages land in: a repository's, or the organisation's own (`project_id` is ORGANISATION).

    `repository` is the top that a page's workspace root is relative to. `finds` names what looks like a secret.
    """

    project_id: str
    folder: Path
    repository: PurePath
    journal: Path
    lock: Path
    max_lines: int
    finds: Callable[[str], Sequence[str]]

    @classmethod
    def of_repository(cls, workspace: Workspace) -> Destination:
        return cls(
            project_id=workspace.project.project_id,
            folder=workspace.folder,
            repository=PurePath(workspace.git.root),
            journal=workspace.journal,
            lock=workspace.lock,
            max_lines=workspace.format.max_lines,
            finds=Redactor(workspace.config.redact).finds,
        )

    @classmethod
    def of_organisation(cls, settings: Settings, home: Path | None = None) -> Destination:
        """The organisation's own wiki; its lock and its journal lie with the state of this machine."""
        folder, state = settings.organisation_wiki(home), settings.state / "organisation"
        return cls(
            project_id=ORGANISATION,
            folder=folder,
            repository=PurePath(folder.parent),
            journal=state / "reflect-landing.json",
            lock=state / "reflect.lock",
            max_lines=load_format(folder).max_lines,
            finds=Redactor().finds,
        )

    @property
    def wiki(self) -> Wiki:
        return Wiki(self.folder)

    def log_text(self) -> str:
        return (self.wiki.content(LOG) or b"").decode("utf-8", "replace")

    def holds(self, item: ReviewItem) -> bool:
        """Whether the page that an approval of `item` wrote stands in this wiki."""
        return item.id in landed_approvals(self.log_text())

    def takes(self, item: ReviewItem) -> bool:
        """Whether an approved `item` belongs here."""
        if item.decision == Choice.APPROVE_PROJECT:
            return item.target_project == self.project_id
        return self.project_id == ORGANISATION


class Repeated(PageError):
    """What was to be written stands in the wiki already."""


def draft_approved(item: ReviewItem, approval: Approval, place: Destination) -> PageDraft:
    """The page that approving `item` makes or changes; nothing is written.

    Only what the operator was shown gets onto it: the claims themselves, or the owner's own words in their stead.
    Raises WikiError where it cannot be written, Repeated where it stands in the wiki already.
    """
    state = place.wiki.read()
    _refuse_repetition(item, state)
    action = _action(item, approval, state)
    page = next((one for one in state.pages if one.path == action.path), None)
    keys = approved_keys(
        item.action.findings,
        Provenance(item.origin, item.evidence, item.session_tainted),
        approval.keys,
        approval.memory_type,
        repository=place.repository,
        proposal_id=item.id,
        always_on=item.always_on,
        rewritten=item.edited_at is not None,
        page=page,
    )
    return draft_page(
        action,
        _content(item, action),
        place.wiki.content(action.path),
        keys=keys.as_frontmatter(),
        neighbours=Neighbours.of(state, [action]),
        max_lines=place.max_lines,
        finds=place.finds,
    )


def land_approved(item: ReviewItem, draft: PageDraft, place: Destination, *, fault: Fault | None = None) -> None:
    """Put the page, the index and the log in place together. Call it with the destination's lock held."""
    if item.decided_at is None:
        raise ScopeError(f"Review item {item.id} was not decided; nothing was written.")
    entry = review_entry(item.decided_at.date(), item.id, draft.action, draft.path)
    state = place.wiki.read()
    pages = {page.path: page for page in state.pages} | {draft.path: parse_page(draft.content, draft.path).summary()}
    after = replace(state, pages=tuple(pages[path] for path in sorted(pages)))
    changes = [
        FileChange(f"{WIKI}/{draft.path}", draft.content, draft.base_sha256),
        FileChange.on_top(place.folder, f"{WIKI}/{LOG}", with_entry(place.wiki.content(LOG), entry)),
        FileChange.on_top(place.folder, f"{WIKI}/{INDEX}", render_index(after).encode()),
    ]
    landing = Landing(place.folder, f"review-{item.id}", journal=place.journal, fault=fault)
    landing.land(changes, {})
    landing.finish()


def waiting(ledger: Ledger, registry: Registry, place: Destination) -> tuple[ReviewItem, ...]:
    """What is approved for this wiki and does not stand in it, oldest decision first."""
    landed = landed_approvals(place.log_text())
    asked = (*(project.project_id for project in registry.projects), ORGANISATION)
    found = [
        item
        for project in asked
        for item in ledger.queue(project, ReviewStatus.APPROVED)
        if place.takes(item) and item.id not in landed
    ]
    return tuple(sorted(found, key=lambda item: (item.decided_at or item.created_at, item.id)))


def land_waiting(ledger: Ledger, registry: Registry, place: Destination) -> tuple[str, ...]:
    """Land what was approved and is not in this wiki yet; what was done or why not, in sentences."""
    return tuple(note for item in waiting(ledger, registry, place) if (note := _landed_late(item, registry, place)))


def _landed_late(item: ReviewItem, registry: Registry, place: Destination) -> str:
    try:
        approval = settle(item, Choice(str(item.decision)), item.target_project, registry)
        draft = draft_approved(item, approval, place)
        land_approved(item, draft, place)
    except Repeated:
        return ""  # a person, or a run, said the same meanwhile
    except (WikiError, ScopeError) as error:
        return f"The approved review item {item.id} is not on a page yet: {error}"
    return f"The approved review item {item.id} is on {draft.path} now."


def _refuse_repetition(item: ReviewItem, state: WikiState) -> None:
    claims = [item.claim] if item.edited_at is not None else [finding.quote for finding in item.action.findings]
    for page in state.pages:
        standing = Standing(page.body)
        if all(standing.has(claim) for claim in claims):
            raise Repeated(f"{page.path} says what review item {item.id} says; nothing was written.")


def _action(item: ReviewItem, approval: Approval, state: WikiState) -> Action:
    """The planned action where it can still be taken as it was planned, else a new page."""
    asked = item.action
    if asked.operation is not Operation.CREATE and item.edited_at is None and item.category in (None, asked.category):
        page = next((one for one in state.pages if one.path == asked.path), None)
        if page is not None and _is_own(page, approval):
            return asked
    title = _title(item)
    category = item.category or asked.category
    as_planned = asked.operation is Operation.CREATE and item.edited_at is None
    slug = asked.slug if as_planned else slugify(title)
    taken = {canonical_key(path) for path in state.paths}
    taken |= {canonical_key(page.path.split("/", 1)[1]) for page in state.archived}
    if canonical_key(f"{category}/{slug}.md") in taken:
        slug = f"{slug}-{item.id[:6]}"
    tags = () if item.edited_at is not None else asked.tags
    return asked.model_copy(
        update={
            "operation": Operation.CREATE,
            "category": category,
            "slug": slug,
            "title": title,
            "tags": tags,
            "digest": False,
        }
    )


def _title(item: ReviewItem) -> str:
    """What a new page is called. Nothing of what its owner rewrote is left in it."""
    if item.edited_at is not None:
        return of_sentence(item.claim)
    planned_new = item.action.operation is Operation.CREATE or not item.action.findings
    return item.action.title if planned_new else item.action.findings[0].headline


def _is_own(page: PageSummary, approval: Approval) -> bool:
    """Whether the lesson may join `page`: one project's words never join another's page, nor a page with odd keys."""
    if approval.keys.scope is Scope.GLOBAL:
        return False
    stated = stated_scope(page)
    scope = resolve_stored_scope(stated)
    return not stated or (scope.is_settled and scope.project_id == approval.keys.project_id)


def _content(item: ReviewItem, action: Action) -> PageContent:
    passages, heading = (_quotes(item), APPROVED) if item.edited_at is None else (_rewritten(item), REWRITTEN)
    return PageContent(title=action.title, sections=(Section(heading=heading, passages=passages),), tags=action.tags)


def _quotes(item: ReviewItem) -> tuple[Passage, ...]:
    said = item.action.findings
    return tuple(Passage(text=one.quote, evidence_ids=one.evidence_ids, said_at=one.said_at) for one in said)


def _rewritten(item: ReviewItem) -> tuple[Passage, ...]:
    cited = item.action.evidence_ids or tuple(one.id for one in item.evidence_items)
    at = item.edited_at or item.created_at
    return (Passage(text=item.claim, evidence_ids=cited, said_at=at, quoted=False),)
