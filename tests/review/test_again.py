"""What was decided holds for every later run: nothing refused is proposed by itself, nothing moved goes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from examples.sessions import GitRepository
from reflect.configuration import Format
from reflect.model import Finding, Outcome, PageSummary, Plan
from reflect.pipeline.intake import take_in
from reflect.pipeline.scope import bind_plan
from reflect.pipeline.triage import gather, plan_pages, reflect_on_session
from reflect.review.approving import approve
from reflect.review.deciding import defer, edit, quarantine, reject
from reflect.triage.extractive.engine import ExtractiveEngine
from tests.review.house import KINDS, NOW, PLAIN, STRAYED, Shop, alone, every_question, night, said
from tests.written import assert_page_written


def thrown_away(queue: Shop) -> None:
    """As where a wiki was never committed and its clone is gone: everything is read again."""
    (queue.folder / "wiki" / "log.md").unlink()


def fates(queue: Shop, *, planted: bool = False) -> dict[str, tuple[str, str]]:
    """What a run that reads everything again makes of each claim; `planted` plans them all as they were."""
    thrown_away(queue)
    intake = take_in(queue.workspace, ExtractiveEngine())
    engine = ExtractiveEngine()
    reflected = gather((one, reflect_on_session(engine, one), None) for one in intake.batch.sessions)
    findings = (*reflected.findings, *engine.reflect_on_commits(intake.batch.commits), *intake.carried)
    planned = plan_pages(engine, findings, intake, queue.workspace)
    bound = bind_plan(every_question(planned, intake) if planted else planned, intake, queue.workspace)
    told = {fate.finding.quote: (fate.outcome.value, fate.reason) for fate in bound.fates}
    return {kind: next((fate for quote, fate in told.items() if KINDS[kind] in quote), ("", "")) for kind in KINDS}


def test_a_rejected_claim_is_not_proposed_again_by_a_second_run(queue: Shop) -> None:
    with queue.bench() as bench:
        for kind in KINDS:
            reject(bench, queue.item(KINDS[kind]))
    before = queue.items()
    thrown_away(queue)
    report = night(queue.workspace)
    assert report.queued == 0
    assert queue.items() == before and {item.status for item in before} == {"rejected"}
    assert not [text for text in queue.pages().values() for claim in KINDS.values() if claim in text]
    reasons = {item.reason for item in report.evidence if item.outcome is Outcome.SKIPPED}
    assert any("an operator rejected it" in reason for reason in reasons)
    assert not [item for item in report.evidence if "waits for review" in item.reason]


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_claim_says_so_and_not_that_it_waits(queue: Shop, kind: str) -> None:
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS[kind]))
    assert fates(queue)[kind] == ("skipped", "an operator rejected it")


def test_what_was_put_aside_is_kept_aside_and_shown_to_no_engine(queue: Shop) -> None:
    with queue.bench() as bench:
        quarantine(bench, queue.item(KINDS["strayed"]))
    thrown_away(queue)
    engine, workspace = Listening(), queue.workspace
    intake = take_in(workspace, engine)
    found = gather((one, reflect_on_session(engine, one), None) for one in intake.batch.sessions).findings
    planned = plan_pages(engine, found, intake, workspace)
    assert any(KINDS["strayed"] in one.quote for one in found) and engine.heard
    assert not [quote for quote in engine.heard if KINDS["strayed"] in quote]
    (fate,) = [fate for fate in planned.fates if KINDS["strayed"] in fate.finding.quote]
    assert (fate.outcome, fate.reason) == ("quarantined", "an operator put it aside")


def test_refused_words_that_are_said_again_are_asked_about_and_written_by_nobody(queue: Shop) -> None:
    """R1 would write them: a person said them in the project. An operator's earlier no makes it a question."""
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS["strayed"]), "we talked about it")
    queue.git.checkpoint_branch([("eeeeeeeeeeee", [said("s5", queue.git.path, STRAYED)])])
    report = night(queue.workspace)
    assert report.queue_reasons == {"refused_before": 1}
    (asked,) = queue.items("pending") and [item for item in queue.items("pending") if STRAYED in item.claim]
    assert asked.reasons == ("refused_before",) and asked.approvable
    assert not [text for text in queue.pages().values() if STRAYED in text]
    with queue.bench() as bench:
        page = approve(bench, asked).page
    assert page is not None
    text = queue.page(page)
    assert_page_written(text, project="shop", scope_source="operator")


