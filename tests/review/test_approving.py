"""What an approval writes, where, and what keeps it from writing."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from reflect.errors import RepositoryBusy, ScopeError, WikiError
from reflect.ledger.text import dump
from reflect.model import Operation, Plan
from reflect.pipeline.approved import Destination
from reflect.pipeline.intake import Intake
from reflect.review.approving import approve
from reflect.review.bench import Bench
from reflect.review.deciding import edit
from reflect.scope.reflexion import Reflexion
from reflect.scope.review import ReviewItem
from reflect.scope.vocabulary import ORGANISATION
from reflect.wiki.lock import repository_lock
from reflect.wiki.page import parse_page
from tests.review.house import (
    ADA,
    APPROVABLE,
    KINDS,
    NOW,
    OWN_PAGE,
    PLAIN,
    THEIR_PAGE,
    Shop,
    every_question,
    night,
    shop,
)
from tests.written import assert_page_written, assert_row_written


def rows(queue: Shop, project: str, item: ReviewItem) -> list[Reflexion]:
    with queue.ledger() as ledger:
        said = {finding.quote for finding in item.action.findings}
        return [row for row in ledger.reflexions(project) if row.intervention in said]


@pytest.mark.parametrize("kind", ["strayed", "change"])
def test_approved_for_its_project_it_stands_in_the_repositorys_wiki(queue: Shop, kind: str) -> None:
    """R1 by an operator's word."""
    before = queue.pages()
    with queue.bench() as bench:
        done = approve(bench, queue.item(KINDS[kind]))
    assert done.changed and done.page is not None
    text = queue.page(done.page)
    assert_page_written(text, project="shop", scope_source="operator")
    assert KINDS[kind] in text and "(checkpoint bbbbbbbbbbbb" in text
    assert {path for path, page in queue.pages().items() if before.get(path) != page} == {f"own/{done.page}"}
    (row,) = rows(queue, "shop", done.item)
    assert_row_written(row, project="shop", scope_source="operator", workspace_root=str(queue.git.path))
    assert (row.approved_by, row.approved_at, row.learnable) == (ADA, NOW.isoformat(), True)
    index = queue.page("index.md")
    assert done.page in index
    assert f"## [{NOW.date()}] review | item {done.item.id} | approved\n- " in queue.page("log.md")


def test_a_change_joins_its_page_and_what_stood_there_stays(queue: Shop) -> None:
    """R1 by an operator's word."""
    with queue.bench() as bench:
        assert approve(bench, queue.item(KINDS["change"])).page == OWN_PAGE
    text = queue.page(OWN_PAGE)
    assert "What stood here before. (checkpoint aaaaaaaaaaaa)" in text
    assert_page_written(text, project="shop", scope_source="operator")


@pytest.mark.parametrize(("kind", "memory_type"), [("wide", "reflection"), ("rule", "fact"), ("strayed", "reflection")])
def test_approved_for_everyone_it_stands_in_the_organisations_wiki_and_in_no_repositorys(
    queue: Shop, kind: str, memory_type: str
) -> None:
    """R2 with an operator and a second yes."""
    before = queue.pages()
    with queue.bench() as bench:
        done = approve(bench, queue.item(KINDS[kind]), widen=True, confirmed=True)
        assert done.folder == str(bench.organisation.folder)
    new = {path: text for path, text in queue.pages().items() if path not in before}
    assert list(new) == [f"all/{done.page}"]
    assert {path: text for path, text in queue.pages().items() if path in before} == before
    (text,) = new.values()
    assert_page_written(text, project=None, scope_source="operator")
    data = parse_page(text.encode(), "a/b.md").data
    assert (data["memory_type"], data["always_on"]) == (memory_type, str(kind != "wide").lower())
    (row,) = rows(queue, ORGANISATION, done.item)
    assert_row_written(row, project=None, scope_source="operator", workspace_root=None)
    assert row.memory_type == memory_type
    assert row.context == "", "what stood around the claim was not approved"
    assert rows(queue, "shop", done.item) == []


@pytest.mark.parametrize("kind", APPROVABLE)
def test_global_needs_a_second_yes_whatever_it_rests_on(queue: Shop, kind: str) -> None:
    """R2."""
    with queue.bench() as bench, pytest.raises(ScopeError, match="second, explicit yes"):
        approve(bench, queue.item(KINDS[kind]), widen=True)
    assert queue.item(KINDS[kind]).status == "pending"
    assert not [path for path in queue.pages() if path.startswith("all/")]


