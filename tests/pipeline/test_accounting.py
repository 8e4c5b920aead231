"""One outcome for each piece of evidence, whatever became of the findings in it."""

from __future__ import annotations

from reflect.model import Accounted, EvidenceBatch, EvidenceId, EvidenceKind, Fate, Outcome
from reflect.pipeline.intake import Intake, evidence_texts
from reflect.report import RunReport, account
from reflect.wiki.store import WikiState
from tests.scope.cases import commit, finding, page, session
from tests.triage.builders import session as spoken

ONE = session(1)


def intake(*carried_quotes: str, batch: EvidenceBatch | None = None, wiki: WikiState | None = None) -> Intake:
    carried = tuple(finding(ONE, quote) for quote in carried_quotes)
    return Intake("run", batch or EvidenceBatch(), carried, wiki or WikiState(), False, (), "")


def fate(outcome: Outcome, quote: str, reason: str = "why") -> Fate:
    return Fate(finding=finding(ONE, quote), outcome=outcome, reason=reason)


def test_findings_with_different_fates_are_one_outcome() -> None:
    fates = [fate(Outcome.SKIPPED, "a"), fate(Outcome.COMPILED, "b", "on b.md"), fate(Outcome.QUARANTINED, "c")]
    (item,) = account([ONE], [], [], fates)
    assert (item.outcome, item.reason) == (Outcome.COMPILED, "on b.md")
    (item,) = account([ONE], [], [], [*fates, fate(Outcome.PENDING, "d", "beyond the cap")])
    assert (item.outcome, item.reason) == (Outcome.PENDING, "beyond the cap")


def test_evidence_settled_while_it_was_read_stays_open_where_a_finding_of_it_waits() -> None:
    settled = Accounted(id=ONE.id, kind=EvidenceKind.SESSION, outcome=Outcome.SKIPPED, reason="nothing new")
    (item,) = account([], [], [settled], [fate(Outcome.PENDING, "a", "beyond the cap")])
    assert (item.outcome, item.reason) == (Outcome.PENDING, "beyond the cap")


def test_evidence_that_stands_on_a_page_is_not_called_skipped_when_its_last_finding_is() -> None:
    standing = WikiState(pages=(page(sources=(finding(ONE).source,)),))
    taken = intake("a", wiki=standing)
    (item,) = account([], [], [], [fate(Outcome.SKIPPED, "a")], taken.carried_evidence, taken.on_pages)
    assert item.outcome is Outcome.COMPILED
    nowhere = intake("a", wiki=WikiState(pages=(page(sources=(finding(session(2)).source,)),)))
    (item,) = account([], [], [], [fate(Outcome.SKIPPED, "a")], nowhere.carried_evidence, nowhere.on_pages)
    assert item.outcome is Outcome.SKIPPED


def test_evidence_of_other_runs_is_not_counted_again() -> None:
    quoted = finding(ONE, corroborated_by=(commit(1).id, session(7).id))
    found = account([], [commit(1)], [], [Fate(finding=quoted, outcome=Outcome.COMPILED, reason="on x.md")])
    assert [(item.id, item.outcome) for item in found] == [(commit(1).id, Outcome.COMPILED)]
    report = RunReport(project="p", run="r", engine="e", evidence=found)
    assert sum(report.outcomes.values()) == sum(report.collected.values()) == 1


def test_a_quote_that_waits_is_known_although_its_session_has_grown() -> None:
    grown = spoken({"prompt": "and one more thing"})
    carried = finding(ONE, "never store prices as floats").model_copy(update={"evidence_id": grown.id})
    batch = EvidenceBatch(sessions=(grown,), contents={EvidenceId(grown.id): "new"})
    words = evidence_texts(Intake("run", batch, (carried,), WikiState(), False, (), ""))[grown.id]
    assert "never store prices as floats" in words and "and one more thing" in words