def test_what_was_approved_after_a_no_is_no_question_any_more(queue: Shop) -> None:
    """R1 for the third time it is said; the later of two decisions on the same words counts."""
    with queue.bench() as bench:
        reject(bench, queue.item(KINDS["strayed"]))
    queue.git.checkpoint_branch([("eeeeeeeeeeee", [said("s5", queue.git.path, STRAYED)])])
    night(queue.workspace)
    (again,) = [item for item in queue.items("pending") if STRAYED in item.claim]
    with queue.bench() as bench:
        page = approve(replace(bench, at=NOW + timedelta(days=1)), again).page
    assert page is not None
    (queue.folder / "wiki" / page).unlink()
    queue.git.checkpoint_branch([("ffffffffffff", [said("s6", queue.git.path, STRAYED)])])
    report = night(queue.workspace)
    assert report.queued == 0
    (written,) = [text for text in queue.pages().values() if STRAYED in text]
    assert_page_written(written, project="shop", scope_source="extraction_default")


def test_a_claim_that_was_moved_stays_where_it_was_put(queue: Shop) -> None:
    """R1: the same claim, said again where it belongs, is written under the category the operator chose."""
    with queue.bench() as bench:
        edit(bench, queue.item(KINDS["strayed"]), category="architecture", reason="it is about the provider")
    queue.git.checkpoint_branch([("eeeeeeeeeeee", [said("s5", queue.git.path, STRAYED)])])
    report = night(queue.workspace)
    (page,) = [change.path for change in report.pages if STRAYED in queue.page(change.path)]
    assert page.startswith("architecture/")
    text = queue.page(page)
    assert_page_written(text, project="shop", scope_source="extraction_default")


def test_what_was_put_off_still_waits_and_is_asked_once(queue: Shop) -> None:
    with queue.bench() as bench:
        defer(bench, queue.item(KINDS["strayed"]), reason="later")
    assert fates(queue, planted=True)["strayed"] == ("quarantined", "waits for review: workspace_outside_project")
    assert len([item for item in queue.items() if STRAYED in item.claim]) == 1


def test_what_was_approved_counts_as_compiled_when_it_is_read_again(queue: Shop) -> None:
    with queue.bench() as bench:
        approve(bench, queue.item(KINDS["wide"]), widen=True, confirmed=True)
    assert fates(queue, planted=True)["wide"] == ("compiled", "an operator approved it")


def test_findings_that_wait_keep_what_is_known_of_all_their_sessions(queue: Shop, tmp_path: Path) -> None:
    """R1 fails for the finding because a session that only says the same strayed: also when it is taken up later."""
    repository = GitRepository.create(tmp_path / "shop")
    repository.commit("feat: x", {"x.py": "", ".reflect/config.yaml": "project_id: shop\nmax_new_pages: 0\n"})
    repository.checkpoint_branch(
        [
            ("aaaaaaaaaaaa", [said("s1", repository.path, PLAIN)]),
            ("bbbbbbbbbbbb", [said("s2", repository.path, PLAIN, strayed=True)]),
        ]
    )
    alike = Shop(repository, queue.settings.model_copy(update={"state_dir": tmp_path / "state"}))
    night(alike.workspace)
    with alike.ledger() as ledger:
        (waits,) = ledger.pending_findings("shop", frozenset())
        kept = {episode.id: episode for episode in ledger.pending_episodes("shop", frozenset())}
    assert set(kept) == set(waits.evidence_ids) and len(kept) == 2
    assert any("/somewhere/else" in episode.directories for episode in kept.values())
    assert all(episode.content for episode in kept.values())
    repository.commit("chore: room", {".reflect/config.yaml": "project_id: shop\nmax_new_pages: 9\n"})
    report = night(alike.workspace, lambda plan, intake: Plan(actions=tuple(alone(one) for one in intake.carried)))
    assert report.queue_reasons == {"workspace_outside_project": 1} and not report.pages
    assert all(one.sha256 for one in alike.items()[0].evidence_items), "and their content, for the day it is approved"


class Listening(ExtractiveEngine):
    """The real engine, which remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def plan(
        self, findings: Sequence[Finding], pages: Sequence[PageSummary], format: Format, max_new_pages: int
    ) -> Plan:
        self.heard += [finding.quote for finding in findings]
        return super().plan(findings, pages, format, max_new_pages)
