"""What a run did: the account of every piece of evidence, and the report made from it.

The report is one value with three written forms: the object `--json` prints, the markdown a person reads (in the
terminal and as an artifact in the Prefect UI), and the row the ledger keeps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from reflect.model import Accounted, Commit, Fate, Outcome, Session, Source, Value, evidence_kind
from reflect.publish.policy import Published

_WEIGHT = {Outcome.SKIPPED: 0, Outcome.QUARANTINED: 1, Outcome.COMPILED: 2, Outcome.PENDING: 3}
"""Which of several verdicts speaks for a piece of evidence: a finding that still waits keeps it open."""

NO_LESSON = "nothing in it reads as a lesson"


class PageChange(Value):
    """One page the run touched."""

    path: str
    action: str
    sources: tuple[Source, ...] = ()
    reason: str = ""
    digest: bool = False


class Spend(Value):
    """What the run's model calls cost; all zero for an engine that calls none."""

    usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0


class Teaching(Value):
    """How the run's sessions could teach: in full, through the person's words alone, or not at all; and why."""

    clean: int = 0
    user_turns: int = 0
    automated: int = 0
    reasons: dict[str, int] = Field(default_factory=dict)


class RunReport(Value):
    """Everything one run has to say. `outcomes` always add up to `collected`."""

    project: str
    run: str
    engine: str
    evidence: tuple[Accounted, ...] = ()
    pages: tuple[PageChange, ...] = ()
    failed_pages: tuple[PageChange, ...] = ()
    queued: int = 0
    queue_reasons: dict[str, int] = Field(default_factory=dict)
    teaching: Teaching = Teaching()
    spend: Spend = Spend()
    left_out_commits: int = 0
    redactions: int = 0
    notes: tuple[str, ...] = ()
    dry_run: bool = False
    started_at: datetime | None = None
    finished_at: datetime | None = None
    published: Published | None = None

    def with_archived(self, moves: Iterable[tuple[str, str]]) -> RunReport:
        """The same with the pages that were moved (from, to) after the rest had landed."""
        archived = (PageChange(path=path, action="archive", reason=f"moved to {to}") for path, to in moves)
        return self.model_copy(update={"pages": (*self.pages, *archived)})

    def with_notes(self, notes: Iterable[str]) -> RunReport:
        """The same with `notes` of what followed the landing."""
        return self.model_copy(update={"notes": (*self.notes, *notes)})

    def with_published(self, published: Published) -> RunReport:
        """The same with what became of the write-back."""
        return self.model_copy(update={"published": published})

    @property
    def collected(self) -> dict[str, int]:
        kinds = Counter(f"{item.kind}s" for item in self.evidence)
        return {"sessions": kinds["sessions"], "commits": kinds["commits"]}

    @property
    def outcomes(self) -> dict[str, int]:
        counted = Counter(item.outcome for item in self.evidence)
        return {outcome.value: counted[outcome] for outcome in Outcome}

    @property
    def nothing_new(self) -> bool:
        return not self.evidence

    @property
    def exit_code(self) -> int:
        unpublished = self.published is not None and not self.published.is_done
        return 3 if self.failed_pages or unpublished else 0

    def as_json(self) -> dict[str, Any]:
        """The object of `reflect ingest --json`."""
        return {
            "project": self.project,
            "run": self.run,
            "engine": self.engine,
            "nothing_new": self.nothing_new,
            "dry_run": self.dry_run,
            "collected": self.collected,
            "outcomes": self.outcomes,
            "evidence": [item.model_dump(mode="json") for item in self.evidence],
            "pages": [_page_json(page) for page in self.pages],
            "failed_pages": [_page_json(page) for page in self.failed_pages],
            "review": {"queued": self.queued, "reasons": self.queue_reasons},
            "teaching": self.teaching.model_dump(mode="json"),
            "spend": self.spend.model_dump(mode="json"),
            "left_out": {"commits": self.left_out_commits},
            "redactions": self.redactions,
            "notes": list(self.notes),
            "published": self.published.model_dump(mode="json") if self.published else None,
        }


def account(
    sessions: Iterable[Session],
    commits: Iterable[Commit],
    settled: Iterable[Accounted],
    fates: Sequence[Fate],
    carried: Iterable[str] = (),
    on_pages: Iterable[str] = (),
) -> tuple[Accounted, ...]:
    """One outcome for each piece of evidence, ordered by kind and id.

    `fates` says where every finding went, those that were written included (as compiled); `carried` are ids of evidence
    that an earlier run left pending, and `on_pages` those of them that stand on a page already.
    """
    verdicts: dict[str, list[tuple[Outcome, str]]] = {item.id: [(item.outcome, item.reason)] for item in settled}
    verdicts |= {evidence: [] for evidence in (*(s.id for s in sessions), *(c.id for c in commits), *carried)}
    for evidence in on_pages:
        verdicts[evidence].append((Outcome.COMPILED, "on a page of an earlier run"))
    for fate in fates:
        for evidence in fate.finding.evidence_ids:
            if evidence in verdicts:
                verdicts[evidence].append((fate.outcome, fate.reason))
    accounted = (_outcome(evidence, found) for evidence, found in verdicts.items())
    return tuple(sorted(accounted, key=lambda item: (item.kind.value, item.id)))


