"""What an operator's corrections to plans teach, and the one consumer that may be told.

A lesson of the `triage` domain rides in the triage step's own instructions and nowhere else: that step has no tools, no
history and no network, and answers in a fixed schema. The day `triage` becomes a domain of every run, `learnable` says
no to the words of outsiders there too.
"""

from __future__ import annotations

from reflect.ledger.ledger import Ledger
from reflect.scope.approval import Choice, settle
from reflect.scope.decided import Decided, Verb
from reflect.scope.projects import Registry
from reflect.scope.provenance import TRIAGE_DOMAIN
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import EXCERPT_CHARS, ReviewItem
from reflect.scope.rows import correction
from reflect.workspace import Workspace


def lessons_for(workspace: Workspace) -> tuple[str, ...]:
    """What the triage step of a run on `workspace` is told: `triage_lessons` of its project."""
    with workspace.ledger() as ledger:
        return triage_lessons(ledger, workspace.project.project_id)


def triage_lessons(ledger: Ledger, project: str) -> tuple[str, ...]:
    """The learnable corrections of `project`, oldest first, each once: for the triage step's own instructions alone."""
    rows = (row for row in ledger.reflexions(project) if row.domain == TRIAGE_DOMAIN and row.learnable)
    return tuple(dict.fromkeys(row.reflexion_text for row in rows if _is_of(row, project)))


def _is_of(row: Reflexion, project: str) -> bool:
    """Whether the record says that `project` may see it: one that a file brought says nothing of the kind."""
    return row.stored_scope.is_settled and row.stored_scope.project_id == project


def lesson_of(item: ReviewItem, decided: Decided, registry: Registry) -> Reflexion | None:
    """The lesson in rejecting, moving or rewriting `item` for a reason; None without one, or without its project."""
    project = registry.project(item.project_id)
    if not decided.note or decided.verb not in (Verb.REJECT, Verb.EDIT):
        return None
    if project is None or not project.memory_enabled:
        return None
    trigger, text = _taught(item, decided)
    return correction(
        item.id,
        trigger,
        text,
        reason=decided.note,
        claim=item.claim[:EXCERPT_CHARS],
        origin=item.origin,
        evidence=item.evidence,
        evidence_ids=item.action.evidence_ids,
        keys=settle(item, Choice.APPROVE_PROJECT, item.project_id, registry).keys,
        at=decided.at,
    )


def _taught(item: ReviewItem, decided: Decided) -> tuple[str, str]:
    """The trigger and the lesson: the operator's words, and ours, and never the claim's."""
    asked = item.category or item.action.category
    if decided.verb is Verb.REJECT:
        return "reject", f"A claim planned for {asked} was rejected: {decided.note}"
    if decided.category is not None and decided.category != asked:
        return "recategorise", f"A claim planned for {asked} belongs in {decided.category}: {decided.note}"
    return "edit", f"A claim planned for {asked} had to be rewritten: {decided.note}"
