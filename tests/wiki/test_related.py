"""Related pages are computed from shared sources and always exist."""

from __future__ import annotations

from reflect.model import Operation, PageSummary, Source, SourceKind
from reflect.wiki.page import parse_page
from reflect.wiki.related import Neighbours
from reflect.wiki.store import WikiState
from tests.wiki.builders import action, finding, page_text


def page(path: str, *ids: str, status: str = "active") -> PageSummary:
    return parse_page(page_text(sources=f"[{', '.join(ids)}]", status=status).encode(), path).summary()


def checkpoints(*ids: str) -> list[Source]:
    return [Source(kind=SourceKind.CHECKPOINT, id=one) for one in ids]


A, B, C, D = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"


def test_pages_that_share_two_sources_closest_first_at_most_four() -> None:
    pages = (
        page("x/three.md", A, B, C),
        page("x/two.md", A, B),
        page("x/two-of-many.md", A, B, D),
        page("x/one.md", A),
        page("x/none.md", D),
        page("y/b.md", B, C),
        page("y/c.md", B, C),
    )
    neighbours = Neighbours.of(WikiState(pages=pages))
    assert neighbours.related("n/new.md", checkpoints(A, B, C)) == (
        "x/three.md",
        "x/two.md",
        "y/b.md",
        "y/c.md",
    )


def test_below_two_shared_sources_only_the_closest_page() -> None:
    neighbours = Neighbours.of(WikiState(pages=(page("x/wide.md", A, B, C), page("x/narrow.md", A))))
    assert neighbours.related("n/new.md", checkpoints(A)) == ("x/narrow.md",)
    assert neighbours.related("n/new.md", checkpoints(D)) == ()


def test_pages_of_the_same_run_are_related_and_resolved_ones_and_digests_are_not() -> None:
    pages = (page("x/gone.md", A, status="resolved"), page("x/digest.md", A), page("x/going.md", A), page("x/me.md", A))
    actions = [
        action("x/new.md", findings=(finding(evidence=f"{A}/0"),)),
        action("x/digest-2.md", findings=(finding(evidence=f"{A}/0"),), digest=True),
        action("x/going.md", Operation.RESOLVE),
    ]
    neighbours = Neighbours.of(WikiState(pages=pages), actions)
    assert neighbours.related("x/me.md", checkpoints(A)) == ("x/new.md",)
    assert {"x/gone.md", "x/digest-2.md", "x/new.md"} <= neighbours.paths


def test_commits_written_with_fewer_digits_are_shared_too() -> None:
    neighbours = Neighbours.of(WikiState(pages=(page("x/a.md", "53c09c4"),)))
    assert neighbours.related("n/new.md", [Source(kind=SourceKind.COMMIT, id="53c09c4abcde")]) == ("x/a.md",)


def test_the_order_of_pages_changes_nothing() -> None:
    pages = tuple(page(f"x/{name}.md", A, B) for name in "abcdef")
    forwards = Neighbours.of(WikiState(pages=pages)).related("n/new.md", checkpoints(A, B))
    backwards = Neighbours.of(WikiState(pages=pages[::-1])).related("n/new.md", checkpoints(B, A))
    assert forwards == backwards == ("x/a.md", "x/b.md", "x/c.md", "x/d.md")
