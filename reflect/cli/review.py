"""`reflect review`: the operator's queue."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from reflect.cli.bench import bench_for
from reflect.cli.options import HERE, AsJson, Repository
from reflect.errors import ConfigurationError, ReflectError
from reflect.review.approving import approve as approve_item
from reflect.review.bench import Bench
from reflect.review.deciding import Done
from reflect.review.deciding import defer as defer_item
from reflect.review.deciding import edit as edit_item
from reflect.review.deciding import quarantine as quarantine_item
from reflect.review.deciding import reject as reject_item
from reflect.review.listing import Filter, as_json, listed, named
from reflect.review.words import WHY, in_full, one_line, outlook, printable
from reflect.scope.decided import Verb
from reflect.scope.review import ReviewItem, ReviewStatus

app = typer.Typer(help="The operator's queue: what waits for a person's word.", no_args_is_help=True)

Items = Annotated[list[str] | None, typer.Argument(metavar="[ITEM]...", help="Ids, whole or their first digits.")]
Statuses = Annotated[list[str] | None, typer.Option("--status", help="Items with this status.")]
Reasons = Annotated[list[str] | None, typer.Option("--reason", help="Items that are here for this reason.")]
Categories = Annotated[list[str] | None, typer.Option("--category", help="Items planned for this category.")]
Origins = Annotated[list[str] | None, typer.Option("--origin", help="Items with words of this origin.")]
All = Annotated[bool, typer.Option("--all", help="Every item; for a decision, every open one.")]
By = Annotated[str | None, typer.Option("--by", help="Who decides (default: git's user).")]
Note = Annotated[str, typer.Option("--note", "-m", help="Why; it is kept with the decision.")]
OrganisationFile = Annotated[
    Path | None,
    typer.Option(
        "--organisation",
        metavar="FILE",
        help="The organisation file (default: REFLECT_ORGANISATION): every project's queue and the organisation's own.",
    ),
]


@app.callback()
def about() -> None:
    """The operator's queue: what waits for a person's word."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """What the arguments of one call name."""

    names: tuple[str, ...]
    wanted: Filter
    everything: bool

    @property
    def says_nothing(self) -> bool:
        return not self.names and not self.everything and self.wanted == Filter()

    def of(self, bench: Bench) -> tuple[ReviewItem, ...]:
        """The items meant. Raises ConfigurationError where nothing is named: no decision is made by default."""
        if self.names:
            return tuple(item for item in named(bench, self.names) if self._also(item))
        if self.says_nothing:
            raise ConfigurationError(
                "No review item is named; nothing was changed; name one, or pass a filter or `--all`."
            )
        return listed(bench, self.wanted)

    def _also(self, item: ReviewItem) -> bool:
        return self.wanted == Filter() or self.wanted.admits(item)


def _selection(
    items: Sequence[str] | None,
    statuses: Sequence[str] | None,
    reasons: Sequence[str] | None,
    categories: Sequence[str] | None,
    origins: Sequence[str] | None,
    everything: bool,
) -> _Selection:
    for status in statuses or ():
        if status not in set(ReviewStatus):
            raise ConfigurationError(f"There is no status {status!r}; there are {', '.join(ReviewStatus)}.")
    wanted = Filter(tuple(statuses or ()), tuple(reasons or ()), tuple(categories or ()), tuple(origins or ()))
    return _Selection(tuple(items or ()), wanted, everything)


@app.command("list")
def list_items(
    status: Statuses = None,
    reason: Reasons = None,
    category: Categories = None,
    origin: Origins = None,
    everything: All = False,
    repo: Repository = HERE,
    organisation: OrganisationFile = None,
    as_json_: AsJson = False,
) -> int:
    """Show what waits, oldest first."""
    chosen = _selection(None, status, reason, category, origin, everything)
    with bench_for(repo, organisation, None, deciding=False) as bench:
        items = listed(bench, replace(chosen.wanted, whatever_status=everything))
    if as_json_:
        print(json.dumps({"items": [as_json(item) for item in items], "total": len(items)}))
        return 0
    print("\n".join(one_line(item) for item in items) or "Nothing waits for review.")
    return 0


@app.command()
def show(
    items: Items = None,
    status: Statuses = None,
    reason: Reasons = None,
    category: Categories = None,
    origin: Origins = None,
    everything: All = False,
    repo: Repository = HERE,
    organisation: OrganisationFile = None,
    as_json_: AsJson = False,
) -> int:
    """Show claim, evidence, why it is here, and what approving would do."""
    chosen = _selection(items, status, reason, category, origin, everything)
    with bench_for(repo, organisation, None, deciding=False) as bench:
        found = chosen.of(bench)
        if as_json_:
            print(json.dumps({"items": [_shown(bench, item) for item in found]}))
        else:
            print("\n".join(in_full(bench, item) for item in found), end="")
    return 0


@app.command()
def approve(
    items: Items = None,
    project: Annotated[str | None, typer.Option("--project", help="Show it in this project alone.")] = None,
    widen: Annotated[bool, typer.Option("--widen", help="Show it in every project of the organisation.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="The second yes, where nobody can be asked.")] = False,
    status: Statuses = None,
    reason: Reasons = None,
    category: Categories = None,
    origin: Origins = None,
    everything: All = False,
    by: By = None,
    repo: Repository = HERE,
    organisation: OrganisationFile = None,
    as_json_: AsJson = False,
) -> int:
    """Put a claim on a page: of its own project, or beyond it with a second yes.

    What it rests on is looked at again; where that changed, the item is left and says so.
    """
    if widen and project is not None:
        raise ConfigurationError("`--project` and `--widen` say different things; nothing was changed.")
    chosen = _selection(items, status, reason, category, origin, everything)

    def one(bench: Bench, item: ReviewItem) -> Done:
        confirmed = yes or (widen and not as_json_ and _second_yes(item))
        return approve_item(bench, item, project_id=project, widen=widen, confirmed=confirmed)

    return _decide_on(chosen, one, _Where(repo, organisation, by, as_json_))


@app.command()
def edit(
    items: Items = None,
    text: Annotated[str | None, typer.Option("--text", help="The claim in your own words.")] = None,
    to: Annotated[str | None, typer.Option("--category", help="The category it belongs in.")] = None,
    note: Note = "",
    status: Statuses = None,
    reason: Reasons = None,
    origin: Origins = None,
    by: By = None,
    repo: Repository = HERE,
    organisation: OrganisationFile = None,
    as_json_: AsJson = False,
) -> int:
    """Rewrite a claim, or move it. What you write is your word, and clean; what was asked is kept beside it."""
    if text is not None and len(items or ()) != 1:
        raise ConfigurationError("A text rewrites one review item; nothing was changed; name one.")
    chosen = _selection(items, status, reason, None, origin, False)
    where = _Where(repo, organisation, by, as_json_)
    return _decide_on(chosen, lambda bench, item: edit_item(bench, item, text, to, note), where)


@app.command()
def reject(
    items: Items = None,
    note: Note = "",
    status: Statuses = None,
    reason: Reasons = None,
    category: Categories = None,
    origin: Origins = None,
    everything: All = False,
    by: By = None,
    repo: Repository = HERE,
    organisation: OrganisationFile = None,
    as_json_: AsJson = False,
) -> int:
    """Refuse a claim. On the same evidence it is not asked again; with a note it teaches the triage step."""
    chosen = _selection(items, status, reason, category, origin, everything)
    return _decide_on(
        chosen, lambda bench, item: reject_item(bench, item, note), _Where(repo, organisation, by, as_json_)
    )


@app.command()
def defer(
    items: Items = None,
    until: Annotated[datetime | None, typer.Option("--until", formats=["%Y-%m-%d"], help="The day.")] = None,
    note: Note = "",
    status: Statuses = None,
    reason: Reasons = None,
    category: Categories = None,
    origin: Origins = None,
    everything: All = False,
    by: By = None,
    repo: Repository = HERE,
    organisation: OrganisationFile = None,
    as_json_: AsJson = False,
) -> int:
    """Put a question off, until a day or for a reason."""
    day: date | None = None if until is None else until.date()
    chosen = _selection(items, status, reason, category, origin, everything)
    return _decide_on(
        chosen, lambda bench, item: defer_item(bench, item, day, note), _Where(repo, organisation, by, as_json_)
    )


@app.command()
def quarantine(
    items: Items = None,
    note: Note = "",
    status: Statuses = None,
    reason: Reasons = None,
    category: Categories = None,
    origin: Origins = None,
    everything: All = False,
    by: By = None,
    repo: Repository = HERE,
    organisation: OrganisationFile = None,
    as_json_: AsJson = False,
) -> int:
    """Keep a claim aside: on no page, in no queue, shown to no engine."""
    chosen = _selection(items, status, reason, category, origin, everything)
    return _decide_on(
        chosen, lambda bench, item: quarantine_item(bench, item, note), _Where(repo, organisation, by, as_json_)
    )


@dataclass(frozen=True, slots=True)
class _Where:
    repo: Path
    organisation: Path | None
    by: str | None
    as_json: bool


def _decide_on(chosen: _Selection, one: Callable[[Bench, ReviewItem], Done], where: _Where) -> int:
    """Decide on every item meant. One that is refused stops none of the others; a single one fails the command."""
    done: list[Done] = []
    refused: list[tuple[ReviewItem, ReflectError]] = []
    with bench_for(where.repo, where.organisation, where.by) as bench:
        items = chosen.of(bench)
        for item in items:
            try:
                done.append(one(bench, item))
            except ReflectError as error:
                if len(items) == 1 and not where.as_json:
                    raise
                refused.append((item, error))
    if where.as_json:
        told = {
            "decided": [_told(result) for result in done],
            "refused": [{"id": item.id, "why": str(error)} for item, error in refused],
        }
        print(json.dumps(told))
    else:
        print("\n".join(map(_said, done)) or ("Nothing was decided." if refused else "No review item is meant."))
        for _, why in refused:
            print(f"reflect: {why}", file=sys.stderr)
    if not refused:
        return 0
    return 3 if done else max(why.exit_code for _, why in refused)


def _second_yes(item: ReviewItem) -> bool:
    """Ask the person at the terminal; False where there is none."""
    if not sys.stdin.isatty():
        return False
    print(printable(item.claim), file=sys.stderr)
    return typer.confirm("Every project of the organisation will be shown this. Approve it for all of them?", err=True)


def _shown(bench: Bench, item: ReviewItem) -> dict[str, Any]:
    return {
        **as_json(item),
        "why": [WHY[reason] for reason in item.reasons],
        "approving": list(outlook(bench, item)),
        "history": [one.model_dump(mode="json") for one in bench.ledger.decisions(item.project_id, item.id)],
    }


def _told(done: Done) -> dict[str, Any]:
    item = as_json(done.item)
    return {**item, "changed": done.changed, "landed_on": done.page, "wiki": done.folder}


def _said(done: Done) -> str:
    if not done.changed:
        return f"{done.item.id} is {done.item.status} already; nothing was changed."
    where = f" on {done.page} in {done.folder}" if done.page else ""
    edited = " edited and" if done.item.decision == Verb.EDIT else ""
    return f"{done.item.id} is{edited} {done.item.status} now{where}."