def teaching(sessions: Iterable[Session], modes: Mapping[str, str]) -> Teaching:
    """How many of `sessions` were clean, how many taught through the person's words alone, and what tainted them."""
    clean = user_turns = automated = 0
    reasons: Counter[str] = Counter()
    for session in sessions:
        if session.automated:
            automated += 1
        elif modes[session.id] == "full":
            clean += 1
        else:
            user_turns += 1
            reasons[_culprit(session)] += 1
    return Teaching(clean=clean, user_turns=user_turns, automated=automated, reasons=dict(sorted(reasons.items())))


def render_markdown(report: RunReport) -> str:
    """The report as a person reads it."""
    collected, outcomes = report.collected, report.outcomes
    lines = [
        f"# {report.project}: run `{report.run}`" + (" (dry run: nothing was written)" if report.dry_run else ""),
        "",
        f"Collected {collected['sessions']} sessions and {collected['commits']} commits with the "
        f"`{report.engine}` engine; {report.queued} claims wait for review.",
        "",
        "| compiled | skipped | quarantined | pending |",
        "|---:|---:|---:|---:|",
        "| " + " | ".join(str(outcomes[outcome.value]) for outcome in Outcome) + " |",
    ]
    lines += _table("Pages", ("page", "what", "why"), [(f"`{p.path}`", p.action, p.reason) for p in report.pages])
    failed = [(f"`{p.path}`", p.action, p.reason) for p in report.failed_pages]
    lines += _table("Pages left as they were", ("page", "wanted", "why not"), failed)
    reasons = Counter((item.outcome.value, _in_short(item)) for item in report.evidence)
    rows = [(outcome, str(count), reason) for (outcome, reason), count in sorted(reasons.items())]
    lines += _table("Where the evidence went", ("outcome", "how many", "why"), rows)
    taught = report.teaching
    lines += [
        "",
        "## How sessions could teach",
        "",
        f"{taught.clean} in full, {taught.user_turns} through the person's words alone, {taught.automated} without a "
        "person.",
    ]
    lines += [f"- {count} because of {reason}" for reason, count in taught.reasons.items()]
    queue = [(reason, str(count)) for reason, count in sorted(report.queue_reasons.items())]
    lines += _table("Why claims wait for review", ("reason", "how many"), queue)
    notes = list(report.notes)
    if report.left_out_commits:
        notes.append(f"{report.left_out_commits} commits older than the seed window were left out.")
    if report.redactions:
        notes.append(f"{report.redactions} secrets were removed from what was read.")
    if report.published is not None:
        lines += _published(report.published)
    if notes:
        lines += ["", "## Notes", "", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _published(published: Published) -> list[str]:
    where = " ".join(part for part in (published.commit[:12], published.url) if part)
    lines = ["", "## Write-back", "", f"{published.mode}: {published.outcome}. {published.reason} {where}".rstrip()]
    if published.diff:
        ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", published.diff)), default=0))
        lines += ["", f"{ticks}diff", published.diff.rstrip("\n"), ticks]
    return lines


def _outcome(evidence: str, verdicts: Sequence[tuple[Outcome, str]]) -> Accounted:
    found = verdicts or [(Outcome.SKIPPED, NO_LESSON)]
    strongest = max((outcome for outcome, _ in found), key=_WEIGHT.__getitem__)
    reasons = {reason for outcome, reason in found if outcome is strongest}
    return Accounted(id=evidence, kind=evidence_kind(evidence), outcome=strongest, reason="; ".join(sorted(reasons)))


def _culprit(session: Session) -> str:
    return session.tainted_by.split(" at line ")[0] or "an unknown beginning"


def _in_short(item: Accounted) -> str:
    """The reason as a table shows it: the pages themselves are listed above."""
    return "stands on a page" if item.outcome is Outcome.COMPILED else item.reason


def _page_json(page: PageChange) -> dict[str, Any]:
    return {
        "path": page.path,
        "action": page.action,
        "sources": [{source.kind.value: source.id} for source in page.sources],
        "reason": page.reason,
        "digest": page.digest,
    }


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return [
        "",
        f"## {title}",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in cells),
    ]
