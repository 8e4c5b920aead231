"""Expectations, as Prefect tasks: a bad row is set aside and never takes a good one down."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from prefect import task
from prefect.cache_policies import NO_CACHE

from expectations import pages as page_suite
from expectations import plan as plan_suite
from reflect.evidence.redaction import Redactor
from reflect.model import Outcome, Plan
from reflect.pipeline.intake import Intake, evidence_texts
from reflect.pipeline.write import Drafted, Written
from reflect.wiki.draft import PageDraft
from reflect.wiki.passages import cited_quotes
from reflect.workspace import Workspace
from tasks.artifacts import publish_plan

logger = logging.getLogger("reflect.expectations")


@task(name="check plan", task_run_name="check plan", cache_policy=NO_CACHE)
def check_plan(plan: Plan, intake: Intake, workspace: Workspace) -> Plan:
    """The plan without the actions that break an expectation; their findings have a fate that names it."""
    logger.info("expectations: checking a plan of %d actions", len(plan.actions))
    verdict = plan_suite.check_plan(
        plan,
        intake.wiki.pages,
        evidence_texts(intake),
        frozenset(workspace.format.categories),
        unreadable=frozenset(path for path, _ in intake.wiki.unreadable),
    )
    publish_plan(workspace.project.project_id, plan, verdict)
    for bad in verdict.quarantined:
        logger.warning("expectations: %s was set aside: %s: %s", bad.action.path, bad.expectation, bad.reason)
    return verdict.accepted


@task(name="check pages", task_run_name="check pages", cache_policy=NO_CACHE)
def check_pages(written: Written, intake: Intake, workspace: Workspace) -> Written:
    """The drafts without the pages that break an expectation; those stay as they are."""
    logger.info("expectations: checking %d pages", len(written.drafted))
    verdict = page_suite.check_drafts(
        draft_rows(written.drafted, intake, workspace),
        evidence_texts(intake),
        existing=intake.wiki.paths | {page.path for page in intake.wiki.archived},
        finds=Redactor(workspace.config.redact, keep=intake.batch.known).finds,
    )
    refused = {bad.path: f"{bad.expectation}: {bad.reason}" for bad in verdict.refused}
    for path, reason in refused.items():
        logger.warning("expectations: %s was left as it was: %s", path, reason)
    return written.without(refused, Outcome.QUARANTINED)


def draft_rows(drafted: Iterable[Drafted], intake: Intake, workspace: Workspace) -> list[page_suite.DraftRow]:
    """What the suite is shown of each draft."""
    exists = intake.batch.known | set(intake.carried_evidence)
    return [_row(one.draft, workspace.wiki.content(one.draft.path), exists) for one in drafted]


def _row(draft: PageDraft, before: bytes | None, exists: frozenset[str]) -> page_suite.DraftRow:
    return page_suite.DraftRow(
        path=draft.path,
        text=draft.text,
        sources=tuple(source.id for source in draft.sources),
        quotes=tuple(
            (passage.text, cited) for passage in draft.quotes if passage.quoted for cited in passage.evidence_ids
        ),
        citations=tuple(source.id for quote in cited_quotes(draft.text) for source in quote.sources),
        previous_text=None if before is None else before.decode("utf-8", "replace"),
        resolves=exists,
    )