@pytest.mark.parametrize("kind", ["wide", "rule"])
def test_what_belongs_to_no_single_project_has_no_default(queue: Shop, kind: str) -> None:
    """R1 by an operator's word."""
    with queue.bench() as bench:
        with pytest.raises(ScopeError, match="belongs to no single project"):
            approve(bench, queue.item(KINDS[kind]))
        done = approve(bench, queue.item(KINDS[kind]), project_id="shop")
    assert done.page is not None and done.page != THEIR_PAGE
    assert_page_written(queue.page(done.page), project="shop", scope_source="operator")
    assert KINDS[kind] not in queue.page(THEIR_PAGE), "one project's words never join another's page"


@pytest.mark.parametrize("kind", ["outside", "derived"])
@pytest.mark.parametrize("widen", [False, True])
def test_approving_makes_no_text_clean(queue: Shop, kind: str, widen: bool) -> None:
    before = queue.pages()
    with queue.bench() as bench, pytest.raises(ScopeError, match="rewrite it first"):
        approve(bench, queue.item(KINDS[kind]), widen=widen, confirmed=True)
    assert queue.item(KINDS[kind]).status == "pending" and queue.pages() == before


@pytest.mark.parametrize("kind", KINDS)
def test_rewritten_by_its_owner_any_question_can_be_approved_and_only_the_new_words_land(
    queue: Shop, kind: str
) -> None:
    """R1 by an operator's word."""
    words = "Lines keep their order, says the owner"
    with queue.bench() as bench:
        mine = edit(bench, queue.item(KINDS[kind]), text=words).item
        done = approve(bench, mine, project_id="shop")
    assert done.page is not None
    text = queue.page(done.page)
    assert_page_written(text, project="shop", scope_source="operator")
    assert "origin: clean\n" in text and "learnable: true\n" in text
    assert f"\n{words} (" in text and KINDS[kind] not in "".join(queue.pages().values())
    (row,) = rows(queue, "shop", done.item)
    assert_row_written(row, project="shop", scope_source="operator", workspace_root=str(queue.git.path))
    assert (row.reflexion_text, row.effective_origin, row.learnable) == (words, "clean", True)
    assert queue.item(KINDS[kind]).original_claim is not None


def test_a_project_that_nobody_registered_or_that_is_not_here_is_no_target(queue: Shop) -> None:
    with queue.bench() as bench, pytest.raises(ScopeError, match="no project 'nobody' is registered"):
        approve(bench, queue.item(KINDS["wide"]), project_id="nobody")
    assert queue.item(KINDS["wide"]).status == "pending"


def test_apply_requires_authorized_decider(queue: Shop) -> None:
    with queue.bench("Eve <eve@elsewhere.example>") as bench:
        strict = replace(bench, maintainers={"shop": ("ada@example.com",)})
        for decide in (approve, lambda b, i: edit(b, i, text="Mine now")):
            with pytest.raises(ScopeError, match=r"does not answer for `shop`"):
                decide(strict, queue.item(KINDS["strayed"]))
    with queue.bench() as bench:
        strict = replace(bench, maintainers={"shop": ("ada@example.com",)})
        assert approve(strict, queue.item(KINDS["strayed"])).changed


def test_approving_twice_is_so_already_and_another_target_is_refused(queue: Shop) -> None:
    with queue.bench() as bench:
        item = approve(bench, queue.item(KINDS["strayed"])).item
        before = queue.pages()
        again = approve(bench, item)
        assert (again.changed, again.item) == (False, item)
        with pytest.raises(ScopeError, match=r"was approved by Ada .* for shop; it stays so"):
            approve(bench, item, widen=True, confirmed=True)
    assert queue.pages() == before


def test_apply_refuses_on_evidence_drift(queue: Shop) -> None:
    item = queue.item(KINDS["strayed"])
    rewrite_tree(queue, "bbbbbbbbbbbb")
    with queue.bench() as bench:
        with pytest.raises(ScopeError, match=r"bbbbbbbbbbbb/0 changed since it was asked; it is expired_evidence now"):
            approve(bench, item)
        after = queue.item(KINDS["strayed"])
        assert (after.status, after.decided_by) == ("expired_evidence", ADA)
        mine = edit(bench, after, text="Payments are tried three times").item
        assert approve(bench, mine).changed, "an owner who saw what stands now may put it into words"


