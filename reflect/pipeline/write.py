"""Write: one page's draft from one bound action. Drafts are values; nothing is on disk before the landing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reflect.errors import EngineError, PageError, WikiError
from reflect.evidence.redaction import Redactor
from reflect.model import Action, Fate, Outcome, PageSummary
from reflect.pipeline.intake import Intake
from reflect.pipeline.scope import Bound, fates_of
from reflect.report import PageChange
from reflect.scope.resolve import BoundAction
from reflect.triage.engine import Engine, Later, NoChanges, Unusable
from reflect.wiki.draft import PageDraft, draft_page, without_missing_links
from reflect.wiki.related import Neighbours
from reflect.wiki.store import Wiki, WikiState
from reflect.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Drafted:
    """A bound action with the page it would make."""

    bound: BoundAction
    draft: PageDraft


@dataclass(frozen=True, slots=True)
class Written:
    """Every draft of a run; `failed` are pages left as they were, and `fates` where their findings went.

    `waiting` is what was not written because there is no answer to it in this run.
    """

    drafted: tuple[Drafted, ...] = ()
    failed: tuple[PageChange, ...] = ()
    fates: tuple[Fate, ...] = ()
    waiting: tuple[Action, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for one in self.drafted for note in one.draft.notes)

    def without(self, refused: Mapping[str, str], outcome: Outcome) -> Written:
        """The same without the pages in `refused` (path to reason); their findings get `outcome`."""
        out = [one.bound for one in self.drafted if one.draft.path in refused]
        return replace(
            self,
            drafted=tuple(one for one in self.drafted if one.draft.path not in refused),
            failed=(*self.failed, *(_failure(bound, refused[bound.action.path]) for bound in out)),
            fates=(*self.fates, *(f for b in out for f in fates_of(b.action, refused[b.action.path], outcome))),
        )

    def linking_to(self, wiki: WikiState) -> Written:
        """The same without links to pages of this run that come to nothing."""
        if not (self.failed or self.waiting):
            return self
        standing = wiki.paths | {page.path for page in wiki.archived} | {one.draft.path for one in self.drafted}
        drafted = (replace(one, draft=without_missing_links(one.draft, standing)) for one in self.drafted)
        return replace(self, drafted=tuple(drafted))


@dataclass(frozen=True, slots=True)
class Desk:
    """What is needed to write any page of one run, made once."""

    engine: Engine
    wiki: Wiki
    pages: Mapping[str, PageSummary]
    neighbours: Neighbours
    max_lines: int
    finds: Callable[[str], Sequence[str]]

    @classmethod
    def of(cls, engine: Engine, bound: Bound, intake: Intake, workspace: Workspace) -> Desk:
        redactor = Redactor(workspace.config.redact, keep=intake.batch.known)
        return cls(
            engine=engine,
            wiki=workspace.wiki,
            pages={page.path: page for page in intake.wiki.pages},
            neighbours=Neighbours.of(intake.wiki, [one.action for one in bound.writes]),
            max_lines=workspace.format.max_lines,
            finds=redactor.finds,
        )

    def write(self, bound: BoundAction) -> PageDraft:
        """The draft for `bound`: the engine's words, in the layout and with the citations and links that code owns.

        Raises PageError, WikiError or EngineError where the page cannot be written; its bytes stay as they are.
        """
        action = bound.action
        if bound.keys is None:
            raise PageError(f"{action.path} has no scope keys; nothing was written.")
        return draft_page(
            action,
            self.engine.write(action, self.pages.get(action.path)),
            self.wiki.content(action.path),
            keys=bound.keys.as_frontmatter(),
            neighbours=self.neighbours,
            max_lines=self.max_lines,
            finds=self.finds,
        )


def gather(answers: Iterable[tuple[BoundAction, PageDraft | None, Exception | None]]) -> Written:
    """Put the drafts together. Raises what is neither the page's nor the engine's fault: it is ours."""
    written = Written()
    for bound, draft, error in answers:
        if draft is not None:
            written = replace(written, drafted=(*written.drafted, Drafted(bound, draft)))
        elif isinstance(error, NoChanges):
            fates = fates_of(bound.action, str(error), Outcome.SKIPPED)
            written = replace(written, fates=(*written.fates, *fates))
        elif isinstance(error, Later):
            fates = fates_of(bound.action, str(error), Outcome.PENDING)
            written = replace(written, waiting=(*written.waiting, bound.action), fates=(*written.fates, *fates))
        elif isinstance(error, (PageError, WikiError, EngineError)):
            reason = str(error)
            outcome = Outcome.QUARANTINED if isinstance(error, Unusable) else Outcome.PENDING
            fates = fates_of(bound.action, reason, outcome)
            failed = (*written.failed, _failure(bound, reason))
            written = replace(written, failed=failed, fates=(*written.fates, *fates))
        elif error is not None:
            raise error
    return written


def _failure(bound: BoundAction, reason: str) -> PageChange:
    return PageChange(path=bound.action.path, action=bound.action.operation.value, reason=reason)
