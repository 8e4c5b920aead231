"""Archiving: pages move, links follow, nothing is overwritten and nothing comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflect.wiki.archive import ArchivedEvidence, plan_archive
from reflect.wiki.landing import Landing
from reflect.wiki.links import Moves
from reflect.wiki.passages import quote_key
from reflect.wiki.store import Wiki
from reflect.wiki.toc import render_index
from tests.conftest import clone_sample
from tests.wiki.builders import COMMIT, OTHER_SESSION, SESSION, action, finding, page_text, put, tree


def archive(reflect_dir: Path) -> tuple[tuple[str, str], ...]:
    wiki = Wiki(reflect_dir)
    plan = plan_archive(wiki, wiki.read())
    landing = Landing(reflect_dir, "run", journal=reflect_dir.parent / "journal.json")
    landing.land(plan.changes, {})
    landing.finish()
    return plan.moves


def test_superseded_and_resolved_pages_move_and_others_stay(tmp_path: Path) -> None:
    put(tmp_path, ".reflect/wiki/a/old.md", page_text(status="superseded"))
    put(tmp_path, ".reflect/wiki/b/done.md", page_text(status="resolved"))
    for status in ("active", "open", "abandoned"):
        put(tmp_path, f".reflect/wiki/a/{status}.md", page_text(status=status))
    before = tree(tmp_path)
    assert archive(tmp_path / ".reflect") == (
        ("a/old.md", "_archive/a/old.md"),
        ("b/done.md", "_archive/b/done.md"),
    )
    after = tree(tmp_path)
    assert after[".reflect/wiki/_archive/a/old.md"] == before[".reflect/wiki/a/old.md"]
    assert after[".reflect/wiki/_archive/b/done.md"] == before[".reflect/wiki/b/done.md"]
    assert sorted(after) == [
        ".reflect/wiki/_archive/a/old.md",
        ".reflect/wiki/_archive/b/done.md",
        ".reflect/wiki/a/abandoned.md",
        ".reflect/wiki/a/active.md",
        ".reflect/wiki/a/open.md",
    ]
    assert not (tmp_path / ".reflect/wiki/b").exists()
    assert archive(tmp_path / ".reflect") == ()
    assert tree(tmp_path) == after


@pytest.mark.parametrize("there", ["old.md", "OLD.md"])
def test_what_the_archive_holds_is_not_overwritten(tmp_path: Path, there: str) -> None:
    put(tmp_path, ".reflect/wiki/a/old.md", page_text("New", status="resolved"))
    put(tmp_path, f".reflect/wiki/_archive/a/{there}", page_text("Old", status="resolved"))
    assert archive(tmp_path / ".reflect") == (("a/old.md", "_archive/a/old-2.md"),)
    titles = [page.title for page in Wiki(tmp_path / ".reflect").read().archived]
    assert sorted(titles) == ["New", "Old"]


def test_an_archived_page_that_cannot_be_read_is_not_overwritten_either(tmp_path: Path) -> None:
    put(tmp_path, ".reflect/wiki/a/old.md", page_text(status="resolved"))
    put(tmp_path, ".reflect/wiki/_archive/a/old.md", b"---\na: b: c\n---\n")
    assert archive(tmp_path / ".reflect") == (("a/old.md", "_archive/a/old-2.md"),)


def test_links_follow_in_both_directions_and_quotes_stay(tmp_path: Path) -> None:
    put(
        tmp_path,
        ".reflect/wiki/gotchas/here.md",
        page_text(
            body="See [old](../decisions/old.md#why), [too](decisions/old.md), [web](https://x.y/decisions/old.md)\n"
            "and `[code](../decisions/old.md)`.\n\n> said [old](../decisions/old.md) (commit 53c09c4)\n\n"
            "[ref]: <../decisions/old.md>",
            related="[decisions/old, gotchas/other.md]  # mine",
        ),
    )
    put(
        tmp_path,
        ".reflect/wiki/decisions/old.md",
        page_text(
            status="resolved",
            body="Back to [here](../gotchas/here.md), [code](../../../src/app.py), [me](old.md), "
            "[root](gotchas/here.md), [mail](mailto:a@b.c), [top](#top)",
        ),
    )
    archive(tmp_path / ".reflect")
    here = (tmp_path / ".reflect/wiki/gotchas/here.md").read_text()
    assert "[old](../_archive/decisions/old.md#why), [too](_archive/decisions/old.md)" in here
    assert "[web](https://x.y/decisions/old.md)" in here
    assert "`[code](../decisions/old.md)`" in here
    assert "> said [old](../decisions/old.md) (commit 53c09c4)" in here
    assert "[ref]: <../_archive/decisions/old.md>" in here
    assert "related:\n  - _archive/decisions/old.md\n  - gotchas/other.md  # mine\n" in here
    old = (tmp_path / ".reflect/wiki/_archive/decisions/old.md").read_text()
    assert "[here](../../gotchas/here.md), [code](../../../../src/app.py), [me](old.md), [root](gotchas/here.md)" in old
    assert "[mail](mailto:a@b.c), [top](#top)" in old


def test_pages_that_move_together_keep_finding_each_other(tmp_path: Path) -> None:
    put(tmp_path, ".reflect/wiki/a/one.md", page_text(status="resolved", body="[two](two.md) [three](../b/three.md)"))
    put(tmp_path, ".reflect/wiki/a/two.md", page_text(status="resolved", body="[one](one.md)"))
    put(tmp_path, ".reflect/wiki/b/three.md", page_text(status="resolved", related="[a/one]"))
    archive(tmp_path / ".reflect")
    files = tree(tmp_path / ".reflect/wiki/_archive")
    assert b"[two](two.md) [three](../b/three.md)" in files["a/one.md"]
    assert b"[one](one.md)" in files["a/two.md"]
    assert b"  - _archive/a/one.md" in files["b/three.md"]


def test_links_of_a_page_that_cannot_be_read_are_left_and_the_rest_is_done(tmp_path: Path) -> None:
    put(tmp_path, ".reflect/wiki/a/old.md", page_text(status="resolved"))
    bad = put(tmp_path, ".reflect/wiki/b/bad.md", b"---\na: b: c\n---\n[x](../a/old.md)\n")
    assert archive(tmp_path / ".reflect") == (("a/old.md", "_archive/a/old.md"),)
    assert bad.read_bytes() == b"---\na: b: c\n---\n[x](../a/old.md)\n"


def test_line_ends_and_fences_are_left_alone() -> None:
    moves = Moves({"a/b.md": "_archive/a/b.md"}, frozenset({"a/b.md", "a/c.md"}))
    body = "[x](b.md)\r\n```\r\n[x](b.md)\r\n```\r\n[x](my%20c.md)\r\n"
    assert moves.follow(body, "a/c.md") == body.replace("[x](b.md)", "[x](../_archive/a/b.md)", 1)


QUOTED = page_text(
    body="> cap at \\<three> (checkpoint 4ecb34b81a12)",
    status="resolved",
    sources='[{checkpoint: "4ecb34b81a12"}]',
)


def test_hazard_99_the_same_evidence_does_not_write_an_archived_page_again(tmp_path: Path) -> None:
    put(tmp_path, ".reflect/wiki/_archive/decisions/retry-policy.md", QUOTED)
    archived = ArchivedEvidence.of(Wiki(tmp_path / ".reflect").read().archived)
    path = "_archive/decisions/retry-policy.md"
    assert archived.holds(finding("cap at\n <three>", SESSION)) == path
    assert archived.holds(finding("cap at <three>", OTHER_SESSION)) is None
    assert archived.holds(finding("cap at four", SESSION)) is None
    assert archived.forbids(action("decisions/Retry_Policy.md", findings=(finding(evidence=SESSION),))) == path
    more = (finding(evidence=SESSION), finding("x", COMMIT))
    assert archived.forbids(action("decisions/retry-policy.md", findings=more)) is None
    assert archived.forbids(action("decisions/other.md", findings=(finding(evidence=SESSION),))) is None


def test_words_are_the_same_with_and_without_the_marks_that_keep_them_text() -> None:
    assert quote_key("1\\. use  \\<b>") == quote_key("1. use\n<b>")


def test_the_sample_wiki_is_archived_with_its_index(sample_bundle: Path, tmp_path: Path) -> None:
    reflect_dir = clone_sample(sample_bundle, tmp_path / "clone") / ".reflect"
    before = tree(reflect_dir / "wiki")
    index = render_index(Wiki(reflect_dir).read())
    moves = archive(reflect_dir)
    assert [path for path, _ in moves] == [
        "pitfalls/search-flag-bug-limit-vs-n.md",
        "pitfalls/silent-skip-embed-existing-wikis.md",
    ]
    after = tree(reflect_dir / "wiki")
    assert {path: after[dict(moves).get(path, path)] for path in before} == before
    assert render_index(Wiki(reflect_dir).read()) == index
