"""Pages say what their sources say: verbatim, in order, the newest statement first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import yaml

from reflect.configuration import DEFAULT_FORMAT, Format
from reflect.model import Action, EvidenceMode, Operation, PageContent, Session, Taint
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.extractive.headlines import of_sentence
from tests.triage.builders import START, commit, page, session
from tests.triage.planted import cases, evidence

ENGINE = ExtractiveEngine()
FORMAT = Format.model_validate(yaml.safe_load(DEFAULT_FORMAT))


def _spoken(*texts: str, **more: Any) -> list[Session]:
    return [
        session({"prompt": "Go."}, {"reply": "Ok."}, {"prompt": text}, number=n, at=START + timedelta(days=n), **more)
        for n, text in enumerate(texts)
    ]


def _pages(
    sessions: list[Session], commits: Any = (), mode: EvidenceMode = EvidenceMode.USER_TURNS
) -> list[PageContent]:
    findings = [each for one in sessions for each in ENGINE.reflect(one, mode)]
    findings += ENGINE.reflect_on_commits(commits)
    made = ENGINE.plan(findings, (), FORMAT, 100)
    return [ENGINE.write(action, None) for action in made.actions]


def _texts(content: PageContent) -> list[str]:
    return [passage.text for section in content.sections for passage in section.passages]


@pytest.mark.parametrize("name", ["planted", "held_out"])
def test_every_passage_is_verbatim_in_each_piece_of_evidence_that_carries_it(name: str) -> None:
    sessions, commits = evidence(cases(name))
    texts = {one.id: " ".join(f"{t.text} {t.about}" for t in one.turns) for one in sessions}
    texts |= {one.id: f"{one.subject} {one.body}" for one in commits}
    folded = {key: " ".join(text.split()) for key, text in texts.items()}
    mode = {one.id: EvidenceMode.FULL if one.taint is Taint.CLEAN else EvidenceMode.USER_TURNS for one in sessions}
    findings = [each for one in sessions for each in ENGINE.reflect(one, mode[one.id])]
    made = ENGINE.plan([*findings, *ENGINE.reflect_on_commits(commits)], (), FORMAT, 200)
    passages = [p for a in made.actions for s in ENGINE.write(a, None).sections for p in s.passages]
    assert len(passages) > 20
    for passage in passages:
        assert passage.quoted
        assert all(passage.text in folded[each] for each in passage.evidence_ids)  # type: ignore[index]


def test_a_title_says_no_more_than_its_source() -> None:
    (content,) = _pages(_spoken("no, the export has to stay readable for Excel 2016"))
    assert content.title == "The export has to stay readable for Excel 2016"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "so i guess we just need one queue per tenant, nobody wants to wait for the big ones",
            "We need one queue per tenant",
        ),
        ("never log tokens", "Never log tokens"),
        ("no longer ship the demo data", "No longer ship the demo data"),
        (
            "also please keep the test fixtures small because the suite has to stay below a minute",
            "Keep the test fixtures small",
        ),
        (
            "the importer must not retry, unless the provider says that it may be tried again later today",
            "The importer must not retry, unless the provider says that it may be tried again …",
        ),
        (
            "when a tenant is deleted, its exports have to be deleted as well, also those in the archive",
            "When a tenant is deleted, its exports have to be deleted as well",
        ),
        (
            "sort the ledger by booking day (not by import day, that one moves) before it is exported",
            "Sort the ledger by booking day",
        ),
        ("it should not just warn, it should stop the build", "It should not just warn, it should stop the build"),
    ],
)
def test_a_title_is_the_first_clause_without_filler_and_never_without_its_condition(said: str, title: str) -> None:
    assert of_sentence(said) == title


def test_problem_decision_and_reason_have_sections_of_their_own() -> None:
    body = (
        "The retry loop never saw the exception because the client swallowed it. "
        "Switched from requests to httpx for its hooks. Timeouts are unchanged there."
    )
    (content,) = _pages([], [commit("fix: lost uploads", body)])
    assert content.title == "Lost uploads"
    assert [section.heading for section in content.sections] == ["What went wrong", "What was decided", "Evidence"]


def test_an_answer_stands_below_its_question() -> None:
    one = session(
        {"prompt": "Emit events."},
        {"answer": "NATS JetStream", "about": "Which broker should carry the audit events?"},
        taint=Taint.CLEAN,
    )
    (content,) = _pages([one], mode=EvidenceMode.FULL)
    assert _texts(content) == ["Which broker should carry the audit events?", "NATS JetStream"]


def test_digests_have_a_section_for_each_month() -> None:
    texts = [f"This service{n} should be bootstrapped on init{n}" for n in range(3)]
    findings = [each for one in _spoken(*texts) for each in ENGINE.reflect(one, EvidenceMode.USER_TURNS)]
    findings = [
        each.model_copy(update={"score": 1.9, "said_at": START + timedelta(days=40 * n)})
        for n, each in enumerate(findings)
    ]
    (action,) = ENGINE.plan(findings, (), FORMAT, 9).actions
    assert action.digest
    assert [section.heading for section in ENGINE.write(action, None).sections] == ["2026-03", "2026-04", "2026-05"]


def _update(body: str) -> list[str]:
    known = page("gotchas/uploads.md", "Lost uploads", body=body)
    found = ENGINE.reflect_on_commits(
        [commit("fix: lost uploads", "Uploads fail when the client swallows the exception.")]
    )
    (action,) = ENGINE.plan(found, (known,), FORMAT, 9).actions
    assert action.operation is Operation.UPDATE
    return [section.heading for section in ENGINE.write(action, known).sections]


def test_an_update_goes_below_the_pages_own_heading_or_below_evidence() -> None:
    assert _update("# Lost uploads\n\n## The Problem\n\nx\n\n## Why\n\ny") == ["The Problem"]
    assert _update("# Lost uploads\n\nplain text") == ["Evidence"]


def test_an_update_tells_the_subject_of_its_commit_and_opens_a_heading_of_our_own_pages() -> None:
    body = "# Uploads resume after a lost connection\n\n## What was decided\n\n> Parts are 8 MB. (commit 0a1b2c3d4e5f)"
    known = page("decisions/uploads.md", "Uploads resume after a lost connection", "Parts are 8 MB.", body)
    found = ENGINE.reflect_on_commits(
        [commit("fix: let uploads resume after a lost connection of an hour", "Parts were deleted after ten minutes.")]
    )
    (action,) = ENGINE.plan(found, (known,), FORMAT, 9).actions
    (section,) = ENGINE.write(action, known).sections
    said = [passage.text for passage in section.passages]
    assert section.heading == "What went wrong"
    assert said == ["let uploads resume after a lost connection of an hour", "Parts were deleted after ten minutes."]


def test_an_update_holds_only_what_is_new() -> None:
    known = page("gotchas/uploads.md", "Lost uploads", body="## The Problem\n\nold text")
    found = ENGINE.reflect_on_commits(
        [commit("fix: lost uploads", "Uploads fail when the client swallows the exception.")]
    )
    (action,) = ENGINE.plan(found, (known,), FORMAT, 9).actions
    assert _texts(ENGINE.write(action, known)) == ["Uploads fail when the client swallows the exception."]


# The eight families in which memories are known to break.


def test_integrity_lost_scope_the_condition_stays_in_the_quote() -> None:
    (content,) = _pages(_spoken("on staging the worker must never send mail"))
    assert _texts(content)[0] == "on staging the worker must never send mail"


def test_integrity_flipped_negation_the_no_stays_in_title_and_quote() -> None:
    (content,) = _pages(_spoken("don't retry failed payments, never"))
    assert "don't" in _texts(content)[0]
    assert "t retry" in content.title


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("the default should be auto", "the default should be manual"),
        ("always retry failed webhooks", "never retry failed webhooks"),
        ("the upload timeout must be 30 seconds", "the upload timeout must be 60 seconds"),
        ("we use Redis for the job queue, it must stay", "we no longer use Redis for the job queue"),
    ],
)
def test_integrity_later_correction_the_newest_statement_leads(first: str, later: str) -> None:
    contents = _pages(_spoken(first, later))
    (content,) = [each for each in contents if later in _texts(each)]
    assert _texts(content)[0] == later
    assert content.title.casefold() in later.casefold()
    replaced = [section.heading for section in content.sections if first in [p.text for p in section.passages]]
    assert replaced == ["Earlier"]


def test_integrity_hypothesis_is_no_cause() -> None:
    assert _pages(_spoken("maybe the timeout is caused by the proxy, it might silently drop packets")) == []


def test_integrity_omitted_decision_both_statements_of_a_turn_stand() -> None:
    (content,) = _pages(_spoken("The export must stay CSV. The import must stay JSON."))
    assert set(_texts(content)) == {"The export must stay CSV.", "The import must stay JSON."}


def test_integrity_negative_inference_nothing_is_said_of_what_was_not_said() -> None:
    (content,) = _pages(_spoken("the beta must be behind a flag"))
    assert _texts(content) == ["the beta must be behind a flag"]


def test_integrity_invented_value_numbers_come_from_the_source() -> None:
    (content,) = _pages([], [commit("feat: paging", "Pages are capped at 50 rows because 100 time out on mobile.")])
    assert _texts(content) == ["Pages are capped at 50 rows because 100 time out on mobile."]


def test_a_revert_names_what_it_took_back_with_a_citation_of_its_own() -> None:
    first = commit("feat(api): stream large exports", "Exports no longer fill the memory.", 1)
    reason = "Nginx buffered the stream, and half of the exports were cut after a minute."
    undo = commit(
        'Revert "feat(api): stream large exports"', reason, 2, at=START + timedelta(days=1), reverts=(first.sha,)
    )
    (content,) = _pages([], [first, undo])
    said = {section.heading: [(p.text, p.evidence_ids) for p in section.passages] for section in content.sections}
    assert said == {
        "What went wrong": [(reason, (undo.sha,))],
        "What was reverted": [("stream large exports", (first.sha,))],
    }


@pytest.mark.parametrize(
    ("first", "later", "cited"),
    [
        ("never edit generated clients by hand.", "never edit generated clients by hand", 2),
        ("never edit generated clients by hand", "never edit generated clients by hand!", 2),
        ("Never edit generated clients by hand", "never edit generated clients by hand", 1),
    ],
)
def test_a_passage_cites_only_evidence_that_holds_its_very_words(first: str, later: str, cited: int) -> None:
    spoken = _spoken(first, later)
    texts = {one.id: one.turns[-1].text for one in spoken}
    (content,) = _pages(spoken)
    (passage,) = content.sections[0].passages
    assert len(passage.evidence_ids) == cited
    assert all(passage.text in texts[each] for each in passage.evidence_ids)  # type: ignore[index]


def test_the_sentences_of_one_paragraph_keep_their_order() -> None:
    body = "Pods were evicted at noon. The root cause was the missing memory limit."
    (content,) = _pages([], [commit('Revert "feat: one node pool"', body, 2, reverts=(commit("x", number=1).sha,))])
    said = [p.text for section in content.sections for p in section.passages if section.heading == "What went wrong"]
    assert said == sorted(said, key=body.index)
    assert len(said) == 2


def test_the_same_plan_writes_the_same_page() -> None:
    found = ENGINE.reflect_on_commits(
        [commit("fix: lost uploads", "Uploads fail when the client swallows the exception.")]
    )
    action: Action = ENGINE.plan(found, (), FORMAT, 9).actions[0]
    assert ENGINE.write(action, None) == ExtractiveEngine().write(action, None)
    assert 1 <= len(action.tags) <= 4