def test_evidence_that_is_gone_expires_the_question_until_it_is_back(queue: Shop) -> None:
    """R1 by an operator's word, once the session is there again."""
    ref = "refs/heads/entire/checkpoints/v1"
    kept = queue.git.git("rev-parse", ref)
    queue.git.git("update-ref", "-d", ref)
    with queue.bench() as bench:
        for _ in range(2):
            with pytest.raises(ScopeError, match=r"bbbbbbbbbbbb/0 does not exist any more"):
                approve(bench, queue.item(KINDS["strayed"]))
        gone = queue.item(KINDS["strayed"])
        assert gone.status == "expired_evidence" and len(bench.ledger.decisions("shop", gone.id)) == 1
    queue.git.git("update-ref", ref, kept)
    with queue.bench() as bench:
        done = approve(bench, gone)
    assert done.page is not None
    assert_page_written(queue.page(done.page), project="shop", scope_source="operator")


def test_a_page_that_cannot_be_put_in_place_now_is_put_there_later(queue: Shop) -> None:
    """R1 by an operator's word."""

    def full(step: str) -> None:
        if step == "write the journal":
            raise OSError(28, "No space left on device")

    before = queue.pages()
    with queue.bench() as bench:
        with pytest.raises(WikiError, match=r"is approved, but its page is not in place yet: .* No space left"):
            approve(bench, queue.item(KINDS["strayed"]), fault=full)
        assert queue.pages() == before
        assert approve(bench, queue.item(KINDS["strayed"])).changed is False
    (text,) = [text for path, text in queue.pages().items() if before.get(path) != text]
    assert_page_written(text, project="shop", scope_source="operator")


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_makes_no_folder(queue: Shop, kind: str) -> None:
    with queue.bench() as bench, pytest.raises(ScopeError):
        approve(bench, queue.item(KINDS[kind]), widen=True)
    assert not queue.settings.organisation_wiki().exists()


@pytest.mark.parametrize("gone", [False, True])
def test_a_page_that_moved_on_supersedes_the_question(queue: Shop, gone: bool) -> None:
    path = queue.folder / "wiki" / OWN_PAGE
    if gone:
        path.unlink()
    else:
        path.write_text(path.read_text() + "\nSomebody wrote this. (checkpoint aaaaaaaaaaaa)\n")
    before = queue.pages()
    with queue.bench() as bench, pytest.raises(ScopeError, match=rf"{OWN_PAGE} (is gone|changed) since .* superseded"):
        approve(bench, queue.item(KINDS["change"]))
    assert queue.item(KINDS["change"]).status == "superseded" and queue.pages() == before


def test_what_the_wiki_says_already_is_superseded(queue: Shop) -> None:
    page = queue.folder / "wiki" / "decisions" / "by-hand.md"
    page.write_text(f"# By hand\n\n{KINDS['strayed']} (checkpoint aaaaaaaaaaaa)\n")
    with queue.bench() as bench, pytest.raises(ScopeError, match=r"by-hand.md says what .* superseded"):
        approve(bench, queue.item(KINDS["strayed"]))
    assert queue.item(KINDS["strayed"]).status == "superseded"


def test_a_claim_that_was_changed_in_the_ledger_is_not_approved(queue: Shop) -> None:
    item = queue.item(KINDS["strayed"])
    forged = item.model_copy(update={"claim": PLAIN})
    with sqlite3.connect(queue.settings.state / "ledger.db") as ledger:
        ledger.execute("update review_items set payload = ? where item_id = ?", (dump(forged), item.id))
    with queue.bench() as bench, pytest.raises(ScopeError, match="not the one that was asked"):
        approve(bench, bench.ledger.queue("shop")[[one.id for one in queue.items()].index(item.id)])
    assert {one.id: one.status for one in queue.items()}[item.id] == "superseded"


def test_while_a_run_holds_the_repository_nothing_is_approved(queue: Shop) -> None:
    with queue.bench() as bench, repository_lock(queue.workspace.lock), pytest.raises(RepositoryBusy):
        approve(bench, queue.item(KINDS["strayed"]))
    assert queue.item(KINDS["strayed"]).status == "pending"


def test_a_place_that_is_taken_gets_a_page_of_its_own_beside_it(queue: Shop) -> None:
    """R1 by an operator's word."""
    item = queue.item(KINDS["strayed"])
    taken = queue.folder / "wiki" / item.action.path
    taken.parent.mkdir(exist_ok=True)
    taken.write_text("# Somebody's page\n\nSomething else.\n")
    with queue.bench() as bench:
        done = approve(bench, item)
    assert done.page == f"{item.action.category}/{item.action.slug}-{item.id[:6]}.md"
    assert_page_written(queue.page(done.page), project="shop", scope_source="operator")
    assert taken.read_text() == "# Somebody's page\n\nSomething else.\n"


