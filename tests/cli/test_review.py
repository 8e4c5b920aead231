"""`reflect review` as an operator and a program meet it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from examples.sessions import GitRepository
from reflect.cli.app import run
from reflect.review.words import printable
from tests.conftest import command_line_in
from tests.review.conftest import _asked_once, queue
from tests.review.house import ADA, EPOCH, KINDS, OUTSIDE, STRAYED, Shop, night
from tests.written import assert_page_written

__all__ = ["_asked_once", "queue"]


class Reflect:
    """The command line inside this process, as the person git names."""

    def __init__(self, shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
        self.shop, self._capsys = shop, capsys

    def __call__(self, *arguments: str, check: int = 0) -> tuple[str, str]:
        """What it printed on either stream."""
        left = run([*arguments, "--repo", str(self.shop.git.path)])
        out, err = self._capsys.readouterr()
        assert left == check, (arguments, left, out, err)
        return out, err

    def json(self, *arguments: str, check: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", check=check)[0])


@pytest.fixture
def reflect(queue: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Reflect:
    for name, value in (("REFLECT_STATE_DIR", str(queue.settings.state)), ("SOURCE_DATE_EPOCH", str(EPOCH))):
        monkeypatch.setenv(name, value)
    for name in ("REFLECT_LEDGER_URL", "REFLECT_ORGANISATION"):
        monkeypatch.delenv(name, raising=False)
    return Reflect(queue, capsys)


def test_list_has_the_keys_that_are_kept_for_programs(reflect: Reflect) -> None:
    found = reflect.json("review", "list")
    assert found["total"] == len(KINDS) == len(found["items"])
    for item in found["items"]:
        kept = {"id", "claim", "reasons", "proposed", "origin", "evidence", "status", "created_at"}
        assert kept <= set(item)
        assert item["status"] == "pending" and item["reasons"] and item["evidence"] in ("full", "user_turns")
    times = [item["created_at"] for item in found["items"]]
    assert times == sorted(times)
    shown, _ = reflect("review", "list")
    assert all(item["id"] in shown for item in found["items"])


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (("--origin", "untrusted"), {"outside"}),
        (("--reason", "workspace_outside_project"), {"strayed", "change"}),
        (("--reason", "derived_origin", "--reason", "untrusted_origin"), {"derived", "outside"}),
        (("--status", "rejected"), set()),
        (("--category", "nowhere"), set()),
        (("--all",), set(KINDS)),
    ],
)
def test_filters_say_which_items_are_meant(reflect: Reflect, options: tuple[str, ...], kinds: set[str]) -> None:
    claims = {item["claim"] for item in reflect.json("review", "list", *options)["items"]}
    assert {kind for kind, claim in KINDS.items() if any(claim in said for said in claims)} == kinds


def test_show_says_why_it_is_here_and_what_approving_would_do(reflect: Reflect) -> None:
    strayed, outside = reflect.shop.item(STRAYED), reflect.shop.item(OUTSIDE)
    shown, _ = reflect("review", "show", strayed.id)
    assert STRAYED in shown and "> no, never retry" in shown and "(project shop)" in shown
    assert "A session behind it worked outside the project. (workspace_outside_project)" in shown
    assert "create preferences/never-retry-a-payment.md in the wiki of `shop`" in shown
    assert "--widen` makes it" in shown and "after a second yes" in shown
    shown, _ = reflect("review", "show", outside.id[:6])
    assert "It cannot be approved as it stands" in shown and "review edit" in shown
    told = reflect.json("review", "show", strayed.id, outside.id)["items"]
    assert [item["id"] for item in told] == [strayed.id, outside.id]
    assert told[0]["evidence_items"][0]["scope"] == "project" and told[0]["approving"]


def test_an_operator_answers_the_whole_queue(reflect: Reflect) -> None:
    """R1 and R2 by an operator's word."""
    shop = reflect.shop
    said, _ = reflect("review", "approve", shop.item(KINDS["strayed"]).id)
    assert "is approved now on preferences/never-retry-a-payment.md" in said
    said, _ = reflect("review", "approve", shop.item(KINDS["strayed"]).id)
    assert "approved already; nothing was changed" in said
    reflect("review", "approve", shop.item(KINDS["rule"]).id, "--widen", "--yes")
    reflect("review", "edit", shop.item(KINDS["outside"]).id, "--text", "Addresses are checked by the vendor")
    reflect("review", "reject", shop.item(KINDS["derived"]).id, "-m", "a report")
    reflect("review", "defer", shop.item(KINDS["wide"]).id, "--until", "2026-12-24")
    reflect("review", "quarantine", shop.item(KINDS["change"]).id)
    items = {item["id"]: item for item in reflect.json("review", "list", "--all")["items"]}
    by_kind = {kind: items[shop.item(claim).id] for kind, claim in KINDS.items()}
    assert {kind: item["status"] for kind, item in by_kind.items()} == {
        "strayed": "approved",
        "rule": "approved",
        "outside": "pending",
        "derived": "rejected",
        "wide": "deferred",
        "change": "quarantined",
    }
    assert {item["decided_by"] for item in items.values()} == {ADA}
    own, everyones = shop.page("preferences/never-retry-a-payment.md"), shop.pages()
    assert_page_written(own, project="shop", scope_source="operator")
    (text,) = [text for path, text in everyones.items() if path.startswith("all/")]
    assert_page_written(text, project=None, scope_source="operator")
    assert len(reflect.json("review", "list")["items"]) == 2


