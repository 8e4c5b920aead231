"""A plan accounts for every finding, prefers updates, and never makes twins."""

from __future__ import annotations

import time
from datetime import date, timedelta
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reflect.configuration import DEFAULT_FORMAT, Format
from reflect.model import (
    Action,
    Commit,
    EvidenceMode,
    Finding,
    Operation,
    Origin,
    Outcome,
    PageSummary,
    Plan,
    ReflectionKind,
    Speaker,
    Taint,
)
from reflect.triage.extractive.digests import entries
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.views import evidence_mode
from tests.triage.builders import START, commit, page, session, sha, sources

ENGINE = ExtractiveEngine()
FORMAT = Format.model_validate(yaml.safe_load(DEFAULT_FORMAT))


def finding(text: str, number: int = 0, **more: Any) -> Finding:
    keys: dict[str, Any] = {
        "headline": text.rstrip("."),
        "category": "gotchas",
        "kind": ReflectionKind.EPISODE_LESSON,
        "evidence_id": sha(number),
        "position": 1,
        "speaker": Speaker.PERSON,
        "said_at": START + timedelta(hours=number),
        "score": 3.0,
        "signals": ("commit",),
        "origin": Origin.CLEAN,
        "evidence": EvidenceMode.FULL,
        **more,
    }
    return Finding(quote=text, **keys)


def plan(findings: list[Finding], pages: tuple[PageSummary, ...] = (), most: int = 40) -> Plan:
    return ENGINE.plan(findings, pages, FORMAT, most)


def distinct(count: int, **more: Any) -> list[Finding]:
    """Findings about different things."""
    return [finding(f"Alpha{n} beta{n} gamma{n} breaks delta{n}", n, **more) for n in range(count)]


def accounted(made: Plan) -> list[str]:
    return sorted([f.id for a in made.actions for f in a.findings] + [fate.finding.id for fate in made.fates])


def test_every_finding_is_in_one_action_or_has_a_fate() -> None:
    findings = [
        *distinct(5),
        finding("too weak to matter at all", 10, score=0.5),
        finding("weak but worth a line in a digest", 11, score=1.9),
        finding("a derived claim about something", 12, origin=Origin.DERIVED),
        finding("already standing on the page word for word", 13),
    ]
    known = page("gotchas/known.md", "Known", body="x\n> Already standing on the **page** word for word (commit 1)")
    made = plan(findings, (known,), most=3)
    assert accounted(made) == sorted(each.id for each in findings)
    assert len({action.path for action in made.actions}) == len(made.actions)


def test_over_the_cap_findings_wait() -> None:
    made = plan(distinct(10), most=3)
    assert sum(action.operation is Operation.CREATE for action in made.actions) == 3
    assert [fate.outcome for fate in made.fates] == [Outcome.PENDING] * 7


def test_no_new_page_at_all_is_possible() -> None:
    assert plan(distinct(4), most=0).actions == ()


def test_hazard_148_a_flood_of_evidence_makes_a_bounded_number_of_pages_and_entries() -> None:
    weak = [finding(f"Epsilon{n} zeta{n} eta{n} breaks theta{n}", n, score=1.9, position=2) for n in range(800)]
    made = plan([*distinct(400), *weak])
    pages = [action for action in made.actions if not action.digest]
    noted = [f for action in made.actions if action.digest for f in action.findings]
    assert len(pages) == 40
    assert len(noted) <= ENGINE._weights.digest_entries_per_run
    assert all(fate.outcome is not Outcome.QUARANTINED for fate in made.fates)


def test_a_statement_about_a_known_topic_updates_its_page() -> None:
    known = page("gotchas/symlinked-hooks.md", "Symlinked hooks folder breaks init", "The hooks folder is a symlink.")
    made = plan(
        [finding("Init breaks when the hooks folder is a symlink", 1, headline="Copy the hooks folder")], (known,)
    )
    (action,) = made.actions
    assert (action.operation, action.path) == (Operation.UPDATE, known.path)


def _known_limit(day: date) -> PageSummary:
    body = "# Give the upload queue ten workers\n\n## What went wrong\n\n> Uploads piled up (commit 0a1b2c3d4e5f)"
    return page("gotchas/workers.md", "Give the upload queue ten workers", "Uploads piled up", body, updated=day)


