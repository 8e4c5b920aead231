"""A review item as a person reads it: the claim, what it rests on, why it is here, and what approving would do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from reflect.errors import ReflectError
from reflect.model import EvidenceMode, Origin
from reflect.pipeline.approved import Destination, draft_approved
from reflect.review.bench import Bench
from reflect.review.drift import drift_of
from reflect.scope.approval import Choice, settle, widening
from reflect.scope.decided import Decided, decided_item
from reflect.scope.review import ReviewEvidence, ReviewItem, ReviewStatus
from reflect.scope.vocabulary import ORGANISATION, Reason

WHY: Mapping[Reason, str] = {
    Reason.MALFORMED_PROPOSAL: "The proposal was not well-formed.",
    Reason.EMPTY_EVIDENCE: "It rests on nothing.",
    Reason.EVIDENCE_MISSING: "Something it rests on could not be found.",
    Reason.EVIDENCE_SCOPE_UNRESOLVED: "Something it rests on does not say whose it is.",
    Reason.CROSS_PROJECT_EVIDENCE: "It rests on several projects.",
    Reason.GLOBAL_ONLY_EVIDENCE: "It rests on no project.",
    Reason.NON_PROJECT_EPISODE: "Something it rests on happened in no project.",
    Reason.PROJECT_UNREGISTERED: "Its project is not registered.",
    Reason.PROJECT_MEMORY_DISABLED: "Memory is switched off for its project.",
    Reason.NO_ACTIVE_WORKSPACE: "No directory was at work when it was proposed.",
    Reason.WORKSPACE_UNRESOLVABLE: "The directory at work was no place on this machine.",
    Reason.WORKSPACE_OUTSIDE_PROJECT: "A session behind it worked outside the project.",
    Reason.SCOPE_VERDICT_CONFLICT: "A scope reasoner said otherwise.",
    Reason.WORKSPACE_INFERRED: "Where its session ran is known by inference only.",
    Reason.TARGET_PAGE_IS_GLOBAL: "The page it would change is shown to everyone.",
    Reason.REFUSED_BEFORE: "An operator refused these words before; they were said again.",
    Reason.UNTRUSTED_ORIGIN: "An outsider could have written its words.",
    Reason.DERIVED_ORIGIN: "Its words are an agent's or a machine's, not a person's.",
}

_WHOSE = {
    Origin.CLEAN: "the organisation's own",
    Origin.UNTRUSTED: "words an outsider could have written",
    Origin.DERIVED: "an agent's or a machine's words",
}
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def printable(text: str) -> str:
    """`text` on one line without what could steer a terminal or turn the direction of reading."""
    folded = " ".join(text.split())
    return "".join("�" if unicodedata.category(char) in _INVISIBLE else char for char in folded)


def one_line(item: ReviewItem) -> str:
    later = f" until {item.deferred_until}" if item.deferred_until else ""
    reasons = ", ".join(item.reasons) or "rewritten by its owner"
    return f"{item.id}  {item.status}{later}  {item.project_id}  [{reasons}]  {printable(item.claim)[:100]}"


def in_full(bench: Bench, item: ReviewItem) -> str:
    """Everything an operator needs to decide on `item`."""
    lines = [f"{item.id} · {item.project_id} · {item.status}", "", "Claim", f"  {printable(item.claim)}"]
    if item.original_claim is not None and item.edited_at is not None:
        lines += [f"  rewritten by {item.edited_by} on {item.edited_at.date()}; it was asked as:"]
        lines += [f"  {printable(item.original_claim)}"]
    lines += ["", f"Whose words: {_whose(item)}", "", "Evidence"]
    lines += [line for one in item.evidence_items for line in _evidence(one)]
    lines += ["", "Why it is here", *(f"  {why}" for why in why_here(item))]
    lines += ["", "What approving would do", *(f"  {line}" for line in outlook(bench, item))]
    history = bench.ledger.decisions(item.project_id, item.id)
    if history:
        lines += ["", "Decided so far", *(f"  {_decision(one)}" for one in history)]
    return "\n".join(lines) + "\n"


def why_here(item: ReviewItem) -> tuple[str, ...]:
    """Every reason in words, with its name."""
    reasons = tuple(f"{WHY[reason]} ({reason})" for reason in item.reasons)
    return reasons or ("Its owner rewrote it, and nothing else stood in its way: approving writes it.",)


def outlook(bench: Bench, item: ReviewItem) -> tuple[str, ...]:
    """What each way of approving would do, or why there is none."""
    if item.status is ReviewStatus.APPROVED:
        return (f"It was approved for {item.target_project or 'the whole organisation'}.",)
    if not item.is_open and item.status is not ReviewStatus.EXPIRED_EVIDENCE:
        return (f"It cannot be approved: it is {item.status}. `reflect review edit {item.id}` opens it again.",)
    if not item.approvable:
        return (
            "It cannot be approved as it stands: approving settles who may see a lesson, not whose words they are.",
            f"Write it in your own words first: `reflect review edit {item.id} --text '…'`.",
        )
    try:
        drift = drift_of(bench, item)
    except ReflectError as error:
        return (str(error),)
    if drift is not None:
        return (f"It cannot be approved: {drift.why}.",)
    return (*_for_project(bench, item), *_for_everyone(bench, item))


def _for_project(bench: Bench, item: ReviewItem) -> Iterator[str]:
    if item.narrowest_scope is None:
        yield "It belongs to no single project: `--project P` puts it into the wiki of P alone."
        return
    place = bench.destination(item.narrowest_scope)
    where = _where(bench, item, Choice.APPROVE_PROJECT, item.narrowest_scope, place)
    yield f"`reflect review approve {item.id}` shows it in `{item.narrowest_scope}` alone (scope: project): {where}"


def _for_everyone(bench: Bench, item: ReviewItem) -> Iterator[str]:
    choice = widening(item)
    what = "a standing rule for every project" if choice is Choice.APPROVE_PREFERENCE else "shown in every project"
    where = _where(bench, item, choice, None, bench.organisation)
    yield f"`reflect review approve {item.id} --widen` makes it {what} (scope: global), after a second yes: {where}"


def _where(bench: Bench, item: ReviewItem, choice: Choice, project_id: str | None, place: Destination | None) -> str:
    if place is None:
        return "its repository is not on this machine."
    decided = Decided.approval(choice, project_id, by=bench.by, at=bench.at)
    try:
        approval = settle(item, choice, project_id, bench.registry)
        draft = draft_approved(decided_item(item, (decided,)), approval, place)
    except ReflectError as error:
        return f"it would be refused: {error}"
    whose = "the organisation's own wiki" if place.project_id == ORGANISATION else f"the wiki of `{place.project_id}`"
    return f"{draft.action} {draft.path} in {whose}."


def _whose(item: ReviewItem) -> str:
    tainted = "; something foreign had entered the session" if item.session_tainted else ""
    shown = "the person's own words alone" if item.evidence is EvidenceMode.USER_TURNS else "everything"
    return f"{_WHOSE[item.origin]} ({item.origin}); the engine was shown {shown}{tainted}"


def _evidence(one: ReviewEvidence) -> Iterable[str]:
    scope = "says nothing of its scope" if one.scope is None else f"{one.scope} {one.project_id or ''}".strip()
    yield f"  {printable(one.id)} ({scope})"
    if one.excerpt:
        yield f"    > {printable(one.excerpt)}"


def _decision(one: Decided) -> str:
    said = one.choice or one.verb
    where = f" for {one.project_id}" if one.project_id else ""
    note = f": {printable(one.note)}" if one.note else ""
    return f"{one.at:%Y-%m-%d %H:%M} {one.by}: {said}{where}{note}"
