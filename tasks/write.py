"""Write, as one Prefect task per page, several at a time."""

from __future__ import annotations

import logging

from prefect import task
from prefect.cache_policies import NO_CACHE

from reflect.pipeline.intake import Intake
from reflect.pipeline.scope import Bound
from reflect.pipeline.write import Desk, Written, gather
from reflect.scope.resolve import BoundAction
from reflect.triage.engine import Engine
from reflect.wiki.draft import PageDraft
from reflect.workspace import Workspace
from tasks.parallel import over
from tasks.sealed import sealed

logger = logging.getLogger("reflect.write")

WORKERS = 4


@task(name="write page", task_run_name="write · {path}", cache_policy=NO_CACHE)
def write_page(desk: Desk, bound: BoundAction, path: str) -> PageDraft:
    """The draft of one page."""
    return desk.write(bound)


def write_pages(engine: Engine, bound: Bound, intake: Intake, workspace: Workspace) -> Written:
    """The drafts of all pages. A page that cannot be written is left as it is, and takes no other down."""
    logger.info("write: drafting %d pages", len(bound.writes))
    desk = Desk.of(engine, bound, intake, workspace)

    def one(bound_action: BoundAction) -> PageDraft:
        return write_page(sealed(desk), sealed(bound_action), bound_action.action.path)

    answers = over(bound.writes, one, WORKERS, "drafting pages")
    return gather((done.item, done.result, done.error) for done in answers).linking_to(intake.wiki)