def test_a_newer_value_stands_first_and_the_plan_says_what_it_replaces() -> None:
    newer = finding("Ten workers were too few for the upload queue, it has 25 workers now", 5)
    known = _known_limit(date(2026, 3, 1))
    (action,) = plan([newer], (known,)).actions
    assert action.reason.startswith("replaces what the page says (Give the upload queue ten workers): ")
    (section,) = ENGINE.write(action, known).sections
    assert (section.heading, section.first) == ("Now", True)


def test_what_is_older_than_the_page_replaces_nothing_on_it() -> None:
    older = finding("Ten workers were too few for the upload queue, it has 25 workers now", 5)
    known = _known_limit(date(2026, 6, 1))
    (action,) = plan([older], (known,)).actions
    assert [section.first for section in ENGINE.write(action, known).sections] == [False]


_SPOKEN = "guests on hotel wifi must be able to resume an upload, their connection drops all the time"
_BODY = (
    "The root cause was that one lost packet on the wifi began a 2 GB upload anew. "
    "Parts of 8 MB are kept until the last one is there."
)


@pytest.mark.parametrize("linked", [True, False])
def test_a_session_and_the_commit_that_names_its_checkpoint_speak_of_one_thing(linked: bool) -> None:
    one = session({"prompt": "Look at the gateway."}, {"reply": "Done."}, {"prompt": _SPOKEN}, number=4)
    named = (one.checkpoint,) if linked else ()
    made = plan(
        [
            *ENGINE.reflect(one, evidence_mode(one)),
            *_reflect(commit("feat(gateway): send files in parts", _BODY, checkpoints=named)),
        ]
    )
    pages = [action for action in made.actions if not action.digest]
    assert len(pages) == (1 if linked else 2)


def test_a_link_alone_makes_no_topic() -> None:
    one = session({"prompt": "Look."}, {"reply": "Ok."}, {"prompt": "invoices must never be renumbered"}, number=4)
    other = commit("feat(gateway): send files in parts", _BODY, checkpoints=(one.checkpoint,))
    assert len(plan([*ENGINE.reflect(one, evidence_mode(one)), *_reflect(other)]).actions) == 2


def test_what_was_done_instead_stays_off_the_page_of_a_revert() -> None:
    undo = commit(
        'Revert "feat: thumbnails in the upload request"',
        "Large uploads timed out because thumbnails were made in the upload request.",
        2,
        reverts=(sha(1),),
    )
    other = commit(
        "feat: thumbnail workers",
        "Thumbnail workers run beside the API because large uploads need their memory.",
        3,
        at=START + timedelta(days=1),
    )
    assert len(plan(_reflect(undo, other)).actions) == 2


@pytest.mark.parametrize("status", ["superseded", "resolved", "abandoned"])
def test_a_page_that_is_done_with_is_not_updated(status: str) -> None:
    gone = page("gotchas/hooks.md", "Init breaks when the hooks folder is a symlink", status=status)
    (action,) = plan([finding("Init breaks when the hooks folder is a symlink")], (gone,)).actions
    assert action.operation is Operation.CREATE
    assert action.path != gone.path


def test_findings_about_one_thing_share_a_page() -> None:
    same = [
        finding("The cache key must hold the locale", 1, headline="Cache key holds the locale"),
        finding("Without the locale in the cache key Germans saw English pages", 2, headline="Locale in cache key"),
    ]
    (action,) = plan([*same]).actions
    assert {each.id for each in action.findings} == {each.id for each in same}


def test_the_same_words_in_two_places_are_one_finding_with_two_sources() -> None:
    made = plan([finding("Alpha breaks beta in gamma", 1), finding("Alpha breaks beta in gamma!", 2)])
    (action,) = made.actions
    assert set(action.evidence_ids) == {sha(1), sha(2)}
    assert [fate.outcome for fate in made.fates] == [Outcome.SKIPPED]


def test_two_independent_sources_lift_a_statement_over_the_bar() -> None:
    weak = {"score": ENGINE._weights.publish - 0.3}
    assert plan([finding("Alpha breaks beta in gamma", 1, **weak)]).actions[0].digest
    both = [finding("Alpha breaks beta in gamma", 1, **weak), finding("Alpha breaks beta in gamma", 2, **weak)]
    assert not plan(both).actions[0].digest