def test_where_nobody_can_be_asked_widening_needs_the_flag(reflect: Reflect, monkeypatch: pytest.MonkeyPatch) -> None:
    item = reflect.shop.item(KINDS["rule"])
    with Path("/dev/null").open() as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        _, why = reflect("review", "approve", item.id, "--widen", check=4)
    assert "second, explicit yes" in why and reflect.shop.item(KINDS["rule"]).status == "pending"


@pytest.mark.parametrize(
    "arguments",
    [
        ("approve",),
        ("reject",),
        ("show",),
        ("approve", "ffffffffffffff"),
        ("approve", ""),
        ("reject", "--status", "nonsense"),
        ("edit", "--text", "for all of them"),
        ("defer", "ITEM"),
        ("edit", "ITEM"),
        ("approve", "ITEM", "--project", "shop", "--widen"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage_and_changes_nothing(reflect: Reflect, arguments: tuple[str, ...]) -> None:
    before = reflect.shop.items()
    named = [before[0].id if word == "ITEM" else word for word in arguments]
    _, why = reflect("review", *named, check=2)
    assert why.startswith("reflect: ") and why.count("\n") == 1
    assert reflect.shop.items() == before


def test_ids_that_begin_alike_are_not_guessed_between(reflect: Reflect) -> None:
    first = {item.id[0] for item in reflect.shop.items()}
    shared = [digit for digit in first if sum(item.id.startswith(digit) for item in reflect.shop.items()) > 1]
    for digit in shared:
        _, why = reflect("review", "reject", digit, check=2)
        assert "begin with" in why
    assert all(item.status == "pending" for item in reflect.shop.items())


def test_a_filter_shows_and_moves_many(reflect: Reflect) -> None:
    strayed = {reflect.shop.item(KINDS[kind]).id for kind in ("strayed", "change")}
    shown = reflect.json("review", "show", "--reason", "workspace_outside_project")["items"]
    assert {item["id"] for item in shown} == strayed
    moved = reflect.json(
        "review", "edit", "--reason", "workspace_outside_project", "--category", "gotchas", "-m", "they surprise"
    )["decided"]
    assert {item["id"] for item in moved} == strayed and {item["category"] for item in moved} == {"gotchas"}
    assert {item["status"] for item in moved} == {"pending"}


def test_a_filter_decides_on_many_and_says_which_it_could_not(reflect: Reflect) -> None:
    """R1 by an operator's word for those that could."""
    told = reflect.json("review", "approve", "--all", check=3)
    assert {item["id"] for item in told["decided"]} == {
        reflect.shop.item(KINDS[kind]).id for kind in ("strayed", "change")
    }
    assert all(item["landed_on"] and item["decided_by"] == ADA for item in told["decided"])
    assert {item["id"] for item in told["refused"]} == {
        reflect.shop.item(KINDS[kind]).id for kind in ("outside", "derived", "wide", "rule")
    }
    for item in told["decided"]:
        text = reflect.shop.page(item["landed_on"])
        assert_page_written(text, project="shop", scope_source="operator")
    assert reflect.json("review", "reject", "--reason", "untrusted_origin")["decided"][0]["status"] == "rejected"
    assert reflect.json("review", "approve", "--reason", "derived_origin", check=4)["decided"] == []


def test_who_decides_is_gits_user_unless_another_is_named(reflect: Reflect) -> None:
    reflect("review", "reject", reflect.shop.item(OUTSIDE).id, "--by", "Grace")
    assert reflect.shop.item(OUTSIDE).decided_by == "Grace"


def test_nothing_in_a_claim_steers_the_terminal(reflect: Reflect) -> None:
    evil = "\x1b[2J\u202eno, never trust \x07 the parser in the report module\r\nreflect: all is well"
    assert printable(evil) == "�[2J�no, never trust � the parser in the report module reflect: all is well"


def test_status_says_how_long_the_oldest_question_waits(reflect: Reflect) -> None:
    found = reflect.json("status")
    assert found["review"] == {"pending": len(KINDS)}
    oldest = min(item.created_at for item in reflect.shop.items())
    assert found["review_oldest"]["created_at"].startswith(oldest.isoformat()[:19])
    assert found["review_oldest"]["days"] > 100
    reflect("review", "reject", "--all")
    assert reflect.json("status")["review_oldest"] is None


def test_what_was_refused_stays_refused_in_a_second_run(reflect: Reflect) -> None:
    reflect("review", "reject", "--all")
    (reflect.shop.folder / "wiki" / "log.md").unlink()
    assert night(reflect.shop.workspace).queued == 0
    assert reflect.json("review", "list")["items"] == []


@pytest.mark.parametrize("how", ["option", "variable"])
def test_an_organisation_opens_every_queue(
    reflect: Reflect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """R1 and R2 by an operator's word: each wiki gets what is its own."""
    shop = reflect.shop
    store = GitRepository.create(tmp_path / "store")
    store.commit("feat: shelves", {"store.py": ""})
    file = tmp_path / "organisation.yaml"
    of_shop = f"- {{id: shop, repository: {shop.git.path}, maintainers: [ada@example.com]}}"
    of_store = f"- {{id: store, repository: {store.path}}}"
    file.write_text(f"name: example\nhome: {tmp_path / 'home'}\nprojects:\n{of_shop}\n{of_store}\n")
    options = ("--organisation", str(file)) if how == "option" else ()
    if how == "variable":
        monkeypatch.setenv("REFLECT_ORGANISATION", str(file))
    assert {item["project"] for item in reflect.json("review", "list", *options)["items"]} == {"shop"}
    _, why = reflect("review", "approve", shop.item(STRAYED).id, "--by", "Eve", *options, check=4)
    assert "does not answer for `shop`" in why
    told = reflect.json("review", "approve", shop.item(STRAYED).id, *options)["decided"]
    text = shop.page(told[0]["landed_on"])
    assert_page_written(text, project="shop", scope_source="operator")
    reflect("review", "approve", shop.item(KINDS["rule"]).id, "--widen", "--yes", *options)
    (page,) = (tmp_path / "home" / ".reflect" / "wiki").rglob("*/*.md")
    everyones = page.read_text()
    assert_page_written(everyones, project=None, scope_source="operator")


def test_the_queue_needs_no_orchestrator(queue: Shop) -> None:
    line = command_line_in(queue.settings.state, server=None)
    assert line.json("review", "list", "--repo", queue.git.path)["total"] == len(KINDS)
    script = "import sys, reflect.cli.review; print(sorted({'prefect', 'pandas', 'anthropic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