def test_an_approved_end_of_something_sends_its_page_to_the_archive(tmp_path: Path) -> None:
    """R1 by an operator's word."""
    made = shop(tmp_path)

    def finished(plan: Plan, intake: Intake) -> Plan:
        (planted,) = [one for one in every_question(plan, intake).actions if one.path == OWN_PAGE]
        return Plan(actions=(planted.model_copy(update={"operation": Operation.RESOLVE}),))

    night(made.workspace, finished)
    with made.bench() as bench:
        assert approve(bench, made.item(KINDS["change"])).page == OWN_PAGE
    assert not (made.folder / "wiki" / OWN_PAGE).exists()
    text = made.page(f"_archive/{OWN_PAGE}")
    assert_page_written(text, project="shop", scope_source="operator")
    assert "status: resolved\n" in text and KINDS["change"] in text
    assert OWN_PAGE not in made.page("index.md")


def test_in_the_category_an_operator_chose_the_page_is_a_new_one(queue: Shop) -> None:
    """R1 by an operator's word."""
    with queue.bench() as bench:
        moved = edit(bench, queue.item(KINDS["change"]), category="gotchas").item
        done = approve(bench, moved)
    assert done.page is not None and done.page.startswith("gotchas/")
    assert_page_written(queue.page(done.page), project="shop", scope_source="operator")
    assert KINDS["change"] not in queue.page(OWN_PAGE)


def test_the_organisations_wiki_lies_where_its_home_is_and_beside_the_state_without_one(
    queue: Shop, tmp_path: Path
) -> None:
    assert Destination.of_organisation(queue.settings).folder == queue.settings.state / "organisation" / ".reflect"
    assert Destination.of_organisation(queue.settings, tmp_path).folder == tmp_path / ".reflect"


def rewrite_tree(queue: Shop, checkpoint: str) -> None:
    """Change what lies in a checkpoint's folder, as a later push of the same checkpoint would."""
    ref = "refs/heads/entire/checkpoints/v1"
    listing = queue.git.git("ls-tree", "-r", ref).splitlines()
    blob = queue.git.git("hash-object", "-w", "--stdin", input=b"changed\n")
    shard = next(line.split("\t")[1] for line in listing if checkpoint in line.replace("/", "") and "/0/" in line)
    folder = re.sub(r"/0/.*", "/0", shard)
    tree = queue.git.git("mktree", input=_mktree(queue, ref, folder.split("/"), blob).encode())
    commit = queue.git.git("commit-tree", tree, "-p", ref, "-m", "more")
    queue.git.git("update-ref", ref, commit)


def _mktree(queue: Shop, tree: str, path: list[str], blob: str) -> str:
    """The listing of `tree` with a new file in the folder at `path`."""
    lines = queue.git.git("ls-tree", tree).splitlines()
    if not path:
        return "\n".join([*lines, f"100644 blob {blob}\tmore.txt"]) + "\n"
    changed = []
    for line in lines:
        meta, name = line.split("\t")
        if name == path[0]:
            below = queue.git.git("mktree", input=_mktree(queue, meta.split()[2], path[1:], blob).encode())
            line = f"040000 tree {below}\t{name}"
        changed.append(line)
    return "\n".join(changed) + "\n"


class Overtaken(Bench):
    """A bench on which somebody else writes on the page between the first look and the lock."""

    @contextmanager
    def held(self, place: Destination) -> Iterator[None]:
        with super().held(place):
            page = place.folder / "wiki" / OWN_PAGE
            page.write_text(page.read_text() + "\nSomebody wrote this. (checkpoint aaaaaaaaaaaa)\n")
            yield


def test_what_changed_while_the_lock_was_waited_for_is_seen(queue: Shop) -> None:
    """R1 by an operator's word, on what the operator was shown."""
    with queue.ledger() as ledger, pytest.raises(ScopeError, match=rf"{OWN_PAGE} changed since"):
        approve(Overtaken.of_repository(queue.workspace, ledger, ADA), queue.item(KINDS["change"]))
    assert queue.item(KINDS["change"]).status == "superseded"
    assert KINDS["change"] not in queue.page(OWN_PAGE)