@pytest.mark.parametrize(
    ("known", "title"),
    [
        ("gotchas/retry-policy.md", "Retry-Policy"),
        ("gotchas/Retry_Policy.md", "retry policy"),
        ("gotchas/retrypolicy.md", "Retry policy"),
    ],
    ids=["hazard-22-case", "hazard-22-underscore", "hazard-21-joined"],
)
def test_hazard_21_22_a_new_page_is_never_the_twin_of_one_that_exists(known: str, title: str) -> None:
    there = page(known, "Something else entirely", status="resolved")
    (action,) = plan([finding("Alpha breaks beta in gamma", headline=title)], (there,)).actions
    assert action.path.casefold().replace("_", "").replace("-", "") != known.casefold().replace("_", "").replace(
        "-", ""
    )


def test_hazard_23_titles_that_begin_alike_get_paths_of_their_own() -> None:
    start = "a very long headline that two different statements share for much more than eighty characters "
    two = [
        finding("Alpha1 beta1 breaks gamma1", 1, headline=start + "one"),
        finding("Alpha2 beta2 breaks gamma2", 2, headline=start + "two"),
    ]
    made = [ENGINE.plan([each], (), FORMAT, 5).actions[0] for each in two]
    both = plan([two[0].model_copy(update={"headline": start + "one"}), two[1]])
    assert len({action.path for action in both.actions}) == len(both.actions)
    assert made[0].slug


@pytest.mark.parametrize(
    "title", ["index", "log", "Digest", "../../etc/passwd", "C:\\x", ".git/hooks/x", "a//b", "🚀", "日本語"]
)
def test_hazard_26_27_slugs_are_safe_and_never_reserved(title: str) -> None:
    (action,) = plan([finding("Alpha breaks beta in gamma", headline=title)]).actions
    assert action.slug not in {"index", "log", "digest", "readme", ""}
    assert not set(action.slug) & set("/\\.:")
    assert action.category in {"gotchas"}


def test_digests_roll_over_by_number_of_entries() -> None:
    most = ENGINE._weights.digest_entries
    body = "\n".join(f"- entry {n} (commit {n:012x})" for n in range(most - 1))
    full = page("gotchas/digest.md", "Gotchas digest", body=body, digest=True)
    assert entries(full) == most - 1
    made = plan([f.model_copy(update={"score": 1.9}) for f in distinct(3)], (full,))
    assert [(a.operation, a.slug, len(a.findings)) for a in made.actions] == [
        (Operation.CREATE, "digest-2", 2),
        (Operation.UPDATE, "digest", 1),
    ]


def test_a_persons_page_called_digest_is_left_alone() -> None:
    made = plan([finding("Alpha breaks beta in gamma", score=1.9)], (page("gotchas/digest.md", "My digest"),))
    assert [action.slug for action in made.actions] == ["digest-2"]


def test_claims_no_page_may_rest_on_stand_alone_and_are_few() -> None:
    derived = distinct(6, origin=Origin.DERIVED, evidence_id=sha(99))
    made = plan([*derived, *distinct(1)])
    review = [action for action in made.actions if action.findings[0].origin is Origin.DERIVED]
    assert all(len(action.findings) == 1 for action in review)
    assert len(review) == ENGINE._weights.review_per_evidence
    assert {fate.outcome for fate in made.fates} == {Outcome.SKIPPED}


