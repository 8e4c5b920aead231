"""The engine of a run, told what it has to know of the repository it works on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from reflect.errors import RepositoryError
from reflect.evidence.inventory import take_inventory
from reflect.evidence.redaction import Redactor
from reflect.model import PageSummary
from reflect.pipeline.batches import BatchesInLedger
from reflect.pipeline.bill import Bill
from reflect.scope.context import ScopeContext
from reflect.scope.visibility import Candidate, exclusion
from reflect.triage.claude.estimating import Estimate
from reflect.triage.engine import Engine
from reflect.triage.engines import engine_named
from reflect.triage.premises import Premises
from reflect.workspace import Workspace

_LONGEST = 200


def engine_for(
    workspace: Workspace,
    name: str | None = None,
    corrections: Sequence[str] = (),
    bill: Bill | None = None,
    estimate: Estimate | None = None,
) -> Engine:
    """The engine called `name`, by default the configured one; what it asks goes into `bill`.

    With `estimate`, one that asks at a price only counts there what it would ask.
    Raises ConfigurationError for a name nobody knows.
    """
    bill = bill or Bill(workspace)
    premises = replace(premises_of(workspace), calls=bill, estimate=estimate, batches=BatchesInLedger(bill))
    return engine_named(name or workspace.config.engine, workspace.config, corrections=corrections, premises=premises)


def premises_of(workspace: Workspace) -> Premises:
    """What an engine is told of `workspace`. Nothing is read until it is asked for."""
    key = workspace.settings.anthropic_api_key
    return Premises(
        format=workspace.format,
        redact=Redactor(workspace.config.redact).redact,
        in_repository=_lookup(workspace),
        shows=_admission(workspace),
        api_key="" if key is None else key.get_secret_value(),
        base_url=workspace.settings.anthropic_base_url,
        answers=workspace.settings.state / "results" / "answers",
    )


def _admission(workspace: Workspace) -> Callable[[PageSummary], bool]:
    """Whether a page of the wiki may be seen here, by the function that decides it for every search."""

    @lru_cache(maxsize=1)
    def context() -> ScopeContext:
        found = take_inventory(workspace.git, workspace.default)
        known = (*found.checkpoints, *found.contents)
        return ScopeContext.of((), (), workspace.registry, workspace.project, known)

    def shows(page: PageSummary) -> bool:
        return exclusion(Candidate.of_page(page, context().scope_of_page(page)), workspace.project) is None

    return shows


def _lookup(workspace: Workspace) -> Callable[[str], bool]:
    """Whether an identifier occurs in a file, or in the name of one, at the tip of the default branch."""
    tip = next(iter(workspace.default.tips), None)

    @lru_cache(maxsize=1)
    def names() -> str:
        return "" if tip is None else workspace.git.run("ls-tree", "-r", "--name-only", tip).decode("utf-8", "replace")

    @lru_cache(maxsize=4096)
    def occurs(identifier: str) -> bool:
        if tip is None or not 1 < len(identifier) <= _LONGEST or "\n" in identifier:
            return False
        if identifier in names():
            return True
        try:
            return bool(workspace.git.run("grep", "-l", "-m1", "-F", "-e", identifier, tip))
        except RepositoryError:  # git says with an exit code of 1 that there is none
            return False

    return occurs