@given(st.lists(st.sampled_from(list(Origin)), min_size=1, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_no_action_mixes_origins_and_order_does_not_matter(origins: list[Origin], shuffle: Any) -> None:
    findings = [finding(f"Cache keys of part{n} must hold the locale", n, origin=o) for n, o in enumerate(origins)]
    made = plan(findings)
    for action in made.actions:
        assert len({each.origin is Origin.CLEAN for each in action.findings}) == 1
    shuffle.shuffle(findings)
    assert plan(findings) == made
    assert accounted(made) == sorted(each.id for each in findings)


def _reflect(*commits: Commit) -> list[Finding]:
    return list(ENGINE.reflect_on_commits(commits))


def _open_page(**more: Any) -> PageSummary:
    return page("open-work/pdf.md", "Move PDF rendering to the worker", updated=date(2026, 3, 1), **more)


@pytest.mark.parametrize(
    ("subject", "resolves"),
    [
        ("fix: PDF rendering moved to the worker", True),
        ("feat: move PDF rendering to the worker", True),
        ("docs: PDF rendering in the worker is not done yet", False),
        ("fix: worker restarts", False),
        ("chore: think about PDF rendering", False),
    ],
)
def test_open_work_is_resolved_only_by_what_finishes_it(subject: str, resolves: bool) -> None:
    made = plan(_reflect(commit(subject)), (_open_page(),))
    assert (Operation.RESOLVE in [action.operation for action in made.actions]) is resolves


def test_open_work_is_not_resolved_by_something_older() -> None:
    older = commit("feat: move PDF rendering to the worker", at=START - timedelta(days=30))
    assert plan(_reflect(older), (_open_page(),)).actions == ()


def _digest(*entries: str) -> PageSummary:
    body = "\n\n".join(["# Open work digest", "## 2026-02", *(f"> {entry} (commit 0a1b2c3d4e5f)" for entry in entries)])
    return page("open-work/digest.md", "Open work digest", body=body, digest=True, updated=date(2026, 2, 20))


_SIGNED = "The Windows installer is not signed yet, users see a warning of SmartScreen."
_LOCALES = "TODO: load the locales of the admin area lazily"


@pytest.mark.parametrize(
    ("subject", "body", "closes"),
    [
        ("build: sign the Windows installer", "Done: the installer is signed by the release job.", True),
        ("feat(admin): load locales of the admin area lazily", "", True),
        ("docs: the Windows installer must be signed", "It is not signed yet.", False),
        ("fix: the Windows build", "", False),
        ("feat: sign the Linux packages", "Done: packages are signed.", False),
    ],
)
def test_open_work_on_a_digest_is_closed_by_what_finishes_it(subject: str, body: str, closes: bool) -> None:
    known = _digest(_SIGNED, _LOCALES)
    made = plan(_reflect(commit(subject, body)), (known,))
    closing = [action for action in made.actions if action.path == known.path]
    assert len(closing) == closes
    for action in closing:
        assert (action.operation, action.digest) == (Operation.UPDATE, True)
        content = ENGINE.write(action, known)
        assert [section.heading for section in content.sections] == ["Done since"]


def test_an_entry_that_is_closed_stays_closed_by_the_first_that_closed_it() -> None:
    closed = _digest(_SIGNED)
    body = f"{closed.body}\n\n## Done since\n\n> sign the Windows installer (commit 0a1b2c3d4e5f)"
    known = closed.model_copy(update={"body": body})
    assert plan(_reflect(commit("feat: sign the Windows installer with a new key")), (known,)).actions == ()


def test_closing_and_new_entries_of_one_digest_are_one_action() -> None:
    known = _digest(_SIGNED)
    new = finding("Pagination of the audit log is left for later", 3, category="open-work", score=1.9)
    made = plan([new, *_reflect(commit("feat: sign the Windows installer"))], (known,))
    (action,) = made.actions
    assert [section.heading for section in ENGINE.write(action, known).sections] == ["2026-03", "Done since"]


def test_the_reason_for_a_page_is_a_sentence_for_people() -> None:
    weak = finding("The importer silently drops rows", 1, signals=("fix", "silently", "explained"))
    same = weak.model_copy(update={"evidence_id": sha(2), "said_at": START + timedelta(hours=2)})
    said = "names what went wrong, gives a reason, something was fixed"
    assert plan([weak]).actions[0].reason == f"1 statement in commit {sha(1)[:12]}: {said}"
    assert plan([weak, same]).actions[0].reason.startswith("1 statement in commit ")
    derived = weak.model_copy(update={"origin": Origin.DERIVED})
    assert plan([derived]).actions[0].reason == f"An agent's words that no person said, for review: {said}"


def test_a_digest_has_tags_and_a_reason_in_words() -> None:
    weak = [f.model_copy(update={"score": 1.9, "identifiers": ("retry_policy",)}) for f in distinct(1)]
    (action,) = plan(weak).actions
    assert action.tags[:2] == ("digest", "retry-policy")
    assert action.reason == "1 statement that earns no page of its own"


def test_what_a_reverted_commit_said_stands_on_no_page() -> None:
    first = commit("build: vite", "Moved from webpack to vite because cold starts took 40 s.", 1)
    undo = commit(
        'Revert "build: vite"', "Vite broke the legacy plugin.", 2, at=START + timedelta(days=1), reverts=(sha(1),)
    )
    made = plan(_reflect(first, undo))
    assert [[f.quote for f in a.findings] for a in made.actions] == [["Vite broke the legacy plugin."]]
    assert any("reverted by" in fate.reason for fate in made.fates)


def test_a_revert_goes_to_the_page_of_what_it_reverts() -> None:
    there = page("decisions/bundler.md", "Bundler", sources=sources([sha(1)]))
    undo = commit('Revert "build: vite"', "Vite broke the legacy plugin.", 2, reverts=(sha(1),))
    (action,) = plan(_reflect(undo), (there,)).actions
    assert (action.operation, action.path) == (Operation.UPDATE, there.path)


def test_hazard_74_what_stands_in_the_wiki_is_not_learned_again() -> None:
    known = page("decisions/queue.md", "Queue", body="The queue must stay in PostgreSQL for now (commit 1).")
    one = session({"prompt": "Hi."}, {"reply": "Hi."}, {"prompt": "the queue must stay in PostgreSQL for now"})
    made = plan(list(ENGINE.reflect(one, EvidenceMode.USER_TURNS)), (known,))
    assert made.actions == ()
    assert [fate.reason for fate in made.fates] == ["already on decisions/queue.md"]


def test_hazard_75_a_session_about_our_own_prompt_teaches_nothing() -> None:
    one = session(
        {"prompt": "You are an expert librarian. You must never invent facts. Always answer in JSON."},
        {"prompt": "# Knowledge Base Index\n- all lessons must come from sessions"},
    )
    assert ENGINE.reflect(one, EvidenceMode.USER_TURNS) == ()


def test_hazard_156_one_new_checkpoint_touches_only_the_pages_it_speaks_of() -> None:
    wiki = tuple(page(f"gotchas/topic{n}.md", f"Topic{n} breaks part{n}", f"Lead{n} of topic{n}") for n in range(20))
    one = session({"prompt": "Hi."}, {"reply": "Hi."}, {"prompt": "topic7 must never break part7 again"})
    made = plan(list(ENGINE.reflect(one, EvidenceMode.USER_TURNS)), wiki)
    assert [action.path for action in made.actions] == ["gotchas/topic7.md"]


def test_a_second_run_over_its_own_pages_finds_nothing_new() -> None:
    sessions = [
        session({"prompt": "Hi."}, {"reply": "Hi."}, {"prompt": text}, number=n, at=START + timedelta(days=n))
        for n, text in enumerate(["never push to main", "the default should be auto", "I prefer small commits here"])
    ]
    findings = [each for one in sessions for each in ENGINE.reflect(one, evidence_mode(one))]
    made = plan(findings)
    wiki = tuple(_written(action) for action in made.actions)
    again = plan(findings, wiki)
    assert again.actions == ()
    assert all(fate.reason.startswith("already on ") for fate in again.fates)


def _written(action: Action) -> PageSummary:
    content = ENGINE.write(action, None)
    body = "\n".join(p.text for section in content.sections for p in section.passages)
    return page(action.path, content.title, body=body, digest=action.digest)


def test_a_clean_session_with_an_assistant_alone_fills_only_the_queue() -> None:
    reply = "The root cause is the missing index on orders.customer_id, queries silently fall back to a scan."
    one = session({"prompt": "Why?"}, {"reply": reply}, taint=Taint.CLEAN)
    made = plan(list(ENGINE.reflect(one, EvidenceMode.FULL)))
    assert [action.findings[0].origin for action in made.actions] == [Origin.DERIVED]


def test_five_hundred_findings_against_five_thousand_pages_take_seconds() -> None:
    wiki = tuple(
        page(f"gotchas/p{n}.md", f"Page {n} about topic{n % 700}", f"lead word{n} common", body=f"word{n} text " * 60)
        for n in range(5000)
    )
    many = [finding(f"Topic{n} of word{n} must never break the common service{n} again", n) for n in range(500)]
    began = time.process_time()
    made = ENGINE.plan(many, wiki, FORMAT, 40)
    assert time.process_time() - began < 3.0
    assert accounted(made) == sorted(each.id for each in many)
